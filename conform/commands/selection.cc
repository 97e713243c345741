// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/selection.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdio>
#include <iterator>
#include <utility>

#include "conform/commands/own_cases.h"
#include "conform/language/device_profile.h"
#include "conform/language/read_case.h"

namespace roce::conform {

namespace {

bool is_selected(const Selection& selection, const Instance& instance) {
  return selection.only.empty() || fits_any(selection.only, instance);
}

}  // namespace

void add_selection(command_line::Command& command, Selection& selection) {
  command.add_option("CASES", selection.paths,
                     "Files NAME.yaml, or folders of them; without any, the cases that came with the program");
  command.add_option("--only", selection.only, "Only cases and instances of this name; * and ? stand for others")
      .type_name("PATTERN")
      .allow_extra_args(false);
  command.add_flag("--quick", selection.quick, "Only one instance of each case, the first that is selected");
}

Outcome<LoadedCases> load(const Selection& selection) {
  LoadedCases loaded;
  std::vector<std::string> paths = selection.paths;
  if (paths.empty()) {
    Outcome<std::string> own = find_own_cases();
    if (!own) return tl::unexpected(own.error());
    paths.push_back(std::move(*own));
  }
  for (const std::string& path : paths) {
    CaseResult<std::vector<Case>> cases = read_cases(path);
    if (!cases) return cannot(to_string(cases.error()));
    std::ranges::move(*cases, std::back_inserter(loaded.cases));
  }
  std::ranges::sort(loaded.cases, {}, [](const Case& one) { return std::pair{one.group(), one.id}; });
  const auto twice = std::ranges::adjacent_find(loaded.cases, {}, &Case::id);
  if (twice != loaded.cases.end()) {
    return cannot(
        fmt::format("{}: {} is in {} too", to_string(twice->place), twice->id, *std::next(twice)->place.file));
  }
  for (const Case& one : loaded.cases) {
    CaseResult<std::vector<Instance>> instances = expand(one);
    if (!instances) return cannot(to_string(instances.error()));
    std::ranges::copy_if(*instances, std::back_inserter(loaded.instances),
                         [&](const Instance& instance) { return is_selected(selection, instance); });
  }
  if (selection.quick) {
    const auto rest = std::ranges::unique(loaded.instances, {}, &Instance::of);
    loaded.instances.erase(rest.begin(), rest.end());
  }
  if (loaded.instances.empty()) {
    return cannot(fmt::format("--only: no case fits {}", fmt::join(selection.only, " or ")));
  }
  return loaded;
}

ExitCode report_failure(const Failure& failure) {
  fmt::print(stderr, "roce-conform: {}\n", failure.message);
  return failure.code;
}

}  // namespace roce::conform
