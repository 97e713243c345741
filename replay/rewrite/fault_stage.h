// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "replay/rewrite/rewriter.h"
#include "roce/impair/engine.h"
#include "roce/link/capture_record.h"

namespace roce::replay {

/// Applies rules of the impair engine to the packets of a capture, at the times of the capture. The sender of the first
/// RoCE packet is side a, everybody else side b. Pure: packets in, packets out.
class FaultStage {
 public:
  /// `side` is the one that `submit` was given with the packet.
  using Use = std::function<void(const link::CaptureRecord& record, std::uint8_t side)>;

  FaultStage(impair::RuleSet rules, std::uint64_t seed, LinkType link_type)
      : engine_(std::move(rules), seed, impair::Limits{}, link_type), link_type_(link_type) {}

  /// Takes a packet and calls `use` with those that are due by its time, with the times at which they became due.
  /// `side` stays with the packet. False: the packet is longer than the engine takes, and was not used.
  [[nodiscard]] bool submit(const link::CaptureRecord& record, std::uint8_t side, const Use& use);
  /// Calls `use` with all packets that are still inside, at their times.
  void drain(const Use& use);

  [[nodiscard]] const impair::Stats& stats() const { return engine_.stats(); }

 private:
  /// The parts of a packet that the engine does not keep.
  struct Kept {
    link::CaptureRecord record;
    std::string comment;
    std::uint8_t side = 0;
  };

  void poll(Time now, const Use& use);

  impair::Engine engine_;
  LinkType link_type_;
  std::optional<Gid> side_a_;
  std::map<std::uint64_t, Kept> kept_;  ///< by their number in the engine
  std::uint64_t submitted_ = 0;
  std::uint64_t last_polled_ = 0;
  Time now_{};
};

}  // namespace roce::replay
