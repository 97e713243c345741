// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "conform/language/instance.h"
#include "conform/language/place.h"
#include "roce/wire/time.h"

namespace roce::conform {

/// A deviation that a kind of device is known to have.
struct KnownDeviation {
  Place place;
  std::vector<std::string> instances{};  ///< patterns with * and ? of instances or cases
  std::string seen{};                    ///< a part of the sentence that says what came instead
  std::string because{};                 ///< why the device does so
};

/// A kind of device: how quick it is, and where it is known to deviate.
struct DeviceProfile {
  Place place;
  std::string device{};
  std::optional<Duration> answer{};  ///< how long an answer may take, where a case does not say
  std::optional<Duration> quiet{};   ///< time after which the device is silent
  std::optional<Duration> early{};   ///< how much before its time a frame may be seen
  std::optional<Duration> late{};    ///< how much after its time a frame may be seen
  /// Patterns of instances or cases that may stop the device: they are only run if that is asked for.
  std::vector<std::string> may_stop{};
  std::vector<KnownDeviation> deviations{};
};

/// Reads a profile: `device`, `timing`, `may_stop` and `deviations`. Errors: the file cannot be read, an unknown or
/// missing member, a wrong type.
[[nodiscard]] CaseResult<DeviceProfile> read_device_profile(const std::string& path);

/// True if one of the patterns fits the case of an instance, or the instance.
[[nodiscard]] bool fits_any(const std::vector<std::string>& patterns, const Instance& instance);

/// True if a pattern with * and ? fits the whole name. A name in square brackets is not a set of characters here: names
/// of instances have them.
[[nodiscard]] bool fits_pattern(const std::string& pattern, const std::string& name);

}  // namespace roce::conform
