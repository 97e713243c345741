// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "plugin/statistic.h"
#include "roce/analysis/stream_summary.h"

namespace roce::plugin {

/// `-z roce,srt`: how long messages took, a row a type. A message lasts from its first packet to what completed it;
/// those of UC and UD to their last packet. It counts when the packet that completed it does.
class LatencyStatistic final : public Statistic {
 public:
  LatencyStatistic();

  void count(const TappedPacket& packet) override;
  void clear() override;

 private:
  struct Latencies {
    std::uint64_t count = 0;
    std::uint64_t sum = 0;  ///< ns, as all of these
    std::uint64_t min = 0;
    std::uint64_t max = 0;
    std::uint64_t slowest = 0;  ///< frame of its first packet
  };

  void add_rows();
  void add(const analysis::Message& message);

  std::array<Latencies, analysis::kMessageTypes> latencies_{};
};

}  // namespace roce::plugin
