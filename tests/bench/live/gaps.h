// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "bare/packet_socket.h"
#include "live/runs.h"

namespace roce::bench {

[[nodiscard]] inline double median(std::vector<double> values) {
  if (values.empty()) throw std::runtime_error("nothing was measured");
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Records when each of `packets` packets arrived, by the kernel's clock.
class GapMeter {
 public:
  explicit GapMeter(std::uint64_t packets) : packets_(packets) { times_.reserve(packets); }

  void listen(bare::PacketSocket& socket, const std::atomic<bool>& stop) {
    while (times_.size() < packets_ && !stop.load(std::memory_order_relaxed)) {
      const bare::PacketSocket::Received frame = socket.receive();
      if (frame.bytes == nullptr) continue;
      times_.push_back(frame.timestamp_ns);
      socket.release();
    }
    seen_ = true;
  }
  /// Waits in the other thread until all packets were seen. Throws std::runtime_error after two seconds.
  void wait_for_all() const {
    const auto start = std::chrono::steady_clock::now();
    while (!seen_) {
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds{2}) {
        throw std::runtime_error("packets were lost on the way");
      }
    }
  }
  [[nodiscard]] Pace pace(std::uint64_t packets_per_second) const {
    const double planned = 1e9 / static_cast<double>(packets_per_second);
    std::vector<double> errors;
    for (std::size_t i = 1; i < times_.size(); ++i) {
      errors.push_back(std::abs(static_cast<double>(times_[i] - times_[i - 1]) - planned));
    }
    const double all = planned * static_cast<double>(times_.size() - 1);
    return {median(std::move(errors)), (static_cast<double>(times_.back() - times_.front()) - all) / all};
  }

 private:
  std::uint64_t packets_;
  std::vector<std::int64_t> times_;
  std::atomic<bool> seen_{false};
};

}  // namespace roce::bench
