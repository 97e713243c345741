// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/host_statistic.h"

#include <optional>
#include <string>

namespace roce::plugin {

namespace {

using analysis::VerdictKind;
using Counter = HostStatistic::Counter;

constexpr std::array kColumns{TextColumn{"Host", 26}, TextColumn{"Counter", 28}, TextColumn{"Sent", 15, true},
                              TextColumn{"Received", 15, true}};

constexpr std::array<std::string_view, static_cast<std::size_t>(Counter::count)> kNames{"Packets",
                                                                                        "Bytes",
                                                                                        "Out of sequence (PSN gap)",
                                                                                        "Out of order",
                                                                                        "Retransmissions",
                                                                                        "Duplicates",
                                                                                        "Repeated responses",
                                                                                        "NAK PSN sequence error",
                                                                                        "NAK invalid request",
                                                                                        "NAK remote access error",
                                                                                        "NAK remote operational error",
                                                                                        "NAK invalid RD request",
                                                                                        "RNR NAK",
                                                                                        "Implied NAK",
                                                                                        "Duplicate ACK",
                                                                                        "ICRC errors",
                                                                                        "CE marks",
                                                                                        "CNPs",
                                                                                        "Lost",
                                                                                        "Never answered"};

std::optional<Counter> counter_of(VerdictKind kind) {
  switch (kind) {
    case VerdictKind::gap:
    case VerdictKind::response_gap:
      return Counter::gaps;
    case VerdictKind::out_of_order:
    case VerdictKind::response_out_of_order:
      return Counter::out_of_order;
    case VerdictKind::retransmission:
      return Counter::retransmissions;
    case VerdictKind::duplicate:
      return Counter::duplicates;
    case VerdictKind::response_repeated:
      return Counter::repeated_responses;
    case VerdictKind::nak_sequence_error:
      return Counter::sequence_naks;
    case VerdictKind::nak_invalid_request:
      return Counter::invalid_request_naks;
    case VerdictKind::nak_remote_access_error:
      return Counter::access_naks;
    case VerdictKind::nak_remote_operational_error:
      return Counter::operational_naks;
    case VerdictKind::nak_invalid_rd_request:
      return Counter::rd_naks;
    case VerdictKind::rnr_nak:
      return Counter::rnr_naks;
    case VerdictKind::implied_nak:
      return Counter::implied_naks;
    case VerdictKind::duplicate_ack:
      return Counter::duplicate_acks;
    case VerdictKind::request_lost_after:
    case VerdictKind::request_lost_before:
    case VerdictKind::response_lost_after:
    case VerdictKind::response_lost_before:
    case VerdictKind::lost_beyond:
      return Counter::lost;
    case VerdictKind::no_answer:
      return Counter::unconfirmed;
    default:
      return std::nullopt;
  }
}

}  // namespace

HostStatistic::HostStatistic() : Statistic(kColumns) {}

void HostStatistic::clear() {
  Statistic::clear();
  hosts_.clear();
  by_address_.clear();
}

std::size_t HostStatistic::host(const Gid& address) {
  if (const auto known = by_address_.find(address); known != by_address_.end()) return known->second;
  const std::string name = to_string(address);
  Host fresh;
  fresh.first_row = rows_.size();
  for (const std::string_view counter : kNames) {
    const std::size_t row = rows_.add();
    rows_.set(row, 0, name);
    rows_.set(row, 1, counter);
    rows_.set(row, 2, std::uint64_t{0});
    rows_.set(row, 3, std::uint64_t{0});
  }
  hosts_.push_back(fresh);
  by_address_.emplace(address, hosts_.size() - 1);
  return hosts_.size() - 1;
}

void HostStatistic::add(std::size_t host, Counter counter, bool is_received, std::uint64_t count) {
  Host& of = hosts_[host];
  const auto row = static_cast<std::size_t>(counter);
  std::uint64_t& total = of.counts[row][is_received ? 1 : 0];
  total += count;
  rows_.set(of.first_row + row, is_received ? 3 : 2, total);
}

void HostStatistic::add_both(std::size_t from, std::size_t to, Counter counter, std::uint64_t count) {
  add(from, counter, false, count);
  add(to, counter, true, count);
}

void HostStatistic::count(const TappedPacket& packet) {
  const analysis::Observation& seen = packet.observation;
  if (seen.kind != PacketKind::roce) return;
  const std::size_t from = host(seen.source);
  const std::size_t to = host(seen.destination);
  add_both(from, to, Counter::packets);
  add_both(from, to, Counter::bytes, seen.wire_length);
  if (packet.icrc == IcrcStatus::bad) return add_both(from, to, Counter::icrc_errors);
  if (seen.is_ce()) add_both(from, to, Counter::ce_marks);
  if (seen.info().operation == Operation::cnp) add_both(from, to, Counter::cnps);
  if (packet.facts == nullptr) return;
  for (std::uint32_t i = packet.facts->verdicts; i != 0; i = packet.analysis->verdict(i).next) {
    const analysis::Verdict& verdict = packet.analysis->verdict(i).verdict;
    const std::optional<Counter> counter = counter_of(verdict.kind);
    if (!counter) continue;
    const std::uint64_t times = *counter == Counter::lost ? verdict.lost_packets : 1;
    // A request may reveal that a response is missing, which was going in the other direction.
    const bool is_of_other =
        verdict.kind == VerdictKind::response_lost_before && packet.facts->role == analysis::PacketRole::request;
    if (is_of_other) {
      add_both(to, from, *counter, times);
    } else {
      add_both(from, to, *counter, times);
    }
  }
}

}  // namespace roce::plugin
