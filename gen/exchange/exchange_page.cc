// SPDX-License-Identifier: BSD-2-Clause
// The page of an exchange: what was asked for, what happened, and the counters of both ends.
#include "gen/exchange/exchange_page.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "gen/exchange/exchange_report.h"
#include "page/page.h"
#include "page/run_page.h"
#include "text/human_units.h"

namespace roce::gen {

namespace {

using page::Form;
using page::Tone;
using Json = nlohmann::ordered_json;

std::vector<std::pair<std::string, std::string>> facts_of(const ExchangeOptions& options, const ExchangeEnds& ends) {
  std::vector<std::pair<std::string, std::string>> facts{
      {"Operation", fmt::format("{}{}", name_of(options.kind), options.unreliable ? " (UC)" : "")},
      {"Here", ends.here},
      {"Peer", ends.there},
      {"Queue pairs",
       fmt::format("{}, {} under way on each{}", options.qps, text::counted(options.depth, "request", "requests"),
                   options.cm_port != 0 ? ", connected by RDMA CM" : "")},
      {"Messages", options.seconds > 0 ? fmt::format("for {} s", options.seconds)
                                       : fmt::format("{} on each queue pair", text::count_text(options.count))}};
  if (!options.is_atomic()) {
    facts.emplace_back("Bytes of each", fmt::format("{}", fmt::join(options.sizes.sizes, ", ")));
  }
  if (options.path_mtu != 0) facts.emplace_back("Path MTU", fmt::format("{} bytes", options.path_mtu));
  if (options.rate.bps > 0) facts.emplace_back("Rate", text::bit_rate_text(static_cast<double>(options.rate.bps)));
  if (options.rate.pps > 0)
    facts.emplace_back("Rate", fmt::format("{} packets/s", text::rate_text(static_cast<double>(options.rate.pps))));
  return facts;
}

/// Returns the counters of both ends that any of them has.
page::RunTable counter_table(const ExchangeResult& result) {
  page::RunTable table{"counters",
                       "Counters of both ends",
                       "Of the devices since they were opened. A peer that had other partners has counted them, too.",
                       {{"counter", Form::text}, {"here", Form::count}, {"peer", Form::count}},
                       {}};
  std::map<std::string, Json> theirs;
  if (result.theirs.is_object()) {
    for (const auto& [name, value] : result.theirs.items()) {
      if (value.is_number()) theirs.emplace(name, value);
    }
  }
  const auto add = [&table](const std::string& name, const Json& here, const Json& peer) {
    const auto has = [](const Json& value) { return !value.is_null() && value != 0; };
    if (has(here) || has(peer)) table.rows.push_back(Json::array({name, here, peer}));
  };
  for (const transport::CounterName& name : transport::counter_names()) {
    const auto theirs_of = theirs.extract(std::string{name.name});
    add(std::string{name.name}, result.ours.*name.member, theirs_of.empty() ? Json{} : theirs_of.mapped());
  }
  for (const auto& [name, value] : theirs) add(name, Json{}, value);
  return table;
}

page::RunTable congestion_table(const ExchangeResult& result) {
  page::RunTable table{"congestion",
                       "Congestion control",
                       "At the end, of the queue pairs that have one.",
                       {{"qp", Form::text},
                        {"limited", Form::text},
                        {"rate_bps", Form::bps},
                        {"target_bps", Form::bps},
                        {"alpha", Form::ratio}},
                       {}};
  for (const auto& [qpn, reading] : result.congestion) {
    table.rows.push_back(
        Json::array({fmt::format("{:#x}", qpn.value()), reading.limited ? "yes" : "no", std::llround(reading.rate_bps),
                     std::llround(reading.target_bps), reading.alpha}));
  }
  return table;
}

void judge(page::RunPage& page, const ExchangeResult& result) {
  page.tone = result.stopped || result.lost != 0 ? Tone::warning : Tone::note;
  page.verdict =
      result.stopped ? "stopped before the end; the data were not compared" : "all data were compared and right";
  const double seconds = std::max(result.seconds(), 1e-9);
  page.statements.emplace_back(
      Tone::note, fmt::format("{} with {} in {:.3f} s: {}, {} messages/s",
                              text::counted(result.completed, "message", "messages"), text::bytes_text(result.bytes),
                              result.seconds(), text::bit_rate_text(static_cast<double>(result.bytes) * 8 / seconds),
                              text::rate_text(static_cast<double>(result.completed) / seconds)));
  const transport::Counters& ours = result.ours;
  const auto add = [&page](std::uint64_t count, Tone tone, std::string_view one, std::string_view many) {
    if (count != 0) page.statements.emplace_back(tone, text::counted(count, one, many));
  };
  add(result.lost, Tone::warning, "message was sent and not received", "messages were sent and not received");
  add(ours.retransmitted_packets, Tone::warning, "packet was sent again", "packets were sent again");
  add(ours.timeouts, Tone::warning, "timeout: nothing answered in time", "timeouts: nothing answered in time");
  add(ours.sequence_naks_received, Tone::warning, "NAK came: the peer missed a packet",
      "NAKs came: the peer missed packets");
  add(ours.rnr_naks_received, Tone::warning, "RNR NAK came: the peer was not ready",
      "RNR NAKs came: the peer was not ready");
  add(ours.cnps_handled, Tone::note, "CNP came: the network was congested", "CNPs came: the network was congested");
}

}  // namespace

std::string exchange_page(const ExchangeOptions& options, const ExchangeEnds& ends, const ExchangeResult& result) {
  page::RunPage page;
  page.program = "roce-gen " ROCE_VERSION;
  page.title = fmt::format("roce-gen {} {}", name_of(options.kind), ends.there);
  judge(page, result);
  page.facts = facts_of(options, ends);
  page.kind = "operation";
  page.what = "messages";
  page::RunTimes times{std::string{name_of(options.kind)}, result.latency.count(), {}};
  for (const double share : page::time_shares()) times.ns.push_back(latency_at(result.latency, share).count());
  page.times.push_back(std::move(times));
  page.tables = {counter_table(result), congestion_table(result)};
  return page::make_page(page::Kind::run, page::run_json(page, nullptr, {}, ""));
}

}  // namespace roce::gen
