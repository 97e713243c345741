// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "conform/report/run_result.h"
#include "text/palette.h"
#include "text/text_buffer.h"

namespace roce::conform {

/// The ways in which an instance can differ between two runs, the most urgent first.
enum class ChangeKind : std::uint8_t {
  broken,     ///< passed, and fails
  mended,     ///< failed, and passes
  added,      ///< was not in the earlier run
  gone,       ///< is not in the later run
  otherwise,  ///< fails in both, and in another way
  other,      ///< was or is not judged, or is known now
};
/// Returns `now fails`, `now passes`, `new`, `gone`, `fails otherwise` or `other`.
[[nodiscard]] std::string_view to_string(ChangeKind kind);

/// An instance of which two runs say different things.
struct InstanceChange {
  ChangeKind kind{};
  std::string name{};
  std::string of{};       ///< its case
  std::string was{};      ///< the earlier result, or empty
  std::string is{};       ///< the later result, or empty
  std::string message{};  ///< how it fails now, or failed if it is gone
};

/// The differences between two runs.
struct ResultChanges {
  std::vector<InstanceChange> all{};  ///< ordered by kind, then by case
  std::size_t compared = 0;           ///< instances that both runs have
  std::size_t not_selected = 0;       ///< instances that one of the runs was not to run, by --only or --quick
  Tested before{};                    ///< the earlier run
  bool same_seed = false;             ///< only then are the values in failures compared
};

/// Compares two results instance by instance, by their names. Failures are the same if they are at the same line, and
/// the same fields are wrong, with the same seed by the same values; times of frames do not matter.
[[nodiscard]] ResultChanges compare_results(const RunResult& before, const RunResult& after);

/// Appends the changes as a table, or that there is none. `file` names the earlier run.
void append_changes(text::TextBuffer& out, const ResultChanges& changes, std::string_view file,
                    const text::Palette& palette);

}  // namespace roce::conform
