// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conform/language/place.h"
#include "roce/wire/time.h"

namespace roce::conform {

enum class Result : std::uint8_t {
  pass,
  fail,
  xfail,    ///< failed as the device is known to
  xpass,    ///< passed although the device is known to fail
  skip,     ///< the device lacks something that the case needs
  error,    ///< the case itself is wrong
  dead,     ///< the device, or the way to it, stopped answering
  not_run,  ///< because the device was dead before
};
/// Returns `pass`, `fail`, `xfail`, `xpass`, `skip`, `error`, `dead` or `not_run`.
[[nodiscard]] std::string_view to_string(Result result);

/// A field of a frame, a completion or a counter beside what it should be.
struct Comparison {
  std::string field;
  std::string expected;
  std::string seen;
  bool is_right = false;
};

/// The step that showed the deviation.
struct StepFailure {
  Place place;
  std::string what;  ///< a sentence: what was expected, and what came
  std::vector<Comparison> fields{};
};

/// A frame that the tester sent or saw.
struct LoggedFrame {
  Time time{};
  bool from_device = false;
  std::vector<std::byte> bytes;
  int line = 0;  ///< of the step in the case file
};

/// The result of one instance of a case.
struct CaseOutcome {
  Result result = Result::pass;
  std::optional<StepFailure> failure{};
  std::string lacks{};                  ///< with `skip`
  std::string because{};                ///< with `xfail` and `xpass`: why the device is known to fail
  bool only_alone = false;              ///< with `pass`: it failed while other instances ran
  std::vector<std::string> branches{};  ///< the ones taken where a case allows several behaviours
  std::vector<std::pair<std::string, std::string>> saved{};
  std::vector<LoggedFrame> frames{};
};

}  // namespace roce::conform
