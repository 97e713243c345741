// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/tries.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <utility>

namespace roce::conform {

namespace {

constexpr std::uint32_t kTriesWithoutLoss = 3;
constexpr std::uint32_t kTriesWithLoss = 16;
constexpr double kCoincidence = 1e-6;

bool is_of_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// Returns a sentence with `#` for each number: times, addresses and keys differ from run to run.
std::string without_numbers(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    const auto begin = text.begin() + static_cast<std::ptrdiff_t>(i);
    const auto length = static_cast<std::size_t>(std::find_if_not(begin, text.end(), is_of_word) - begin);
    const bool is_number = length != 0 && std::isdigit(static_cast<unsigned char>(*begin)) != 0;
    result += is_number ? "#" : text.substr(i, std::max<std::size_t>(length, 1));
    i += std::max<std::size_t>(length, 1);
  }
  return result;
}

}  // namespace

TryPlan plan_without_loss() {
  return {.passes = 1, .failures = 2, .most = kTriesWithoutLoss};
}

TryPlan plan_for_loss(double share) {
  TryPlan plan{.passes = 2, .failures = 2, .most = kTriesWithLoss, .loses_frames = true};
  const double once = std::min(1.0, 2 * share);
  for (double chance = once * once; chance > kCoincidence && plan.failures < plan.most; chance *= once) {
    ++plan.failures;
  }
  return plan;
}

std::string Tries::key_of(const CaseOutcome& outcome) const {
  std::string key = fmt::format("{}", to_string(outcome.result));
  if (outcome.failure) {
    key += fmt::format(" {} {}", outcome.failure->place.line, without_numbers(outcome.failure->what));
    for (const Comparison& field : outcome.failure->fields) {
      if (!field.is_right) key += " " + field.field;
    }
  }
  if (!plan_.loses_frames) return key;
  // A loss fails any round of a loop, and any packet of many that are sent at once.
  key += fmt::format(" {}", outcome.frames.size());
  for (const Comparison& field : outcome.failure ? outcome.failure->fields : std::vector<Comparison>{}) {
    if (field.field == "bth.psn" || field.field.starts_with("aeth.")) key += " " + field.seen;
  }
  return key;
}

void Tries::add(CaseOutcome outcome, bool is_alone) {
  Try& run = tries_.emplace_back(Try{.result = outcome.result, .is_alone = is_alone});
  if (outcome.failure) run.what = fmt::format("{}: {}", to_string(outcome.failure->place), outcome.failure->what);
  const bool has_failed = outcome.result == Result::fail || outcome.result == Result::error;
  run.counts = outcome.result != Result::dead && outcome.lost_frames == 0 && !outcome.was_late;
  if (outcome.result == Result::dead) return;
  ++runs_;
  if (outcome.result == Result::skip) {
    is_skipped_ = true;
  } else if (run.counts && has_failed) {
    std::string key = key_of(outcome);
    auto kind = std::ranges::find(kinds_, key, &Kind::key);
    if (kind == kinds_.end()) kind = kinds_.insert(kind, Kind{.key = std::move(key)});
    ++kind->count;
    kind->last = std::move(outcome);
    return;
  } else if (run.counts) {
    ++passes_;
  }
  other_ = std::move(outcome);
}

std::uint32_t Tries::most_failures() const {
  const auto most = std::ranges::max_element(kinds_, {}, &Kind::count);
  return most == kinds_.end() ? 0 : most->count;
}

bool Tries::has_failed() const {
  return most_failures() >= plan_.failures && most_failures() > passes_;
}

bool Tries::has_passed() const {
  return passes_ >= plan_.passes && passes_ > most_failures();
}

bool Tries::is_over() const {
  return is_skipped_ || has_passed() || has_failed() || runs_ >= plan_.most;
}

bool Tries::wants_alone() const {
  if (!plan_.loses_frames) return runs_ != 0;
  return most_failures() + 1 >= plan_.failures;
}

CaseOutcome Tries::verdict(const Place& place) {
  const auto kind = std::ranges::max_element(kinds_, {}, &Kind::count);
  CaseOutcome outcome;
  if (is_skipped_ || has_passed()) {
    outcome = std::move(other_);
  } else if (kind != kinds_.end()) {
    outcome = std::move(kind->last);
    if (!has_failed()) outcome.result = Result::inconclusive;
  } else {
    outcome = std::move(other_);
    outcome.result = Result::inconclusive;
    if (!outcome.was_late) outcome.failure = StepFailure{place, "the tester had no room for frames that came"};
  }
  if (tries_.size() > 1) outcome.tries = std::move(tries_);
  return outcome;
}

}  // namespace roce::conform
