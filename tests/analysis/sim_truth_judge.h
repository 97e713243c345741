// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "analysis/sim_truth.h"
#include "roce/analysis/stream_summary.h"
#include "roce/analysis/verdict.h"

namespace roce::sim_truth {

/// The part of a run that a capture has.
struct View {
  View(const Run& of, std::vector<std::size_t> passages_kept);

  const Run* run;
  std::vector<std::size_t> kept;     ///< indices of the passages, in the order of their packet numbers
  std::vector<std::size_t> numbers;  ///< packet number of each passage, from 1; 0 if it is withheld

  [[nodiscard]] bool has(std::size_t passage) const { return numbers[passage] != 0; }
  /// True if an intact passage of the packet is in the capture, earlier than passage `before`.
  [[nodiscard]] bool saw(const Sent& sent, std::size_t before = kNone) const;
};

/// Returns the verdicts of the tracker on a view.
[[nodiscard]] std::vector<analysis::Verdict> judge_view(const View& view);

/// Returns the messages of the tracker on a view.
[[nodiscard]] std::vector<analysis::Message> messages_of(const View& view);

/// Returns why a message cannot have ended with the answer that it is said to have ended with; empty if it can.
[[nodiscard]] std::string why_not_ended(const View& view, const analysis::Message& message);

/// True if verdicts of this kind are judged at all: those that claim little are not.
[[nodiscard]] bool is_judged(analysis::VerdictKind kind);

enum class Ruling : std::uint8_t {
  right,
  wrong,
  unknowable,  ///< wrong, but other events, for which it would be right, would have left the same capture
};

struct Judgement {
  Ruling ruling = Ruling::right;
  std::string why;
  std::size_t channel = kNone;
  LongPsn first = 0;  ///< first PSN that it is about, in the channel
};

/// Judges whether a verdict is true, no matter whether the view shows it.
[[nodiscard]] Judgement judge(const View& view, const analysis::Verdict& verdict);

/// A verdict that a view calls for.
struct Unit {
  analysis::VerdictKind kind{};
  std::size_t passage = 0;
  std::size_t channel = kNone;
  LongPsn first = 0;
  std::uint32_t count = 0;  ///< number of PSNs; 0 if it is not about PSNs
  std::string_view why;
};

/// Returns what can be known from a view. Reads it as an analyser has to, but knows how many PSNs each READ takes.
[[nodiscard]] std::vector<Unit> evidence(const View& view);

/// Returns some lines about the passages of one QP around `passage`; with `kNone` about all passages of the run.
[[nodiscard]] std::string trace(const View& view, std::size_t passage, std::size_t before, std::size_t after);

/// Returns a text such as `request_lost_after of frame 12 PSN 5+1 …`.
[[nodiscard]] std::string describe(const View& view, const analysis::Verdict& verdict);

}  // namespace roce::sim_truth
