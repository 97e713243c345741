// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/text_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "conform/report/frame_text.h"
#include "conform/report/tally.h"
#include "conform/report/tries_text.h"
#include "text/text_table.h"

namespace roce::conform {

namespace {

std::string_view verdict_text(const InstanceRecord& instance) {
  const CaseOutcome& outcome = instance.outcome;
  if (outcome.result == Result::error) return "WRONG CASE";
  if (outcome.result == Result::dead) return "DEAD";
  if (outcome.result == Result::xfail) return "KNOWN";
  if (outcome.result == Result::inconclusive) return "INCONCLUSIVE";
  return instance.level == Level::must ? "FAIL" : "DEVIATES";
}

void append_tries(text::TextBuffer& out, const std::vector<Try>& tries) {
  for (std::size_t i = 0; i < tries.size(); ++i) {
    text::append(out, fmt::format("  try {} of {}: {}\n", i + 1, tries.size(), try_text(tries[i])));
  }
}

text::TableCell count_cell(std::size_t count, text::Tone tone) {
  if (count == 0) return {.text = "-", .tone = text::Tone::faint};
  return {.text = std::to_string(count), .tone = tone};
}

void add_tally(text::TextTable& table, const std::string& name, const Tally& tally) {
  table.add_row({{.text = name},
                 count_cell(tally.passed, text::Tone::plain),
                 count_cell(tally.failed, text::Tone::bad),
                 count_cell(tally.deviating, text::Tone::caution),
                 count_cell(tally.known, text::Tone::faint),
                 count_cell(tally.surprising, text::Tone::bad),
                 count_cell(tally.skipped, text::Tone::faint),
                 count_cell(tally.wrong, text::Tone::bad),
                 count_cell(tally.inconclusive, text::Tone::bad),
                 count_cell(tally.lost, text::Tone::bad)});
}

/// Names those that were under way when the device died and did not stop it alone.
void append_survivors(text::TextBuffer& out, const RunResult& result) {
  std::vector<std::string> names;
  for (const InstanceRecord& instance : result.instances) {
    const CaseOutcome& outcome = instance.outcome;
    const bool was_there = std::ranges::find(outcome.tries, Result::dead, &Try::result) != outcome.tries.end();
    if (was_there && outcome.result != Result::dead) names.push_back(instance.name);
  }
  if (names.empty()) return;
  text::append(out, fmt::format("the device died while these ran, and did not when each ran again alone: {}\n",
                                fmt::join(names, ", ")));
}

}  // namespace

void append_summary(text::TextBuffer& out, const RunResult& result, const text::Palette& palette) {
  constexpr auto right = text::Align::right;
  text::TextTable table{{{.heading = "group"},
                         {.heading = "pass", .align = right},
                         {.heading = "fail", .align = right},
                         {.heading = "deviates", .align = right},
                         {.heading = "known", .align = right},
                         {.heading = "xpass", .align = right},
                         {.heading = "skip", .align = right},
                         {.heading = "wrong case", .align = right},
                         {.heading = "inconclusive", .align = right},
                         {.heading = "dead", .align = right}}};
  for (const auto& [name, tally] : count_groups(result)) add_tally(table, name, tally);
  const Tally all = count_all(result);
  add_tally(table, "all", all);
  table.append_text(out, {.palette = palette});
  if (all.passed_later != 0) {
    text::append(out,
                 fmt::format("{} passed, and had failed in a try before: frames were lost on the way, the tester was "
                             "too slow, or instances disturb each other on the device\n",
                             all.passed_later));
  }
  append_survivors(out, result);
  const auto interrupted = std::ranges::count_if(result.instances, [](const InstanceRecord& instance) {
    return instance.outcome.result == Result::not_run && !instance.outcome.because.empty();
  });
  if (interrupted != 0) {
    text::append(out, fmt::format("{} were not run, for the run was interrupted; they are in the column \"dead\"\n",
                                  interrupted));
  }
  if (all.inconclusive != 0) {
    text::append(out,
                 fmt::format("{} are inconclusive, which is no pass: their tries did not agree\n", all.inconclusive));
  }
}

void append_frames(text::TextBuffer& out, const std::vector<LoggedFrame>& frames, const text::Palette& palette) {
  for (const LoggedFrame& frame : frames) {
    text::append(out, fmt::format("  {:>+12.6f} ms  {}  ", milliseconds_into(frames, frame),
                                  frame.from_device ? "T<-D" : "T->D"));
    append_frame_text(out, frame, palette);
    text::append(out, fmt::format("  {}line {}{}\n", palette.faint, frame.line, palette.reset));
  }
}

void append_failure(text::TextBuffer& out, const RunResult& result, const InstanceRecord& instance,
                    const text::Palette& palette) {
  const StepFailure& failure = *instance.outcome.failure;
  text::append(out, fmt::format("{}{}{}  {}  {}  {}\n", palette.bad, verdict_text(instance), palette.reset,
                                instance.name, to_string(instance.level), fmt::join(instance.rules, ", ")));
  text::append(
      out, fmt::format("  {}\n  {}: {}\n", result.cases.at(instance.of).title, to_string(failure.place), failure.what));
  if (!failure.fields.empty()) {
    text::TextTable table{{{.heading = "field"}, {.heading = "expected"}, {.heading = "seen"}, {.heading = ""}}};
    for (const Comparison& field : failure.fields) {
      table.add_row({{.text = field.field},
                     {.text = field.expected},
                     {.text = field.seen, .tone = field.is_right ? text::Tone::plain : text::Tone::bad},
                     {.text = field.is_right ? "ok" : "", .tone = text::Tone::faint}});
    }
    table.append_text(out, {.palette = palette, .indent = 4});
  }
  if (instance.outcome.damage != Damage::none)
    text::append(out, fmt::format("  damage: {}\n", damage_text(instance.outcome.damage)));
  append_tries(out, instance.outcome.tries);
  append_frames(out, instance.outcome.frames, palette);
  text::append(out, fmt::format("  alone: {}\n\n", command_for(result.tested, instance.name)));
}

}  // namespace roce::conform
