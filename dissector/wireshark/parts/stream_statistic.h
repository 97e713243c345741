// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "roce/analysis/histogram.h"
#include "wireshark/parts/statistic.h"

namespace roce::plugin {

/// `-z roce,streams`: a row for each direction of each stream, in the order in which they were first seen: what one end
/// sent, what of it was lost, and how long its messages took.
class StreamStatistic final : public Statistic {
 public:
  StreamStatistic();

  void count(const TappedPacket& packet) override;
  void clear() override;

 private:
  struct Direction {
    std::size_t row = 0;
    std::uint64_t packets = 0;
    std::uint64_t bytes = 0;
    std::uint64_t sent_again = 0;
    std::uint64_t lost = 0;
    std::uint64_t naks = 0;  ///< that this end received
    analysis::Histogram latency;
    bool is_named = false;  ///< the QP numbers of both ends are shown
  };

  Direction& direction(const CaptureAnalysis& analysis, std::uint32_t stream, std::uint8_t direction);
  void count_verdicts(const TappedPacket& packet);
  void add_message(const CaptureAnalysis& analysis, const analysis::Message& message);

  std::map<std::pair<std::uint32_t, std::uint8_t>, Direction> directions_;
};

}  // namespace roce::plugin
