// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "conform/fuzz/program.h"
#include "conform/language/source_node.h"

namespace roce::conform::fuzz {

/// The version of the form of programs, and of what their signatures stand for.
inline constexpr std::uint64_t kProgramVersion = 3;

/// Returns a program as YAML: a map, of which no line has an indentation of its own but `indent`. Members with their
/// usual values are left out.
[[nodiscard]] std::string program_text(const Program& program, std::string_view indent = "");

/// Reads what `program_text` wrote, beside which `program`, the version, may stand. Errors: members that a program has
/// not, and values that it may not have.
[[nodiscard]] CaseResult<Program> read_program(const SourceNode& node);

/// Reads a whole number of at most `most`. Error: the node is none; `what` says what it has to be.
[[nodiscard]] CaseResult<std::uint64_t> read_count(const SourceNode& node, std::string_view what,
                                                   std::uint64_t most = UINT64_MAX);

/// Returns `rc`, `uc` or `ud`.
[[nodiscard]] std::string_view type_name(transport::QpType type);
/// Returns the name of a version of RoCE in programs and cases; `own` for none, that of the device's own port.
[[nodiscard]] std::string_view version_name(RoceVersion version);

/// Returns a text between double quotes; characters that a terminal would obey become `?`.
[[nodiscard]] std::string double_quoted(std::string_view text);

}  // namespace roce::conform::fuzz
