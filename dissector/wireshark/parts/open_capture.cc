// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/open_capture.h"

#include <exception>

namespace roce::plugin {

void OpenCapture::begin(const analysis::PauseOptions& pause) noexcept {
  gave_up_ = false;
  analysis_.reset();
  try {
    analysis_ = std::make_unique<CaptureAnalysis>(pause);
  } catch (const std::exception&) {
    gave_up_ = true;
  }
}

void OpenCapture::finish() noexcept {
  if (analysis_ == nullptr) return;
  try {
    analysis_->finish();
  } catch (const std::exception&) {
    analysis_.reset();
    gave_up_ = true;
  }
}

const PacketFacts* OpenCapture::observe(const Packet& packet, const IcrcVerdict& icrc, const Sighting& sighting,
                                        std::uint32_t offset) noexcept {
  if (analysis_ == nullptr) return nullptr;
  if (const PacketFacts* const known = analysis_->find_at(sighting.frame, offset)) return known;
  try {
    const analysis::PacketId id{sighting.frame, analysis_->packets_in(sighting.frame)};
    analysis::Observation seen = observe_packet(packet, icrc, sighting.time, id);
    seen.point = sighting.point;
    seen.is_several |= sighting.hides_others;
    analysis_->observe(seen, offset);
    return analysis_->find(id);
  } catch (const std::exception&) {
    // Incomplete results would be taken for complete ones.
    analysis_.reset();
    gave_up_ = true;
    return nullptr;
  }
}

}  // namespace roce::plugin
