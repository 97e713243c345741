// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "conform/language/instance.h"
#include "conform/run/outcome.h"
#include "text/palette.h"
#include "text/text_buffer.h"

namespace roce::conform {

/// The numbers of instances of one group, or of all, by their results.
struct Tally {
  std::size_t passed = 0;
  std::size_t failed = 0;      ///< of level must
  std::size_t deviating = 0;   ///< failed, of level should or info
  std::size_t known = 0;       ///< failed as the device is known to
  std::size_t surprising = 0;  ///< passed although the device is known to fail
  std::size_t skipped = 0;
  std::size_t wrong = 0;         ///< the case itself is wrong
  std::size_t inconclusive = 0;  ///< their tries did not agree
  std::size_t lost = 0;          ///< the device died in them or before
  std::size_t passed_later = 0;  ///< of those that passed, the ones that failed in a try

  void add(const Instance& instance, const CaseOutcome& outcome);
  [[nodiscard]] std::size_t total() const {
    return passed + failed + deviating + known + surprising + skipped + wrong + inconclusive + lost;
  }
};

/// Appends the table of groups and results, and the total.
void append_summary(text::TextBuffer& out, const std::vector<Instance>& instances,
                    const std::vector<CaseOutcome>& outcomes, const text::Palette& palette);
/// Appends one deviation: the rule, the step, the fields, all tries, the frames up to there, and how to run it alone.
void append_failure(text::TextBuffer& out, const Instance& instance, const CaseOutcome& outcome, std::uint64_t seed,
                    const text::Palette& palette);
/// Appends the frames of a run as a ladder: time, direction, packet, and the line of the step.
void append_frames(text::TextBuffer& out, const CaseOutcome& outcome, const text::Palette& palette);

}  // namespace roce::conform
