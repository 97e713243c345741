// SPDX-License-Identifier: BSD-2-Clause
#include "sim/link.h"

#include <algorithm>
#include <utility>

namespace roce::sim {

bool LinkQueue::push(Frame frame) {
  if (config_.queue_limit_bytes != 0 && queued_bytes_ + frame.size() > config_.queue_limit_bytes) {
    ++stats_.dropped;
    return false;
  }
  if (config_.ecn_threshold_bytes != 0 && queued_bytes_ >= config_.ecn_threshold_bytes && mark_congestion(frame)) {
    ++stats_.marked;
  }
  queued_bytes_ += frame.size();
  stats_.longest_queue_bytes = std::max(stats_.longest_queue_bytes, queued_bytes_);
  queue_.push_back(std::move(frame));
  return queue_.size() == 1;
}

Duration LinkQueue::transmission_time() const {
  if (config_.rate_bps == 0) return Duration{0};
  constexpr std::uint64_t preamble_fcs_and_gap = 24;
  constexpr std::uint64_t shortest_frame = 60;
  const std::uint64_t bits =
      (std::max<std::uint64_t>(queue_.front().size(), shortest_frame) + preamble_fcs_and_gap) * 8;
  return Duration{static_cast<Duration::rep>((bits * 1'000'000'000U + config_.rate_bps - 1) / config_.rate_bps)};
}

Frame LinkQueue::pop() {
  Frame frame = std::move(queue_.front());
  queue_.pop_front();
  queued_bytes_ -= frame.size();
  ++stats_.frames;
  stats_.bytes += frame.size();
  return frame;
}

}  // namespace roce::sim
