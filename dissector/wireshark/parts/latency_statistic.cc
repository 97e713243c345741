// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/latency_statistic.h"

#include <algorithm>

namespace roce::plugin {

namespace {

constexpr std::array kColumns{
    TextColumn{"Operation", 14},       TextColumn{"Messages", 10, true},  TextColumn{"Min [us]", 14, true},
    TextColumn{"Mean [us]", 14, true}, TextColumn{"50 % [us]", 14, true}, TextColumn{"90 % [us]", 14, true},
    TextColumn{"99 % [us]", 14, true}, TextColumn{"Max [us]", 14, true},  TextColumn{"Slowest from frame", 18, true}};

}  // namespace

LatencyStatistic::LatencyStatistic() : Statistic(kColumns) {
  add_rows();
}

void LatencyStatistic::clear() {
  Statistic::clear();
  latencies_ = {};
  add_rows();
}

void LatencyStatistic::add_rows() {
  for (std::size_t type = 0; type < analysis::kMessageTypes; ++type) {
    const std::size_t row = rows_.add();
    rows_.set(row, 0, to_string(static_cast<analysis::MessageType>(type)));
    rows_.set(row, 1, std::uint64_t{0});
    for (std::size_t column = 2; column < kColumns.size(); ++column) rows_.set(row, column, "-");
  }
}

void LatencyStatistic::count(const TappedPacket& packet) {
  if (packet.facts == nullptr) return;
  for (const analysis::Message& message : packet.analysis->messages_ended_by(*packet.facts)) add(message);
}

void LatencyStatistic::add(const analysis::Message& message) {
  if (!message.is_completed() || !message.start_seen) return;
  const auto row = static_cast<std::size_t>(message.type);
  Latencies& known = latencies_[row];
  // The clock of the capture may have been set back in between.
  const Duration latency = std::max(message.latency(), Duration{});
  if (known.histogram.count() == 0 || latency > known.histogram.max()) known.slowest = message.first.frame;
  known.histogram.add(latency);
  rows_.set(row, 1, known.histogram.count());
  const auto set = [&](std::size_t column, Duration value) {
    rows_.set_microseconds(row, column, static_cast<std::uint64_t>(value.count()));
  };
  set(2, known.histogram.min());
  set(3, known.histogram.mean());
  set(4, known.histogram.quantile(0.5));
  set(5, known.histogram.quantile(0.9));
  set(6, known.histogram.quantile(0.99));
  set(7, known.histogram.max());
  rows_.set(row, 8, known.slowest);
}

}  // namespace roce::plugin
