// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/known_deviations.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace roce::conform {

namespace {

/// Returns all that a report says of a failure, in one line.
std::string text_of(const StepFailure& failure) {
  std::string text = failure.what;
  for (const Comparison& field : failure.fields) {
    if (!field.is_right) text += fmt::format("; {}: expected {}, seen {}", field.field, field.expected, field.seen);
  }
  return text;
}

/// Returns the first deviation that names an instance; null if there is none.
const KnownDeviation* find_deviation(const DeviceProfile& profile, const Instance& instance) {
  const auto known = std::ranges::find_if(
      profile.deviations, [&](const KnownDeviation& deviation) { return fits_any(deviation.instances, instance); });
  return known == profile.deviations.end() ? nullptr : &*known;
}

bool fails_so(const KnownDeviation& known, const CaseOutcome& outcome) {
  return outcome.result == Result::fail && text_of(*outcome.failure).find(known.seen) != std::string::npos;
}

}  // namespace

bool is_known_deviation(const DeviceProfile& profile, const Instance& instance, const CaseOutcome& outcome) {
  const KnownDeviation* known = find_deviation(profile, instance);
  return known != nullptr && fails_so(*known, outcome);
}

void mark_known_deviations(const DeviceProfile& profile, const std::vector<Instance>& instances,
                           std::vector<CaseOutcome>& outcomes) {
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const KnownDeviation* known = find_deviation(profile, instances[i]);
    if (known == nullptr) continue;
    CaseOutcome& outcome = outcomes[i];
    if (fails_so(*known, outcome)) {
      outcome.result = Result::xfail;
      outcome.because = known->because;
    } else if (outcome.result == Result::pass) {
      outcome.result = Result::xpass;
      outcome.because = known->because;
    }
  }
}

std::optional<CaseError> find_stray_pattern(const DeviceProfile& profile, const std::vector<Instance>& instances) {
  const auto is_stray = [&](const std::string& pattern) {
    return std::ranges::none_of(instances, [&](const Instance& instance) { return fits_any({pattern}, instance); });
  };
  const auto find_in = [&](const Place& place, const std::vector<std::string>& patterns) -> std::optional<CaseError> {
    const auto stray = std::ranges::find_if(patterns, is_stray);
    if (stray == patterns.end()) return std::nullopt;
    return CaseError{place, fmt::format("no case or instance is called {}", *stray)};
  };
  if (auto stray = find_in(profile.place, profile.may_stop)) return stray;
  for (const KnownDeviation& deviation : profile.deviations) {
    if (auto stray = find_in(deviation.place, deviation.instances)) return stray;
  }
  return std::nullopt;
}

}  // namespace roce::conform
