// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/latency_statistic.h"

#include <algorithm>

namespace roce::plugin {

namespace {

constexpr std::array kColumns{TextColumn{"Operation", 14},      TextColumn{"Messages", 10, true},
                              TextColumn{"Min [us]", 14, true}, TextColumn{"Mean [us]", 14, true},
                              TextColumn{"Max [us]", 14, true}, TextColumn{"Slowest from frame", 18, true}};

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
  const bool is_done = message.end == analysis::MessageEnd::acknowledged || message.end == analysis::MessageEnd::sent;
  if (!is_done || !message.start_seen) return;
  // The clock of the capture may have been set back in between.
  const auto latency = static_cast<std::uint64_t>(std::max(message.latency(), Duration{}).count());
  const auto row = static_cast<std::size_t>(message.type);
  Latencies& known = latencies_[row];
  if (known.count == 0 || latency < known.min) known.min = latency;
  if (known.count == 0 || latency > known.max) {
    known.max = latency;
    known.slowest = message.first.frame;
  }
  ++known.count;
  known.sum += latency;
  rows_.set(row, 1, known.count);
  rows_.set_microseconds(row, 2, known.min);
  rows_.set_microseconds(row, 3, known.sum / known.count);
  rows_.set_microseconds(row, 4, known.max);
  rows_.set(row, 5, known.slowest);
}

}  // namespace roce::plugin
