// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/suite.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <utility>

#include "conform/language/device_profile.h"
#include "conform/run/clean_qp.h"

namespace roce::conform {

namespace {

constexpr std::uint32_t kMostUnexplained = 2;

/// Returns what the device lacks of what a case needs; empty if nothing.
std::string find_lack(const Case& one, const Target& target) {
  for (const std::string& need : one.needs) {
    if (!target.has(need)) return need;
  }
  return {};
}

/// Finds out how much of the device still works after nothing came. The target of the case has to be gone.
void look_after(CaseOutcome& outcome, const TargetFactory& make_target, std::uint64_t seed) {
  constexpr Duration patience = std::chrono::milliseconds{100};
  const std::unique_ptr<Target> target = make_target(seed);
  outcome.damage = serves_new_qp(*target, patience) ? Damage::one_qp : Damage::device_deaf;
  if (outcome.damage == Damage::device_deaf) outcome.result = Result::dead;
}

CaseOutcome run_one(const Instance& instance, const TargetFactory& make_target, const SuiteOptions& options) {
  const std::uint64_t seed = instance.seed(options.seed);
  if (fits_any(options.may_stop, instance)) {
    return {.result = Result::skip, .lacks = "leave to stop the device, which this may do"};
  }
  try {
    std::unique_ptr<Target> target = make_target(seed);
    if (std::string lack = find_lack(*instance.of, *target); !lack.empty()) {
      return {.result = Result::skip, .lacks = std::move(lack)};
    }
    CaseOutcome outcome = CaseRun{*target, instance, seed, options.timing}.run();
    target.reset();
    if (options.is_one_device && outcome.result == Result::fail && outcome.failure->is_silence) {
      look_after(outcome, make_target, seed);
    }
    return outcome;
  } catch (const DeviceLacks& lack) {
    return {.result = Result::skip, .lacks = lack.what()};
  } catch (const DeviceGone& gone) {
    return {.result = Result::dead, .failure = StepFailure{instance.of->place, gone.what()}, .damage = gone.damage()};
  }
}

/// A run of all instances, in rounds: each one takes those that have no verdict yet.
class SuiteRun {
 public:
  SuiteRun(const std::vector<Instance>& instances, const std::vector<TargetFactory>& factories,
           const SuiteOptions& options, const std::function<void(std::size_t)>& done)
      : instances_(instances),
        factories_(factories),
        options_(options),
        done_(done),
        outcomes_(instances.size(), CaseOutcome{.result = Result::not_run}),
        tries_(instances.size(), Tries{options.tries}),
        is_settled_(instances.size()) {}

  std::vector<CaseOutcome> run() {
    while (!is_over_ && !is_interrupted()) {
      const std::vector<std::size_t> together = open_ones(false);
      if (together.empty()) break;
      run_together(together);
      if (is_gone_) face_deaths();
    }
    for (const std::size_t i : open_ones(true)) {
      while (!is_over_ && is_settled_[i] == 0 && !is_interrupted()) {
        run_once(i, factories_.front(), true);
        if (is_gone_) face_deaths();
      }
    }
    if (is_interrupted()) settle_the_rest();
    return std::move(outcomes_);
  }

 private:
  /// An instance that was under way when the device died.
  struct Dead {
    std::size_t instance = 0;
    CaseOutcome outcome{};
  };

  /// Returns the instances without a verdict whose next try is alone, or the others.
  [[nodiscard]] std::vector<std::size_t> open_ones(bool alone) const {
    std::vector<std::size_t> found;
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      const bool is_serial = options_.is_one_device && instances_[i].of->runs_alone();
      if (is_settled_[i] == 0 && (is_serial || tries_[i].wants_alone()) == alone) found.push_back(i);
    }
    return found;
  }

  [[nodiscard]] bool is_interrupted() const { return options_.is_interrupted && options_.is_interrupted(); }

  /// Ends the instances without a verdict after an interruption.
  void settle_the_rest() {
    for (std::size_t i = 0; i < instances_.size(); ++i) {
      if (is_settled_[i] != 0) continue;
      if (tries_[i].has_failures()) {
        outcomes_[i] = tries_[i].verdict(instances_[i].of->place);
      } else {
        outcomes_[i].because = "the run was interrupted";
      }
    }
  }

