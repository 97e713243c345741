// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>

#include "roce/impair/engine.h"
#include "roce/wire/time.h"
#include "sim/frame_tools.h"

namespace roce::sim {

/// A link, or one direction of it. A frame waits in the queue until the link is free, takes the time of its bytes at
/// the link's rate, passes the fault rules, and arrives after the delay.
struct LinkConfig {
  Duration delay = std::chrono::microseconds{1};
  std::uint64_t rate_bps = 0;           ///< bits a second with preamble, FCS and gap (24 bytes); 0: without limit
  std::size_t queue_limit_bytes = 0;    ///< a frame that would exceed it is dropped; 0: without limit
  std::size_t ecn_threshold_bytes = 0;  ///< an ECN-capable frame is marked if it finds this much waiting; 0: never
  std::string impair{};                 ///< fault rules in their text form; `a` is the end that `connect` names first
  impair::RuleSet rules{};              ///< fault rules, used if `impair` is empty
  std::uint64_t impair_seed = 0;        ///< 0: derived from the network's seed
};

/// Counters of one direction of a link.
struct LinkStats {
  std::uint64_t frames = 0;
  std::uint64_t bytes = 0;
  std::uint64_t dropped = 0;  ///< because the queue was full
  std::uint64_t marked = 0;
  std::size_t longest_queue_bytes = 0;
};

/// The queue and the transmitter of one direction of a link; it does not keep time itself.
class LinkQueue {
 public:
  explicit LinkQueue(const LinkConfig& config) : config_(config) {}

  /// Puts a frame at the end, or drops it. True if the transmitter was idle and has to be started.
  bool push(Frame frame);
  /// Returns how long the first frame takes; only valid while there is one.
  [[nodiscard]] Duration transmission_time() const;
  /// Takes out the first frame; to be called when its time is over.
  [[nodiscard]] Frame pop();
  [[nodiscard]] bool empty() const { return queue_.empty(); }

  [[nodiscard]] const LinkStats& stats() const { return stats_; }
  [[nodiscard]] Duration delay() const { return config_.delay; }

 private:
  LinkConfig config_;
  std::deque<Frame> queue_;
  std::size_t queued_bytes_ = 0;
  LinkStats stats_;
};

}  // namespace roce::sim
