// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "gen/frames/frame_source.h"
#include "roce/wire/time.h"

namespace roce::gen {

/// The contents of PFC or PAUSE frames.
struct PauseWish {
  bool pfc = true;                                     ///< false: PAUSE, which stops all priorities
  std::array<std::optional<std::string>, 8> quanta{};  ///< for PFC: value or rule of each enabled priority
  std::string all_quanta = "65535";                    ///< for PAUSE: value or rule
  std::string source{};                                ///< Ethernet address; empty: zeros, or filled in later
};

/// Parses `3`, `3,4=100`, `all`, `0-2=0..65535+1000`: priorities with the quanta of each, or `usual` for those without.
/// Failure: any other text, or a priority twice.
[[nodiscard]] Outcome<std::array<std::optional<std::string>, 8>> read_priorities(const std::string& text,
                                                                                 const std::string& usual);

/// Returns the frame that pauses. Failure: quanta that are neither a number of 0 … 65535 nor a rule.
[[nodiscard]] Outcome<VaryingPacket> pause_packet(const PauseWish& wish);
/// Returns the frame that resumes what the other one paused.
[[nodiscard]] Outcome<VaryingPacket> resume_packet(const PauseWish& wish);

/// Returns the shortest pause above 0 that a packet asks for at this speed of the wire; nullopt if it asks for none.
[[nodiscard]] std::optional<Duration> shortest_pause(const VaryingPacket& packet, std::uint64_t bits_per_second);

}  // namespace roce::gen
