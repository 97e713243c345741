// SPDX-License-Identifier: BSD-2-Clause
// The steps of a case that neither send nor ask: values, conditions, loops and waits.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "conform/run/case_run.h"

namespace roce::conform {

namespace {

// A case of more is a mistake, which would otherwise run for hours.
constexpr std::uint64_t kMostRepeats = 100'000;

}  // namespace

CaseRun::Verdict CaseRun::run_action(const Assign& action, const Step& /*step*/) {
  for (const Assign::Assignment& assignment : action.assignments) {
    std::string chosen = "else";
    if (assignment.by) {
      const Evaluated<Value> by = assignment.by->evaluate(*this);
      if (!by) return give_up({assignment.place, by.error()});
      chosen = to_string(*by);
    }
    auto setting = std::ranges::find(assignment.values, chosen, &Setting::name);
    if (setting == assignment.values.end()) setting = std::ranges::find(assignment.values, "else", &Setting::name);
    if (setting == assignment.values.end()) {
      return give_up(
          {assignment.place, fmt::format("{}: there is no value for {}, and no else", assignment.name, chosen)});
    }
    Evaluated<Value> value = setting->value.evaluate(*this);
    if (!value) return give_up({setting->place, value.error()});
    if (action.is_reported) outcome_.saved.emplace_back(assignment.name, to_string(*value));
    values_.insert_or_assign(assignment.name, std::move(*value));
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const Check& action, const Step& step) {
  const Evaluated<Value> value = action.condition.evaluate(*this);
  if (!value) return give_up({step.place, value.error()});
  return value->is_true() || fail(step.place, fmt::format("not true: {}", action.condition.text()));
}

CaseRun::Verdict CaseRun::run_action(const Repeat& action, const Step& step) {
  const std::optional<std::uint64_t> times = repeats(action.times, step.place);
  if (!times) return false;
  for (std::uint64_t i = 0; i < *times; ++i) {
    if (!run_steps(action.steps)) return false;
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const ForEach& action, const Step& step) {
  const std::optional<std::vector<Value>> values = values_of(action.values, step.place);
  if (!values) return false;
  for (const Value& value : *values) {
    values_.insert_or_assign(action.name, value);
    if (!run_steps(action.steps)) return false;
  }
  return true;
}

CaseRun::Verdict CaseRun::run_action(const Wait& action, const Step& step) {
  const std::optional<Duration> time = duration(action.time, Duration{0}, step.place);
  if (!time) return false;
  const Time until = target_.now() + *time;
  while (wait_for_frame(until)) {
  }
  last_ = target_.now();
  return !outcome_.failure;
}

std::optional<std::uint64_t> CaseRun::repeats(const Expression& expression, const Place& place) {
  const std::optional<std::uint64_t> times = number(expression, place);
  if (!times || *times <= kMostRepeats) return times;
  give_up({place, fmt::format("'{}' is {}, expected at most {}", expression.text(), *times, kMostRepeats)});
  return std::nullopt;
}

std::optional<std::vector<Value>> CaseRun::values_of(const std::vector<Choice>& choices, const Place& place) {
  std::vector<Value> values;
  for (const Choice& choice : choices) {
    Evaluated<Value> first = choice.first.evaluate(*this);
    if (!first) {
      give_up({place, first.error()});
      return std::nullopt;
    }
    if (!choice.last) {
      values.push_back(std::move(*first));
      continue;
    }
    const std::optional<std::uint64_t> from = number(choice.first, place);
    const std::optional<std::uint64_t> to = number(*choice.last, place);
    if (!from || !to) return std::nullopt;
    if (*to >= *from && *to - *from >= kMostRepeats) {
      give_up({place, fmt::format("more than {} values from {} to {}", kMostRepeats, *from, *to)});
      return std::nullopt;
    }
    for (std::uint64_t i = *from; i <= *to; ++i) values.push_back(Value::number(i));
  }
  return values;
}

}  // namespace roce::conform
