// SPDX-License-Identifier: BSD-2-Clause
// Each conformance case has to fail on an endpoint that has a fault of its list `mutants`, and on no other.
//
// ROCE_CASES=FOLDER takes the cases from another folder. ROCE_MUTANTS=all runs every instance of every case with every
// fault, and prints which cases find which fault, and how many instances: for authors of cases, and for faults_page.py.
// ROCE_MUTANTS=NAME,NAME does so with these faults.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "conform/language/instance.h"
#include "conform/language/read_case.h"
#include "conform/run/case_run.h"
#include "conform/target/memory_target.h"
#include "planted_fault.h"
#include "roce/transport/profile.h"
#include "support/source_tree.h"

namespace roce::conform {
namespace {

struct LoadedCase {
  const Case* one = nullptr;
  std::vector<Instance> instances;
};

/// One case, run with one fault.
struct Trial {
  std::optional<std::size_t> fault;
  const LoadedCase* of = nullptr;
  std::size_t failed = 0;
  std::string first{};       ///< name of the first instance that failed
  std::string deviation{};   ///< what it said
  std::string wrong_case{};  ///< an instance could not be run
};

/// Returns the value of ROCE_MUTANTS; empty: only the faults that a case names.
std::string_view wish() {
  const char* const value = std::getenv("ROCE_MUTANTS");
  return value != nullptr ? value : "";
}

bool wants_all() {
  return !wish().empty();
}

/// True if every case is run with this fault, whether the case names it or not.
bool is_wanted(std::string_view fault) {
  std::string_view names = wish();
  if (names == "all") return true;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find(','), names.size());
    if (names.substr(0, end) == fault) return true;
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return false;
}

std::vector<Case> read_all_cases() {
  const char* folder = std::getenv("ROCE_CASES");
  CaseResult<std::vector<Case>> cases =
      read_cases(folder != nullptr ? folder : test::source_folder() + "/conform/cases");
  if (!cases) {
    ADD_FAILURE() << to_string(cases.error());
    return {};
  }
  std::ranges::sort(*cases, {}, &Case::id);
  return std::move(*cases);
}

std::vector<LoadedCase> expand_all(const std::vector<Case>& cases) {
  std::vector<LoadedCase> loaded;
  for (const Case& one : cases) {
    CaseResult<std::vector<Instance>> instances = expand(one);
    if (instances) {
      loaded.push_back({&one, std::move(*instances)});
    } else {
      ADD_FAILURE() << to_string(instances.error());
    }
  }
  return loaded;
}

/// Runs the instances of a case on the thread that calls it.
void run(Trial& trial) {
  constexpr std::uint64_t run_seed = 1;
  plant(trial.fault);
  for (const Instance& instance : trial.of->instances) {
    const std::uint64_t seed = instance.seed(run_seed);
    MemoryTarget target{transport::strict_profile(), seed};
    const CaseOutcome outcome = CaseRun{target, instance, seed, {}}.run();
    if (outcome.result == Result::error && trial.wrong_case.empty()) {
      trial.wrong_case = instance.name() + ": " + (outcome.failure ? outcome.failure->what : "");
    }
    if (outcome.result != Result::fail) continue;
    if (trial.failed++ != 0) continue;
    trial.first = instance.name();
    trial.deviation = fmt::format("line {}: {}", outcome.failure->place.line, outcome.failure->what);
    // One is enough: the fault is found.
    if (trial.fault && !wants_all()) break;
  }
  plant(std::nullopt);
}

void run_all(std::vector<Trial>& trials) {
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < trials.size(); i = next++) run(trials[i]);
  };
  std::vector<std::jthread> threads;
  for (unsigned i = 0; i < std::max(1U, std::thread::hardware_concurrency()); ++i) threads.emplace_back(work);
}

std::optional<std::size_t> find_fault(const std::string& name) {
  const auto found = std::ranges::find(fault_names(), name, &FaultName::name);
  if (found == fault_names().end()) return std::nullopt;
  return static_cast<std::size_t>(found - fault_names().begin());
}

/// Returns a trial for each fault in the list of a case; all pairs if they are wanted.
std::vector<Trial> trials_of(const std::vector<LoadedCase>& cases) {
  std::vector<Trial> trials;
  for (std::size_t fault = 0; fault < fault_names().size(); ++fault) {
    for (const LoadedCase& loaded : cases) {
      const bool is_named =
          std::ranges::find(loaded.one->mutants, fault_names()[fault].name) != loaded.one->mutants.end();
      if (wants_all() ? is_wanted(fault_names()[fault].name) : is_named)
        trials.push_back({.fault = fault, .of = &loaded});
    }
  }
  return trials;
}

void print_trial(const Trial& trial) {
  const std::string count = wants_all() ? fmt::format("{} of {}", trial.failed, trial.of->instances.size()) : "";
  fmt::print("{:<24} {:<28} {:<11} {}\n", fault_names()[*trial.fault].name, trial.of->one->id, count,
             trial.failed == 0 ? "" : trial.first + ", " + trial.deviation);
}

void print_list(std::string_view title, const std::vector<std::string_view>& names) {
  fmt::print("\n{}: {}{}\n", title, names.size(), names.empty() ? "" : fmt::format("\n  {}", fmt::join(names, "\n  ")));
}

TEST(Mutants, AnEndpointWithoutFaultsPasses) {
  const std::vector<Case> cases = read_all_cases();
  const std::vector<LoadedCase> loaded = expand_all(cases);
  std::vector<Trial> trials;
  for (const LoadedCase& one : loaded) trials.push_back({.fault = std::nullopt, .of = &one});
  run_all(trials);
  for (const Trial& trial : trials) {
    if (trial.of->one->level != Level::must) continue;
    EXPECT_EQ(trial.failed, 0U) << trial.first << ", " << trial.deviation;
    EXPECT_EQ(trial.wrong_case, "");
  }
}

TEST(Mutants, EachCaseFindsTheFaultsThatItNames) {
  const std::vector<Case> cases = read_all_cases();
  for (const Case& one : cases) {
    for (const std::string& name : one.mutants) {
      EXPECT_TRUE(find_fault(name)) << to_string(one.place) << ": " << name << " is in no faults.inc";
    }
  }
  const std::vector<LoadedCase> loaded = expand_all(cases);
  std::vector<Trial> trials = trials_of(loaded);
  run_all(trials);
  fmt::print("{:<24} {:<28} {:<11} {}\n", "fault", "case", wants_all() ? "fail" : "", "the first that fails");
  for (const Trial& trial : trials) {
    if (trial.failed != 0 || !wants_all()) print_trial(trial);
    if (wants_all()) continue;
    EXPECT_GT(trial.failed, 0U) << to_string(trial.of->one->place) << ": passes with the fault "
                                << fault_names()[*trial.fault].name << ": " << fault_names()[*trial.fault].sentence;
  }

  std::vector<std::string_view> left;
  for (std::size_t fault = 0; fault < fault_names().size(); ++fault) {
    if (wants_all() && !is_wanted(fault_names()[fault].name)) continue;
    const auto finds = [&](const Trial& trial) { return trial.fault == fault && trial.failed != 0; };
    if (std::ranges::none_of(trials, finds)) left.push_back(fault_names()[fault].name);
  }
  print_list("Faults that no case finds", left);
  std::vector<std::string_view> unproven;
  for (const Case& one : cases) {
    if (one.mutants.empty()) unproven.push_back(one.id);
  }
  print_list("Cases that name no fault", unproven);
}

}  // namespace
}  // namespace roce::conform
