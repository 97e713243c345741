// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/stream_statistic.h"

#include <algorithm>
#include <array>

#include "wireshark/parts/text.h"

namespace roce::plugin {

namespace {

using analysis::VerdictKind;

enum Column : std::size_t {
  kStream,
  kFrom,
  kTo,
  kPackets,
  kBytes,
  kInFlight,
  kSentAgain,
  kLost,
  kNaks,
  kBaseRoundTrip,
  kMedian,
  kPercentile99,
};

constexpr std::array kColumns{TextColumn{"Stream", 6, true},
                              TextColumn{"From", 24},
                              TextColumn{"To", 24},
                              TextColumn{"Packets", 10, true},
                              TextColumn{"Bytes", 12, true},
                              TextColumn{"In flight", 9, true},
                              TextColumn{"Sent again", 10, true},
                              TextColumn{"Lost", 6, true},
                              TextColumn{"NAKs", 6, true},
                              TextColumn{"Base RTT [us]", 13, true},
                              TextColumn{"Latency 50 % [us]", 18, true},
                              TextColumn{"Latency 99 % [us]", 18, true}};

bool is_nak(VerdictKind kind) {
  return (kind >= VerdictKind::nak_sequence_error && kind <= VerdictKind::nak_invalid_rd_request) ||
         kind == VerdictKind::rnr_nak;
}

}  // namespace

StreamStatistic::StreamStatistic() : Statistic(kColumns) {}

void StreamStatistic::clear() {
  Statistic::clear();
  directions_.clear();
}

StreamStatistic::Direction& StreamStatistic::direction(const CaptureAnalysis& analysis, std::uint32_t stream,
                                                       std::uint8_t number) {
  const auto [place, is_new] = directions_.try_emplace({stream, number});
  Direction& direction = place->second;
  if (is_new) {
    direction.row = rows_.add();
    rows_.set(direction.row, kStream, std::uint64_t{stream});
    for (const std::size_t column : {kPackets, kBytes, kSentAgain, kLost, kNaks}) {
      rows_.set(direction.row, column, std::uint64_t{0});
    }
    for (const std::size_t column : {kInFlight, kBaseRoundTrip, kMedian, kPercentile99}) {
      rows_.set(direction.row, column, "-");
    }
  }
  if (!direction.is_named) {
    const StreamEnd from = analysis.end_of(stream, number);
    const StreamEnd to = analysis.end_of(stream, static_cast<std::uint8_t>(1U - number));
    rows_.set(direction.row, kFrom, end_text(from.address, from.qpn).c_str());
    rows_.set(direction.row, kTo, end_text(to.address, to.qpn).c_str());
    direction.is_named = from.qpn && to.qpn;
  }
  return direction;
}

void StreamStatistic::count(const TappedPacket& packet) {
  if (packet.facts == nullptr || packet.facts->stream == analysis::kNoStream) return;
  const PacketFacts& facts = *packet.facts;
  Direction& from = direction(*packet.analysis, facts.stream, facts.direction);
  rows_.set(from.row, kPackets, ++from.packets);
  from.bytes += packet.observation.wire_length;
  rows_.set(from.row, kBytes, from.bytes);
  const RequestWindows::Window* const window = packet.analysis->window_of({facts.stream, facts.direction});
  if (window != nullptr && window->is_answered) {
    rows_.set(from.row, kInFlight, std::uint64_t{window->most});
    if (window->base_round_trip != Duration{}) {
      rows_.set_microseconds(from.row, kBaseRoundTrip, static_cast<std::uint64_t>(window->base_round_trip.count()));
    }
  }
  count_verdicts(packet);
  for (const analysis::Message& message : packet.analysis->messages_ended_by(facts)) {
    add_message(*packet.analysis, message);
  }
}

void StreamStatistic::count_verdicts(const TappedPacket& packet) {
  const PacketFacts& facts = *packet.facts;
  for (std::uint32_t i = facts.verdicts; i != 0; i = packet.analysis->verdict(i).next) {
    const analysis::Verdict& verdict = packet.analysis->verdict(i).verdict;
    // A NAK counts for the end that gets it. A request may reveal that a response is missing.
    const bool is_of_other = is_nak(verdict.kind) || (verdict.kind == VerdictKind::response_lost_before &&
                                                      facts.role == analysis::PacketRole::request);
    const auto number = static_cast<std::uint8_t>(is_of_other ? 1U - facts.direction : facts.direction);
    Direction& of = direction(*packet.analysis, facts.stream, number);
    if (is_nak(verdict.kind)) rows_.set(of.row, kNaks, ++of.naks);
    if (verdict.kind == VerdictKind::retransmission) rows_.set(of.row, kSentAgain, ++of.sent_again);
    if (verdict.lost_packets == 0) continue;
    of.lost += verdict.lost_packets;
    rows_.set(of.row, kLost, of.lost);
  }
}

void StreamStatistic::add_message(const CaptureAnalysis& analysis, const analysis::Message& message) {
  if (!message.is_completed() || !message.start_seen) return;
  Direction& of = direction(analysis, message.stream, message.direction);
  of.latency.add(std::max(message.latency(), Duration{}));
  const auto set = [&](std::size_t column, double fraction) {
    rows_.set_microseconds(of.row, column, static_cast<std::uint64_t>(of.latency.quantile(fraction).count()));
  };
  set(kMedian, 0.5);
  set(kPercentile99, 0.99);
}

}  // namespace roce::plugin
