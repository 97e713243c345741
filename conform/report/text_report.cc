// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/text_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "packet_text/packet_text.h"
#include "roce/wire/packet.h"
#include "text/text_table.h"

namespace roce::conform {

namespace {

std::string_view verdict_text(const Instance& instance, const CaseOutcome& outcome) {
  if (outcome.result == Result::error) return "WRONG CASE";
  if (outcome.result == Result::dead) return "DEAD";
  if (outcome.result == Result::xfail) return "KNOWN";
  if (outcome.result == Result::inconclusive) return "INCONCLUSIVE";
  return instance.of->level == Level::must ? "FAIL" : "DEVIATES";
}

bool is_failure(const Try& run) {
  return run.result == Result::fail || run.result == Result::error;
}

std::string_view damage_text(Damage damage) {
  switch (damage) {
    case Damage::none:
      return "none";
    case Damage::one_qp:
      return "at most this QP is stuck: the device serves a new one";
    case Damage::device_deaf:
      return "the device is deaf: the agent answers, but no new QP is served";
    case Damage::agent_gone:
      return "the agent is gone, or the machine that it runs on";
    case Damage::no_link:
      return "there is no link: the interface is down or gone";
  }
  return "";
}

void append_tries(text::TextBuffer& out, const CaseOutcome& outcome) {
  for (std::size_t i = 0; i < outcome.tries.size(); ++i) {
    const Try& run = outcome.tries[i];
    text::append(
        out, fmt::format("  try {} of {}{}: {}{}{}{}\n", i + 1, outcome.tries.size(), run.is_alone ? ", alone" : "",
                         to_string(run.result), run.what.empty() ? "" : ", ", run.what,
                         run.counts || run.result == Result::dead ? "" : " (does not count: the tester lost frames)"));
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
void append_survivors(text::TextBuffer& out, const std::vector<Instance>& instances,
                      const std::vector<CaseOutcome>& outcomes) {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const bool was_there = std::ranges::find(outcomes[i].tries, Result::dead, &Try::result) != outcomes[i].tries.end();
    if (was_there && outcomes[i].result != Result::dead) names.push_back(instances[i].name());
  }
  if (names.empty()) return;
  text::append(out, fmt::format("the device died while these ran, and did not when each ran again alone: {}\n",
                                fmt::join(names, ", ")));
}

}  // namespace

void Tally::add(const Instance& instance, const CaseOutcome& outcome) {
  switch (outcome.result) {
    case Result::pass:
      ++passed;
      passed_later += std::ranges::any_of(outcome.tries, is_failure) ? 1 : 0;
      return;
    case Result::fail:
      ++(instance.of->level == Level::must ? failed : deviating);
      return;
    case Result::xfail:
      ++known;
      return;
    case Result::xpass:
      ++surprising;
      return;
    case Result::skip:
      ++skipped;
      return;
    case Result::error:
      ++wrong;
      return;
    case Result::inconclusive:
      ++inconclusive;
      return;
    case Result::dead:
    case Result::not_run:
      ++lost;
      return;
  }
}

void append_summary(text::TextBuffer& out, const std::vector<Instance>& instances,
                    const std::vector<CaseOutcome>& outcomes, const text::Palette& palette) {
  std::map<std::string, Tally> groups;
  Tally all;
  for (std::size_t i = 0; i < instances.size(); ++i) {
    groups[instances[i].of->group()].add(instances[i], outcomes[i]);
    all.add(instances[i], outcomes[i]);
  }
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
  for (const auto& [name, tally] : groups) add_tally(table, name, tally);
  add_tally(table, "all", all);
  table.append_text(out, {.palette = palette});
  if (all.passed_later != 0) {
    text::append(out,
                 fmt::format("{} passed, and had failed in a try before: frames were lost on the way, the tester was "
                             "too slow, or instances disturb each other on the device\n",
                             all.passed_later));
  }
  append_survivors(out, instances, outcomes);
  if (all.inconclusive != 0) {
    text::append(out,
                 fmt::format("{} are inconclusive, which is no pass: their tries did not agree\n", all.inconclusive));
  }
}

void append_frames(text::TextBuffer& out, const CaseOutcome& outcome, const text::Palette& palette) {
  for (const LoggedFrame& frame : outcome.frames) {
    const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
    const double milliseconds = static_cast<double>((frame.time - outcome.frames.front().time).count()) / 1e6;
    text::append(out, fmt::format("  {:>+12.6f} ms  {}  ", milliseconds, frame.from_device ? "T<-D" : "T->D"));
    if (packet.is_roce()) {
      const std::string_view name = packet.info().name;
      text::append(out, fmt::format("{} psn {}{}", name.empty() ? "unknown opcode" : name, packet.bth().psn.value(),
                                    packet.bth().ack_req ? " A" : ""));
      packet_text::append_packet_text(out, packet, palette);
    } else {
      text::append(out, fmt::format("{} bytes, not RoCE", frame.bytes.size()));
    }
    text::append(out, fmt::format("  {}line {}{}\n", palette.faint, frame.line, palette.reset));
  }
}

void append_failure(text::TextBuffer& out, const Instance& instance, const CaseOutcome& outcome, std::uint64_t seed,
                    const text::Palette& palette) {
  const Case& of = *instance.of;
  const StepFailure& failure = *outcome.failure;
  text::append(out, fmt::format("{}{}{}  {}  {}  {}\n", palette.bad, verdict_text(instance, outcome), palette.reset,
                                instance.name(), to_string(of.level), fmt::join(of.rules, ", ")));
  text::append(out, fmt::format("  {}\n  {}: {}\n", of.title, to_string(failure.place), failure.what));
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
  if (outcome.damage != Damage::none) text::append(out, fmt::format("  damage: {}\n", damage_text(outcome.damage)));
  append_tries(out, outcome);
  append_frames(out, outcome, palette);
  text::append(out, fmt::format("  alone: --only '{}' --seed {}\n\n", instance.name(), seed));
}

}  // namespace roce::conform
