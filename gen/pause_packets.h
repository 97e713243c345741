// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gen/failure.h"
#include "gen/frame_source.h"
#include "roce/wire/time.h"

namespace roce::gen {

/// What PFC or PAUSE frames say.
struct PauseWish {
  bool pfc = true;                                     ///< else PAUSE, which stops all priorities
  std::array<std::optional<std::string>, 8> quanta{};  ///< of PFC: value or rule of each priority that is enabled
  std::string all_quanta = "65535";                    ///< of PAUSE
  std::string source{};                                ///< Ethernet address; empty: zeros, or what is filled in later
};

/// Reads `3`, `3,4=100`, `all`, `0-2=0..65535+1000`: priorities with the quanta of each, `usual` where none stand
/// there. Failure: what was expected.
[[nodiscard]] Outcome<std::array<std::optional<std::string>, 8>> read_priorities(const std::string& text,
                                                                                 const std::string& usual);

/// The frame that pauses. Failure: quanta that are neither a number of 0 … 65535 nor a rule.
[[nodiscard]] Outcome<VaryingPacket> pause_packet(const PauseWish& wish);
/// The frame that resumes what the other one paused.
[[nodiscard]] Outcome<VaryingPacket> resume_packet(const PauseWish& wish);

/// The shortest pause, above 0, that a wish asks for at this speed of the wire; none if it asks for no pause at all.
[[nodiscard]] std::optional<Duration> shortest_pause(const VaryingPacket& packet, std::uint64_t bits_per_second);

}  // namespace roce::gen
