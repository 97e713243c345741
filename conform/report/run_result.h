// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "conform/language/instance.h"
#include "conform/run/noise.h"
#include "conform/run/outcome.h"

namespace roce::conform {

/// The device that a run tested, and the way in which it did.
struct Tested {
  std::string program{};         ///< version of roce-conform
  std::int64_t started_ns = 0;   ///< since 1970
  std::string device{};          ///< `endpoint, profile rxe`, or the address of a device
  std::string link{};            ///< the way to it: `memory`, or interface and agent
  std::string kind_of_device{};  ///< the name in its profile (`--device`); empty: none was given
  std::uint64_t seed = 0;
  std::vector<std::string> only{};       ///< patterns of the instances that were selected; none: all
  bool quick = false;                    ///< one instance of each case
  std::optional<Noise> noise{};          ///< of the wire, if it was measured
  std::vector<std::string> arguments{};  ///< of `roce-conform run`, so that an instance meets the same device again
};

/// The part of a case that a report shows; its level and its rules are with each instance.
struct CaseRecord {
  std::string title{};
  std::string why{};
  std::string file{};
};

/// One instance and what became of it.
struct InstanceRecord {
  std::string name{};
  std::string of{};  ///< its case
  Level level = Level::must;
  std::vector<std::string> rules{};
  std::vector<std::pair<std::string, std::string>> parameters{};
  CaseOutcome outcome{};

  [[nodiscard]] std::string group() const { return group_of(of); }
};

/// All that reports are made from: a run gives one, and so does the JSON file of an earlier run.
struct RunResult {
  Tested tested{};
  std::map<std::string, std::string> rules{};  ///< texts of the rules that the cases are about, as far as we have them
  std::map<std::string, CaseRecord> cases{};   ///< by their names
  std::vector<InstanceRecord> instances{};     ///< in the order of groups, cases and parameters
};

/// Makes the result of a run. Frames of instances that did not fail are dropped unless `keeps_all_frames`.
[[nodiscard]] RunResult make_result(Tested tested, const std::vector<Instance>& instances,
                                    std::vector<CaseOutcome> outcomes, bool keeps_all_frames);

/// Returns the command that runs an instance alone against the same device, quoted for a shell.
[[nodiscard]] std::string command_for(const Tested& tested, const std::string& instance);

}  // namespace roce::conform
