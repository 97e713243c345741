// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conform/language/place.h"
#include "conform/target/target.h"
#include "roce/wire/time.h"

namespace roce::conform {

enum class Result : std::uint8_t {
  pass,
  fail,
  xfail,         ///< failed as the device is known to
  xpass,         ///< passed although the device is known to fail
  skip,          ///< the device lacks something that the case needs
  error,         ///< the case itself is wrong
  dead,          ///< the device, or the way to it, stopped answering
  not_run,       ///< because the device was dead before, or the run was interrupted
  inconclusive,  ///< its tries did not agree
};
/// Returns `pass`, `fail`, `xfail`, `xpass`, `skip`, `error`, `dead`, `not_run` or `inconclusive`.
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
  bool is_silence = false;  ///< nothing came where something had to
};

/// A frame that the tester sent or saw.
struct LoggedFrame {
  Time time{};
  bool from_device = false;
  std::vector<std::byte> bytes;
  int line = 0;  ///< of the step in the case file
};

/// One of the runs that an instance needed for its verdict.
struct Try {
  Result result = Result::pass;
  std::string what{};     ///< place and sentence of the failure; empty if it passed
  bool is_alone = false;  ///< no other instance ran meanwhile
  bool counts = true;     ///< false: the tester lost frames that had come or was too slow, or the device died
};

/// The result of one instance of a case.
struct CaseOutcome {
  Result result = Result::pass;
  std::optional<StepFailure> failure{};
  Damage damage = Damage::none;  ///< with `fail` because nothing came, and with `dead`
  std::string lacks{};           ///< with `skip`
  std::string because{};  ///< with `xfail` and `xpass`: why the device is known to fail; with `not_run`: why it was not
  std::vector<Try> tries{};             ///< all runs of the instance, if there was more than one
  std::uint64_t lost_frames = 0;        ///< frames that came and that the tester had no room for
  bool was_late = false;                ///< with `fail`: the tester was, so that nothing is said of the device
  std::vector<std::string> branches{};  ///< the ones taken where a case allows several behaviours
  std::vector<std::pair<std::string, std::string>> saved{};
  std::vector<LoggedFrame> frames{};
};

}  // namespace roce::conform