  void run_together(const std::vector<std::size_t>& order) {
    std::vector<std::size_t> of_qp1;
    std::vector<std::size_t> others;
    for (const std::size_t i : order) {
      (options_.is_one_device && instances_[i].of->asks_qp1() ? of_qp1 : others).push_back(i);
    }
    std::atomic<std::size_t> next{0};
    const auto work = [&](const TargetFactory& make_target) {
      for (std::size_t i = next++; i < others.size() && !is_gone_ && !is_interrupted(); i = next++) {
        run_once(others[i], make_target, false);
      }
    };
    std::vector<std::jthread> threads;
    threads.reserve(factories_.size());
    for (std::size_t i = 1; i < std::min(factories_.size(), order.size()); ++i) {
      threads.emplace_back([&work, this, i] { work(factories_[i]); });
    }
    // Those of QP1 wait for timers most of the time, so one thread has them all, one after the other.
    for (const std::size_t i : of_qp1) {
      if (is_gone_ || is_interrupted()) break;
      run_once(i, factories_.front(), false);
    }
    work(factories_.front());
  }

  /// Runs an instance once more, and settles it if that gives it a verdict. No two threads have the same instance.
  void run_once(std::size_t i, const TargetFactory& make_target, bool is_alone) {
    CaseOutcome outcome = run_one(instances_[i], make_target, options_);
    if (outcome.result != Result::dead) {
      take(i, std::move(outcome), is_alone || factories_.size() == 1);
      return;
    }
    const std::lock_guard lock{reporting_};
    is_gone_ = true;
    dead_.push_back({i, std::move(outcome)});
  }

  void take(std::size_t i, CaseOutcome outcome, bool is_alone) {
    // Where frames are lost, a loss may look like it.
    const bool may_be_known = options_.is_known && !options_.tries.loses_frames;
    if (may_be_known && outcome.result == Result::fail && options_.is_known(instances_[i], outcome)) {
      settle(i, std::move(outcome));
      return;
    }
    tries_[i].add(std::move(outcome), is_alone);
    if (tries_[i].is_over()) settle(i, tries_[i].verdict(instances_[i].of->place));
  }

  /// Recovers the device and finds out which of the instances that were under way stops it. No instance runs meanwhile.
  void face_deaths() {
    std::vector<Dead> dead = std::exchange(dead_, {});
    std::ranges::sort(dead, {}, &Dead::instance);
    bool is_found = false;
    bool is_back = recover(dead);
    for (Dead& one : dead) {
      const std::size_t i = one.instance;
      if (!is_back) {
        settle(i, std::move(one.outcome));
        continue;
      }
      CaseOutcome again = run_one(instances_[i], factories_.front(), options_);
      tries_[i].add(std::move(one.outcome), factories_.size() == 1);
      if (again.result != Result::dead) {
        take(i, std::move(again), true);
        continue;
      }
      is_found = true;
      again.failure->what += "; it stops the device: twice of two";
      std::vector<Dead> killer;
      killer.push_back({i, std::move(again)});
      is_back = recover(killer);
      settle(i, std::move(killer.front().outcome));
    }
    unexplained_ = is_found ? 0 : unexplained_ + 1;
    is_over_ = !is_back || unexplained_ == kMostUnexplained;
    is_gone_ = is_over_;
  }

  /// Brings the device back. False if that is not possible; then the failures say why.
  bool recover(std::vector<Dead>& dead) {
    if (!options_.recover) return false;
    Death death{.damage = dead.front().outcome.damage, .what = dead.front().outcome.failure->what};
    for (const Dead& one : dead) death.instances.push_back(instances_[one.instance].name());
    const TargetResult<void> done = options_.recover(death);
    if (done) return true;
    for (Dead& one : dead) one.outcome.failure->what += fmt::format("; the recovery failed: {}", done.error());
    return false;
  }

  void settle(std::size_t i, CaseOutcome outcome) {
    outcomes_[i] = std::move(outcome);
    is_settled_[i] = 1;
    const std::lock_guard lock{reporting_};
    done_(i);
  }

  const std::vector<Instance>& instances_;
  const std::vector<TargetFactory>& factories_;
  const SuiteOptions& options_;
  const std::function<void(std::size_t)>& done_;
  std::vector<CaseOutcome> outcomes_;
  std::vector<Tries> tries_;
  std::vector<char> is_settled_;      ///< of each instance; not bool, which several threads could not write
  std::atomic<bool> is_gone_{false};  ///< the device stopped answering; no thread begins anything
  std::vector<Dead> dead_;
  std::uint32_t unexplained_ = 0;  ///< deaths in a row that no instance repeated
  bool is_over_ = false;           ///< the device is gone for good
  std::mutex reporting_;
};

}  // namespace

std::vector<CaseOutcome> run_suite(const std::vector<Instance>& instances, const std::vector<TargetFactory>& factories,
                                   const SuiteOptions& options, const std::function<void(std::size_t)>& done) {
  return SuiteRun{instances, factories, options, done}.run();
}

}  // namespace roce::conform
