// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>
#include <vector>

#include "conform/language/case.h"
#include "conform/language/source_node.h"

namespace roce::conform {

/// Reads the names and values of a map.
[[nodiscard]] CaseResult<std::vector<Setting>> read_settings(const SourceNode& node, std::string_view what);
/// Reads a frame to send: `{SEND_ONLY: , bth.psn: $E + 1}`.
[[nodiscard]] CaseResult<FrameSpec> read_frame(const SourceNode& node);
/// Reads a frame to expect: `{ACK: [$E, $M]}`, `{SEND_ONLY: , bth.psn: $S}`.
[[nodiscard]] CaseResult<FramePattern> read_pattern(const SourceNode& node);
/// Reads one pattern or a list of them.
[[nodiscard]] CaseResult<std::vector<FramePattern>> read_patterns(const SourceNode& node);
/// Reads what a field has to be: a value, `any`, `not X`, `A..B`, or a list of which one is right.
[[nodiscard]] CaseResult<FieldPattern> read_field_pattern(const Member& member);
/// Reads the values of a list, in which `A..B` is a range.
[[nodiscard]] CaseResult<std::vector<Choice>> read_choices(const SourceNode& node, std::string_view what);

}  // namespace roce::conform
