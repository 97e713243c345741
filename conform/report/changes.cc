// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/changes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <tuple>
#include <unordered_map>

#include "conform/language/device_profile.h"
#include "text/human_units.h"
#include "text/text_table.h"

namespace roce::conform {

namespace {

bool has_passed(Result result) {
  return result == Result::pass || result == Result::xpass;
}

bool has_failed(Result result) {
  return result == Result::fail || result == Result::xfail || result == Result::error || result == Result::dead ||
         result == Result::inconclusive;
}

/// Returns a sentence without its times, which differ from run to run on a wire: `seen after 1.204 ms`.
std::string without_times(const std::string& text) {
  std::string rest;
  for (std::size_t i = 0; i < text.size();) {
    std::size_t end = i;
    while (end < text.size() && (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) ++end;
    const bool is_time = end != i && text.compare(end, 3, " ms") == 0;
    if (!is_time) rest.append(text, i, std::max<std::size_t>(end - i, 1));
    i = std::max(end, i + 1);
  }
  return rest;
}

/// Returns the part of a failure that has to be the same for it to be the same failure.
std::string gist(const CaseOutcome& outcome, bool with_values) {
  if (!outcome.failure) return {};
  const StepFailure& failure = *outcome.failure;
  std::string text = fmt::format("{} {}", failure.place.line, with_values ? without_times(failure.what) : "");
  for (const Comparison& field : failure.fields) {
    if (field.is_right) continue;
    text += fmt::format("\n{}", field.field);
    if (with_values) text += fmt::format(" {} {}", field.expected, field.seen);
  }
  return text;
}

ChangeKind kind_of(const CaseOutcome& before, const CaseOutcome& after) {
  if (has_passed(before.result) && has_failed(after.result)) return ChangeKind::broken;
  if (has_failed(before.result) && has_passed(after.result)) return ChangeKind::mended;
  if (has_failed(before.result) && has_failed(after.result)) return ChangeKind::otherwise;
  return ChangeKind::other;
}

/// True if a run with these options would have run an instance of another run.
bool selects(const Tested& run, const InstanceRecord& instance) {
  if (run.quick) return false;
  return run.only.empty() || std::ranges::any_of(run.only, [&](const std::string& pattern) {
           return fits_pattern(pattern, instance.of) || fits_pattern(pattern, instance.name);
         });
}

std::string message_of(const CaseOutcome& outcome) {
  if (outcome.failure) return outcome.failure->what;
  return outcome.lacks.empty() ? std::string{} : "lacks " + outcome.lacks;
}

}  // namespace

std::string_view to_string(ChangeKind kind) {
  switch (kind) {
    case ChangeKind::broken:
      return "now fails";
    case ChangeKind::mended:
      return "now passes";
    case ChangeKind::added:
      return "new";
    case ChangeKind::gone:
      return "gone";
    case ChangeKind::otherwise:
      return "fails otherwise";
    case ChangeKind::other:
      return "other";
  }
  return "";
}

ResultChanges compare_results(const RunResult& before, const RunResult& after) {
  ResultChanges changes{.before = before.tested, .same_seed = before.tested.seed == after.tested.seed};
  std::unordered_map<std::string_view, const InstanceRecord*> earlier;
  for (const InstanceRecord& instance : before.instances) earlier.emplace(instance.name, &instance);
  changes.all.reserve(after.instances.size());
  for (const InstanceRecord& instance : after.instances) {
    const CaseOutcome& is = instance.outcome;
    const std::string result{to_string(is.result)};
    const auto found = earlier.find(instance.name);
    if (found == earlier.end()) {
      if (!selects(before.tested, instance)) {
        ++changes.not_selected;
        continue;
      }
      changes.all.push_back({ChangeKind::added, instance.name, instance.of, "", result, message_of(is)});
      continue;
    }
    const CaseOutcome& was = found->second->outcome;
    earlier.erase(found);
    ++changes.compared;
    if (was.result == is.result && gist(was, changes.same_seed) == gist(is, changes.same_seed)) continue;
    changes.all.push_back(
        {kind_of(was, is), instance.name, instance.of, std::string{to_string(was.result)}, result, message_of(is)});
  }
  for (const auto& [name, instance] : earlier) {
    if (!selects(after.tested, *instance)) {
      ++changes.not_selected;
      continue;
    }
    changes.all.push_back({ChangeKind::gone, instance->name, instance->of,
                           std::string{to_string(instance->outcome.result)}, "", message_of(instance->outcome)});
  }
  std::ranges::stable_sort(changes.all, {}, [](const InstanceChange& change) {
    return std::tuple{change.kind, group_of(change.of), change.of,
                      change.kind == ChangeKind::gone ? change.name : std::string{}};
  });
  return changes;
}

void append_changes(text::TextBuffer& out, const ResultChanges& changes, std::string_view file,
                    const text::Palette& palette) {
  text::append(out, fmt::format("\ncompared with {}: {}, {}\n", file, changes.before.device,
                                changes.same_seed ? "same seed"
                                                  : fmt::format("seed {}: values in failures are not compared",
                                                                changes.before.seed)));
  if (changes.not_selected != 0) {
    text::append(out, fmt::format("{} that only one of the runs selected\n",
                                  text::counted(changes.not_selected, "instance", "instances")));
  }
  if (changes.all.empty()) {
    text::append(out, fmt::format("none changed of {}\n", text::counted(changes.compared, "instance", "instances")));
    return;
  }
  text::TextTable table{{{.heading = "change"},
                         {.heading = "case"},
                         {.heading = "instance"},
                         {.heading = "was"},
                         {.heading = "is"},
                         {.heading = "how it fails"}}};
  const InstanceChange* above = nullptr;
  for (const InstanceChange& change : changes.all) {
    const bool is_same_kind = above != nullptr && above->kind == change.kind;
    const bool is_same_case = is_same_kind && above->of == change.of;
    const text::Tone tone = change.kind == ChangeKind::broken ? text::Tone::bad : text::Tone::plain;
    table.add_row({{.text = is_same_kind ? "" : std::string{to_string(change.kind)}, .tone = tone},
                   {.text = is_same_case ? "" : change.of},
                   {.text = change.name == change.of ? "-" : change.name.substr(change.of.size())},
                   {.text = change.was.empty() ? "-" : change.was},
                   {.text = change.is.empty() ? "-" : change.is, .tone = tone},
                   {.text = change.message, .tone = text::Tone::faint}});
    above = &change;
  }
  table.append_text(out, {.palette = palette});
}

}  // namespace roce::conform
