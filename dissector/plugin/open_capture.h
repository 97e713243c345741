// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "plugin/capture_analysis.h"
#include "plugin/dissect.h"
#include "roce/wire/time.h"

namespace roce::plugin {

/// What the plugin remembers of the capture that is open. No member throws.
class OpenCapture {
 public:
  /// Forgets the capture before and begins anew.
  void begin(const analysis::PauseOptions& pause) noexcept;
  /// The end of the first pass.
  void finish() noexcept;
  /// Forgets everything.
  void end() noexcept { analysis_.reset(); }

  /// Takes a packet of the first pass, which begins at byte `offset` of its frame, and says what is known of it. Null:
  /// it is not analysed.
  const PacketFacts* observe(const Packet& packet, const IcrcVerdict& icrc, std::uint64_t frame, std::uint32_t offset,
                             Time time) noexcept;
  /// What is known of a packet that was taken before, or null.
  [[nodiscard]] const PacketFacts* find(std::uint64_t frame, std::uint32_t offset) const noexcept {
    return analysis_ != nullptr ? analysis_->find_at(frame, offset) : nullptr;
  }

  [[nodiscard]] const CaptureAnalysis* analysis() const { return analysis_.get(); }
  /// There was no memory for all of it: what is known of the packets so far is gone.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  std::unique_ptr<CaptureAnalysis> analysis_;
  bool gave_up_ = false;
};

}  // namespace roce::plugin
