// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/analysis/observation.h"
#include "roce/wire/icrc.h"
#include "wireshark/parts/capture_analysis.h"

namespace roce::plugin {

/// A packet as statistics see it.
struct TappedPacket {
  const analysis::Observation& observation;
  IcrcStatus icrc = IcrcStatus::not_checked;
  const CaptureAnalysis* analysis = nullptr;  ///< null: there is no analysis
  const PacketFacts* facts = nullptr;         ///< null: the packet is not analysed
  bool has_hindsight = false;  ///< the capture was read to its end before, so what later packets reveal is known
};

}  // namespace roce::plugin
