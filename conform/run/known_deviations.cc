// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/known_deviations.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace roce::conform {

namespace {

bool names(const KnownDeviation& deviation, const Instance& instance) {
  return std::ranges::any_of(deviation.instances, [&](const std::string& pattern) {
    return fits_pattern(pattern, instance.of->id) || fits_pattern(pattern, instance.name());
  });
}

/// Returns all that a report says of a failure, in one line.
std::string text_of(const StepFailure& failure) {
  std::string text = failure.what;
  for (const Comparison& field : failure.fields) {
    if (!field.is_right) text += fmt::format("; {}: expected {}, seen {}", field.field, field.expected, field.seen);
  }
  return text;
}

}  // namespace

void mark_known_deviations(const DeviceProfile& profile, const std::vector<Instance>& instances,
                           std::vector<CaseOutcome>& outcomes) {
  for (std::size_t i = 0; i < instances.size(); ++i) {
    const auto known = std::ranges::find_if(
        profile.deviations, [&](const KnownDeviation& deviation) { return names(deviation, instances[i]); });
    if (known == profile.deviations.end()) continue;
    CaseOutcome& outcome = outcomes[i];
    if (outcome.result == Result::fail && text_of(*outcome.failure).find(known->seen) != std::string::npos) {
      outcome.result = Result::xfail;
      outcome.because = known->because;
    } else if (outcome.result == Result::pass) {
      outcome.result = Result::xpass;
      outcome.because = known->because;
    }
  }
}

const KnownDeviation* find_stray_deviation(const DeviceProfile& profile, const std::vector<Instance>& instances) {
  for (const KnownDeviation& deviation : profile.deviations) {
    const auto is_named = [&](const Instance& instance) { return names(deviation, instance); };
    if (std::ranges::none_of(instances, is_named)) return &deviation;
  }
  return nullptr;
}

}  // namespace roce::conform
