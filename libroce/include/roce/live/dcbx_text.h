// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <string_view>

#include "roce/live/result.h"
#include "roce/port/dcbx_peer.h"

namespace roce::live {

/// Parses the settings of an end of a wire: parts with commas between them, such as
/// `pfc=3,shares=012467:60/3:40,recommend,app=udp:4791:3`.
///
/// - `willing=WHAT`: what the other end may decide: `ets`, `pfc`, `both` (the default) or `none`
/// - `pfc=PRIORITIES`: the priorities without loss; none by default
/// - `shares=PRIORITIES:SHARE/…`: a traffic class each, from class 0 on, with its percent or `strict`; other priorities
///   are in class 0. By default all are in one strict class
/// - `recommend`: these shares are recommended to the other end
/// - `app=KIND:NUMBER:PRIORITY`: KIND is `ethertype`, `tcp`, `udp`, `tcp_udp` or `dscp`; may be repeated
/// - `capability=N`: how many priorities without loss this end can have at once, 1 … 8 (8)
///
/// PRIORITIES are digits 0 … 7 without anything between them; all but `app` may be there once. The error names the part
/// and what was expected.
[[nodiscard]] Result<port::DcbxConfig> parse_dcbx(std::string_view text);

/// Returns the settings that hold at an end, whose they are, and the problem: for people, one line.
[[nodiscard]] std::string describe_dcbx(const port::DcbxPeer& peer);

}  // namespace roce::live
