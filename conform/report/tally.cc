// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/tally.h"

#include <algorithm>

namespace roce::conform {

namespace {

bool is_failure(const Try& run) {
  return run.result == Result::fail || run.result == Result::error;
}

}  // namespace

void Tally::add(const InstanceRecord& instance) {
  switch (instance.outcome.result) {
    case Result::pass:
      ++passed;
      passed_later += std::ranges::any_of(instance.outcome.tries, is_failure) ? 1 : 0;
      return;
    case Result::fail:
      ++(instance.level == Level::must ? failed : deviating);
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
      open += instance.level == Level::must ? 1 : 0;
      return;
    case Result::dead:
    case Result::not_run:
      ++lost;
      return;
  }
}

std::string_view part_of(const InstanceRecord& instance) {
  Tally one;
  one.add(instance);
  const auto part = std::ranges::find_if(kTallyParts, [&one](const TallyPart& each) { return one.*each.number != 0; });
  return part == kTallyParts.end() ? std::string_view{} : part->name;
}

Tally count_all(const RunResult& result) {
  Tally all;
  for (const InstanceRecord& instance : result.instances) all.add(instance);
  return all;
}

std::map<std::string, Tally> count_groups(const RunResult& result) {
  std::map<std::string, Tally> groups;
  for (const InstanceRecord& instance : result.instances) groups[instance.group()].add(instance);
  return groups;
}

}  // namespace roce::conform
