// SPDX-License-Identifier: BSD-2-Clause
#include "gen/exchange/exchange_report.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "roce/live/congestion_report.h"

namespace roce::gen {

namespace {

struct Percentile {
  std::string_view name;
  double share;
};
constexpr std::array kPercentiles{Percentile{"min", 0},    Percentile{"p50", 0.5},     Percentile{"p90", 0.9},
                                  Percentile{"p99", 0.99}, Percentile{"p99.9", 0.999}, Percentile{"max", 1}};
constexpr int kBarWidth = 40;

[[nodiscard]] double microseconds(Duration duration) {
  return std::chrono::duration<double, std::micro>(duration).count();
}

void print_json(const ExchangeOptions& options, const ExchangeResult& result) {
  nlohmann::ordered_json line{{"event", "exchange"}, {"kind", name_of(options.kind)}, {"ok", !result.stopped},
                              {"qps", options.qps},  {"messages", result.completed},  {"bytes", result.bytes},
                              {"lost", result.lost}, {"seconds", result.seconds()}};
  const double seconds = std::max(result.seconds(), 1e-9);
  line["messages_per_second"] = static_cast<double>(result.completed) / seconds;
  line["goodput_bps"] = static_cast<double>(result.bytes) * 8 / seconds;
  for (const Percentile& percentile : kPercentiles) {
    line["latency_us"][std::string{percentile.name}] = microseconds(latency_at(result.latency, percentile.share));
  }
  for (const runtime::LatencyHistogram::Bucket& bucket : result.latency.by_powers_of_two()) {
    line["histogram"].push_back(
        {{"from_us", microseconds(bucket.from)}, {"to_us", microseconds(bucket.to)}, {"count", bucket.count}});
  }
  for (const transport::CounterName& name : transport::counter_names()) {
    line["counters"][std::string{name.name}] = result.ours.*name.member;
  }
  line["peer_counters"] = result.theirs;
  for (const auto& [qpn, reading] : result.congestion) {
    nlohmann::ordered_json state{{"qp", qpn.value()}};
    state.update(live::to_json(reading));
    line["congestion"].push_back(std::move(state));
  }
  fmt::print("{}\n", line.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

void print_histogram(const runtime::LatencyHistogram& latency) {
  const std::vector<runtime::LatencyHistogram::Bucket> buckets = latency.by_powers_of_two();
  std::uint64_t largest = 1;
  for (const runtime::LatencyHistogram::Bucket& bucket : buckets) largest = std::max(largest, bucket.count);
  for (const runtime::LatencyHistogram::Bucket& bucket : buckets) {
    const auto width = static_cast<int>(static_cast<double>(bucket.count) * kBarWidth / static_cast<double>(largest));
    std::string bar;
    for (int i = 0; i < width; ++i) bar += "█";
    if (bar.empty() && bucket.count != 0) bar = "▏";
    fmt::print("  {:>10.1f} us  {:>10}  {}\n", microseconds(bucket.from), bucket.count, bar);
  }
}

}  // namespace

std::string_view name_of(ExchangeKind kind) {
  switch (kind) {
    case ExchangeKind::send:
      return "send";
    case ExchangeKind::write:
      return "write";
    case ExchangeKind::read:
      return "read";
    case ExchangeKind::fetch_add:
      return "fetch_add";
    case ExchangeKind::compare_swap:
      return "compare_swap";
    case ExchangeKind::flush:
      return "flush";
    case ExchangeKind::datagram:
      return "ud";
  }
  return "";
}

Duration latency_at(const runtime::LatencyHistogram& latency, double share) {
  if (latency.count() == 0) return Duration{0};
  return share == 0 ? latency.min() : latency.percentile(share);
}

void print_exchange(const ExchangeOptions& options, const ExchangeResult& result, bool json) {
  if (json) {
    print_json(options, result);
    std::fflush(stdout);
    return;
  }
  const double seconds = std::max(result.seconds(), 1e-9);
  const transport::Counters& ours = result.ours;
  fmt::print("{:<12} {:>10} {:>12} {:>9} {:>12} {:>10}\n", "operation", "messages", "bytes", "seconds", "messages/s",
             "Gbit/s");
  fmt::print("{:<12} {:>10} {:>12} {:>9.3f} {:>12.0f} {:>10.3f}\n\n", name_of(options.kind), result.completed,
             result.bytes, result.seconds(), static_cast<double>(result.completed) / seconds,
             static_cast<double>(result.bytes) * 8e-9 / seconds);
  fmt::print("{:<12}", "latency/us");
  for (const Percentile& percentile : kPercentiles) fmt::print(" {:>9}", percentile.name);
  fmt::print("\n{:<12}", "");
  for (const Percentile& percentile : kPercentiles) {
    fmt::print(" {:>9.1f}", microseconds(latency_at(result.latency, percentile.share)));
  }
  fmt::print("\n");
  print_histogram(result.latency);
  fmt::print("\nretransmitted packets {}, timeouts {}, NAKs {}, RNR NAKs {}, CNPs {}, lost {}\n",
             ours.retransmitted_packets, ours.timeouts, ours.sequence_naks_received, ours.rnr_naks_received,
             ours.cnps_handled, result.lost);
  fmt::print("{}\n",
             result.stopped ? "stopped before the end; the data were not compared" : "all data compared and right");
}

}  // namespace roce::gen
