// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>

#include "roce/wire/time.h"
#include "wireshark/parts/capture_analysis.h"
#include "wireshark/parts/dissect.h"

namespace roce::plugin {

/// Everything that the plugin remembers about the open capture. No member throws.
class OpenCapture {
 public:
  /// Forgets the previous capture and starts a new analysis.
  void begin(const analysis::PauseOptions& pause) noexcept;
  /// Ends the first pass.
  void finish() noexcept;
  /// Forgets everything.
  void end() noexcept { analysis_.reset(); }

  /// The circumstances of a frame that its bytes do not show.
  struct Sighting {
    std::uint64_t frame = 0;  ///< number of the frame
    Time time{};
    std::uint16_t point = 0;    ///< capture point: `analysis::Observation::point`
    bool hides_others = false;  ///< `analysis::Observation::is_several`, as far as the packet itself does not show it
  };

  /// Takes a packet of the first pass, which begins at byte `offset` of its frame, and returns what is known about it;
  /// null if it is not analysed.
  const PacketFacts* observe(const Packet& packet, const IcrcVerdict& icrc, const Sighting& sighting,
                             std::uint32_t offset) noexcept;
  /// Returns what is known about a packet that was taken before, or null.
  [[nodiscard]] const PacketFacts* find(std::uint64_t frame, std::uint32_t offset) const noexcept {
    return analysis_ != nullptr ? analysis_->find_at(frame, offset) : nullptr;
  }

  [[nodiscard]] const CaptureAnalysis* analysis() const { return analysis_.get(); }
  /// True if memory ran out: what was known about the packets so far is gone.
  [[nodiscard]] bool gave_up() const { return gave_up_; }

 private:
  std::unique_ptr<CaptureAnalysis> analysis_;
  bool gave_up_ = false;
};

}  // namespace roce::plugin
