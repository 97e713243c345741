// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/knowledge.h"

#include <algorithm>
#include <utility>

#include "conform/fuzz/signature.h"

namespace roce::conform::fuzz {

namespace {

// Fresh programs and those that go on from a known one: what showed less that is new lately still has one of eight.
constexpr std::uint64_t kOtherOneIn = 8;
// The weight of one program in what is remembered of its source.
constexpr double kWeight = 1.0 / 256;

}  // namespace

void Knowledge::learn(const ProgramResult& result, const Lesson& lesson) {
  const std::lock_guard lock{mutex_};
  ++counts_.programs;
  counts_.frames += result.frames;
  std::optional<std::size_t> last_new;
  const std::size_t before = signatures_.size();
  for (const Signature& signature : result.signatures) {
    if (known_.insert(signature.value).second) {
      signatures_.push_back(signature.value);
      last_new = signature.action;
    }
  }
  if (!lesson.is_known) {
    double& shown = lesson.goes_on ? new_in_known_ : new_in_fresh_;
    shown += (static_cast<double>(signatures_.size() - before) - shown) * kWeight;
  }
  for (const unsigned state : result.states) states_[state] = true;
  if (result.alarm) return;
  if (lesson.keeps_corpus && lesson.has_new_coverage) corpus_.push_back(result.program);
  if (!last_new) return;
  Program up_to_new = result.program;
  up_to_new.actions.resize(*last_new + 1);
  if (lesson.keeps_corpus && !lesson.has_new_coverage) corpus_.push_back(up_to_new);
  if (!lesson.is_known) kept_.push_back(std::move(up_to_new));
}

std::optional<std::size_t> Knowledge::claim(const ProgramResult& failed) {
  const std::lock_guard lock{mutex_};
  const auto known = std::ranges::find_if(
      findings_, [&](const Finding& one) { return one.result.alarm->place == failed.alarm->place; });
  if (failed.alarm->oracle == Oracle::gone) {
    suspects_.push_back({.finding = static_cast<std::size_t>(known - findings_.begin()), .program = failed.program});
  }
  if (known != findings_.end()) {
    ++known->times;
    return std::nullopt;
  }
  findings_.push_back({.result = failed});
  claimed_.insert(findings_.size() - 1);
  return findings_.size() - 1;
}

void Knowledge::settle(std::size_t number, Finding examined) {
  const std::lock_guard lock{mutex_};
  Finding& finding = findings_.at(number);
  // It may have been seen again meanwhile.
  examined.times = finding.times;
  finding = std::move(examined);
  claimed_.erase(number);
  settled_.push_back(number);
}

std::optional<Knowledge::Suspect> Knowledge::take_suspect() {
  const std::lock_guard lock{mutex_};
  if (suspects_.empty()) return std::nullopt;
  Suspect suspect = std::move(suspects_.front());
  suspects_.pop_front();
  return suspect;
}

void Knowledge::put_back(Suspect suspect) {
  const std::lock_guard lock{mutex_};
  suspects_.push_front(std::move(suspect));
}

Finding Knowledge::finding(std::size_t number) const {
  const std::lock_guard lock{mutex_};
  return findings_.at(number);
}

void Knowledge::try_first(Program program) {
  const std::lock_guard lock{mutex_};
  untried_.push_back(std::move(program));
}

std::optional<Program> Knowledge::take_untried() {
  const std::lock_guard lock{mutex_};
  if (untried_.empty()) return std::nullopt;
  Program program = std::move(untried_.front());
  untried_.pop_front();
  return program;
}

void Knowledge::go_on_from(Program program) {
  const std::lock_guard lock{mutex_};
  corpus_.push_back(std::move(program));
}

std::optional<Program> Knowledge::draw_known(Random& random) const {
  const std::lock_guard lock{mutex_};
  const bool is_other = random() % kOtherOneIn == 0;
  const bool goes_on = (new_in_known_ > new_in_fresh_) != is_other;
  if (corpus_.empty() || !goes_on) return std::nullopt;
  return corpus_[random() % corpus_.size()];
}

void Knowledge::remember(FuzzMemory memory) {
  const std::lock_guard lock{mutex_};
  counts_.programs = memory.programs;
  counts_.frames = memory.frames;
  signatures_ = std::move(memory.signatures);
  known_.insert(signatures_.begin(), signatures_.end());
  for (const std::uint64_t state : memory.states) states_.at(state) = true;
  findings_ = std::move(memory.findings);
}

FuzzMemory Knowledge::memory() const {
  const std::lock_guard lock{mutex_};
  FuzzMemory memory{.programs = counts_.programs, .frames = counts_.frames, .signatures = signatures_};
  for (std::size_t state = 0; state < states_.size(); ++state) {
    if (states_[state]) memory.states.push_back(state);
  }
  for (std::size_t i = 0; i < findings_.size(); ++i) {
    if (!claimed_.contains(i)) memory.findings.push_back(findings_[i]);
  }
  return memory;
}

FuzzCounts Knowledge::counts() const {
  const std::lock_guard lock{mutex_};
  FuzzCounts counts = counts_;
  counts.signatures = signatures_.size();
  counts.corpus = corpus_.size();
  counts.findings = findings_.size();
  counts.states = static_cast<std::uint64_t>(std::ranges::count(states_, true));
  return counts;
}

std::vector<Program> Knowledge::take_kept() {
  const std::lock_guard lock{mutex_};
  return std::exchange(kept_, {});
}

std::vector<Finding> Knowledge::take_settled() {
  const std::lock_guard lock{mutex_};
  std::vector<Finding> findings;
  for (const std::size_t number : std::exchange(settled_, {})) findings.push_back(findings_[number]);
  return findings;
}

}  // namespace roce::conform::fuzz
