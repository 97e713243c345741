// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "conform/run/case_run.h"
#include "conform/target/target.h"

namespace roce::conform {

/// The behaviour of the wire to a device, as WRITEs that are right in every way showed it.
struct Noise {
  std::uint32_t probes = 0;      ///< WRITEs, one after the other
  std::uint32_t lost = 0;        ///< of these, those that were lost, or their acknowledgement was
  std::uint32_t pairs = 0;       ///< pairs of WRITEs, one directly behind the other
  std::uint32_t reordered = 0;   ///< pairs of which the second overtook the first, or their acknowledgements did so
  std::uint32_t duplicated = 0;  ///< acknowledgements that came once more
  Duration median{};             ///< of the time from a WRITE to its acknowledgement
  Duration slowest{};            ///< below which 99.9 % of these times are

  /// Returns the share of frames that are lost in each direction, 0 … 1: one probe is two frames.
  [[nodiscard]] double loss() const;
  [[nodiscard]] Duration jitter() const { return slowest - median; }
};

/// Returns `1000 probes: round trip 0.081 ms (99.9 %: 0.210 ms), 0 lost, 0 duplicated, 0 of 100 reordered`.
[[nodiscard]] std::string to_string(const Noise& noise);

/// Measures the wire by `probes` WRITEs to a QP of its own, for at most a second and a half. Error: the device refuses
/// the QP, or answers none of the first ten. Throws DeviceGone.
[[nodiscard]] TargetResult<Noise> measure_noise(Target& target, std::uint32_t probes);

/// Makes times wide enough for this wire: the jitter comes on top of what a frame may come too early or too late, and
/// silence lasts at least five times the slowest round trip.
void widen(Timing& timing, const Noise& noise);

}  // namespace roce::conform
