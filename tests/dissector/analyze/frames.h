// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "support/vectors.h"

namespace roce::analyze::test {

/// 802.1Qbb priority flow control: priority 3 pauses for 65535 quanta, priority 4 resumes.
inline constexpr std::string_view kPfc =
    "0180c2000001020000000001880801010018000000000000ffff0000000000000000"
    "0000000000000000000000000000000000000000000000000000";
/// 802.3x PAUSE for 255 quanta.
inline constexpr std::string_view kPause =
    "0180c20000010200000000018808000100ff000000000000000000000000000000000000000000000000000000000000000000000000"
    "000000000000";
/// LLDP: chassis, port, time to live, DCBX PFC (priority 3) and application priority (RoCE v2 on 3), end.
inline constexpr std::string_view kLldp =
    "0180c200000e02000000000188cc02070402000000000104030565740602007"
    "8fe060080c20b0808fe080080c20c006312b70000";
/// An ARP request.
inline constexpr std::string_view kArp =
    "ffffffffffff0200000000010806000108000604000102000000000"
    "1c0000201000000000000c0000202";

/// Returns the vectors and the link control frames.
inline std::vector<std::string> all_frames() {
  std::vector<std::string> frames;
  for (const roce::test::Vector& vector : roce::test::kVectors) frames.emplace_back(vector.hex);
  for (const std::string_view frame : {kPfc, kPause, kLldp, kArp}) frames.emplace_back(frame);
  return frames;
}

}  // namespace roce::analyze::test
