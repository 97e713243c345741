// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/analysis/stream_summary.h"
#include "wireshark/parts/statistic.h"

namespace roce::plugin {

/// `-z roce,srt`: latencies of messages, one row per type. A message lasts from its first packet to the one that
/// completed it, for UC and UD to its last packet. It is counted with the packet that completed it. Percentiles are at
/// most an eighth too high.
class LatencyStatistic final : public Statistic {
 public:
  LatencyStatistic();

  void count(const TappedPacket& packet) override;
  void clear() override;

 private:
  struct Latencies {
    analysis::Histogram histogram;
    std::uint64_t slowest = 0;  ///< frame of the slowest message's first packet
  };

  void add_rows();
  void add(const analysis::Message& message);

  std::array<Latencies, analysis::kMessageTypes> latencies_{};
};

}  // namespace roce::plugin
