// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "analysis/sim_truth.h"
#include "roce/analysis/verdict.h"

namespace roce::sim_truth {

/// What a capture has of a run.
struct View {
  View(const Run& of, std::vector<std::size_t> passages_kept);

  const Run* run;
  std::vector<std::size_t> kept;     ///< passages, by number - 1
  std::vector<std::size_t> numbers;  ///< of each passage, from 1; 0: withheld

  [[nodiscard]] bool has(std::size_t passage) const { return numbers[passage] != 0; }
  /// Whether an intact passage of the packet is in the capture, in front of passage `before`.
  [[nodiscard]] bool saw(const Sent& sent, std::size_t before = kNone) const;
};

/// What the tracker says about a view.
[[nodiscard]] std::vector<analysis::Verdict> judge_view(const View& view);

/// Whether a verdict is judged at all: those that claim little are not.
[[nodiscard]] bool is_judged(analysis::VerdictKind kind);

enum class Ruling : std::uint8_t {
  right,
  wrong,
  unknowable,  ///< wrong, but what happened leaves the same capture as something of which it would be right
};

struct Judgement {
  Ruling ruling = Ruling::right;
  std::string why;
  std::size_t channel = kNone;
  LongPsn first = 0;  ///< the PSNs it is about, in the channel
};

/// Whether a verdict is true, whether or not the view shows it.
[[nodiscard]] Judgement judge(const View& view, const analysis::Verdict& verdict);

/// A verdict that a view calls for.
struct Unit {
  analysis::VerdictKind kind{};
  std::size_t passage = 0;
  std::size_t channel = kNone;
  LongPsn first = 0;
  std::uint32_t count = 0;  ///< 0: it is about no PSNs
  std::string_view why;
};

/// What can be known from a view. Reads the view the way an analyser must, but for knowing how many PSNs a READ takes.
[[nodiscard]] std::vector<Unit> evidence(const View& view);

/// A few lines of what happened around a passage to its connection; with `kNone` all passages.
[[nodiscard]] std::string trace(const View& view, std::size_t passage, std::size_t before, std::size_t after);

/// `request_lost_after frame 12 PSN 5+1 …`
[[nodiscard]] std::string describe(const View& view, const analysis::Verdict& verdict);

}  // namespace roce::sim_truth
