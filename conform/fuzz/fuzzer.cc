// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/fuzzer.h"

#include <algorithm>
#include <utility>

#include "conform/fuzz/requester_generator.h"
#include "conform/fuzz/requester_run.h"
#include "conform/fuzz/signature.h"

namespace roce::conform::fuzz {

namespace {

// A new program comes as often as one that goes on from what is known.
constexpr std::uint64_t kNewOneIn = 2;
// A responder has more to do, and more to do wrong.
constexpr unsigned kPercentForRequester = 35;

}  // namespace

TargetResult<ProgramResult> fill_regions(Bench& bench) {
  Program program{.path_mtu = kFillBytes, .access = transport::Access::remote_write};
  for (const auto& [key, bytes] : {std::pair{Key::right, kRegionBytes}, std::pair{Key::lent, kLentBytes}}) {
    for (std::uint32_t i = 0; i < bytes / kFillBytes; ++i) {
      program.actions.emplace_back(Request{.opcode = Opcode::rc_write_only,
                                           .payload = kFillBytes,
                                           .seed = i + 1,
                                           .length = kFillBytes,
                                           .address = std::int64_t{i} * kFillBytes,
                                           .key = key});
    }
  }
  return run_program(bench, program);
}

TargetResult<ProgramResult> run_made_up(Bench& bench, const Program& from, Random& random) {
  if (from.is_for_requester) {
    RequesterGenerator source{random, from.actions};
    return run_requester(bench, from, [&](const RequesterModel& model) { return source.next(model); });
  }
  Generator source{random, from.actions};
  return run_program(bench, from, source);
}

Fuzzer::Fuzzer(TargetFactory make_target, const Settings& settings)
    : make_target_(std::move(make_target)),
      settings_(settings),
      random_(settings.seed),
      gate_(settings.frames_a_second) {}

TargetResult<ProgramResult> Fuzzer::prepare() {
  forget_device();
  target_ = make_target_(random_());
  TargetResult<Bench> bench = Bench::make(*target_, gate_, settings_.timing);
  if (!bench) return tl::unexpected(bench.error());
  bench_.emplace(std::move(*bench));
  look_around();
  return fill_regions(*bench_);
}

void Fuzzer::look_around() {
  using transport::QpType;
  variety_ = {};
  for (const QpType type : {QpType::uc, QpType::ud}) {
    if (bench_->port_of({.type = type}) != nullptr) variety_.other_types.push_back(type);
  }
  for (const RoceVersion version : kVersions) {
    const bool is_other = version != target_->port().version;
    if (is_other && bench_->port_of({.version = version}) != nullptr) variety_.other_versions.push_back(version);
  }
}

TargetResult<bool> Fuzzer::be_ready() {
  if (bench_ && bench_->programs_left() != 0) return false;
  TargetResult<ProgramResult> filled = prepare();
  if (!filled) return tl::unexpected(filled.error());
  if (!filled->alarm) return false;
  bench_.reset();
  return note(*filled);
}

TargetResult<bool> Fuzzer::step() {
  TargetResult<bool> is_new = be_ready();
  if (!is_new || !bench_) return is_new;
  TargetResult<ProgramResult> result = run_next();
  if (!result) return tl::unexpected(result.error());
  ++counts_.programs;
  counts_.frames += result->frames;
  if (!result->alarm) return false;
  drop_device();
  return note(*result);
}

TargetResult<ProgramResult> Fuzzer::run(const Program& program) {
  if (const TargetResult<bool> is_ready = be_ready(); !is_ready) return tl::unexpected(is_ready.error());
  if (!bench_) return tl::unexpected(std::string{"the device does not execute WRITEs as it has to"});
  TargetResult<ProgramResult> result = run_program(*bench_, program);
  if (!result || result->alarm) bench_.reset();
  return result;
}

TargetResult<ProgramResult> Fuzzer::run_next() {
  while (!untried_.empty()) {
    const Program program = std::move(untried_.front());
    untried_.pop_front();
    // Another device may have had what this one lacks.
    if (bench_->port_of(program) == nullptr) continue;
    TargetResult<ProgramResult> result = run_program(*bench_, program);
    if (result) learn(*result, true);
    return result;
  }
  Program program = new_program(random_, variety_);
  program.is_for_requester = happens(random_, kPercentForRequester);
  // Nothing is sent in other states.
  if (program.is_for_requester) program.state = transport::QpState::rts;
  if (!corpus_.empty() && random_() % kNewOneIn == 0) {
    const Program& known = corpus_[random_() % corpus_.size()];
    if (bench_->port_of(known) != nullptr) program = known;
  }
  TargetResult<ProgramResult> result = run_made_up(*bench_, program, random_);
  if (result) learn(*result, false);
  return result;
}

void Fuzzer::learn(const ProgramResult& result, bool is_known) {
  std::optional<std::size_t> last_new;
  bool has_new_pair = false;
  std::uint64_t before = 0;
  for (const Signature& signature : result.signatures) {
    if (known_.insert(signature.value).second) {
      signatures_.push_back(signature.value);
      last_new = signature.action;
    }
    // The order of two signatures is worth knowing, too.
    has_new_pair |= pairs_.insert(mix(before, signature.value)).second;
    before = signature.value;
  }
  const bool has_new_coverage = settings_.has_new_coverage && settings_.has_new_coverage();
  counts_.signatures = signatures_.size();
  for (const unsigned state : result.states) states_[state] = true;
  counts_.states = static_cast<std::uint64_t>(std::ranges::count(states_, true));
  if (result.alarm) return;
  if (last_new || has_new_pair || has_new_coverage) go_on_from(result.program);
  // Pairs come again by themselves, and are too many to keep a file for each.
  if (!last_new || is_known) return;
  kept_.push_back(result.program);
  kept_.back().actions.resize(*last_new + 1);
}

void Fuzzer::go_on_from(Program program) {
  if (!settings_.keeps_corpus) return;
  corpus_.push_back(std::move(program));
  counts_.corpus = corpus_.size();
}

void Fuzzer::remember(FuzzMemory memory) {
  random_.seed(mix(settings_.seed, memory.programs));
  counts_.programs = memory.programs;
  counts_.frames = memory.frames;
  signatures_ = std::move(memory.signatures);
  known_.insert(signatures_.begin(), signatures_.end());
  counts_.signatures = signatures_.size();
  for (const std::uint64_t state : memory.states) states_.at(state) = true;
  counts_.states = static_cast<std::uint64_t>(std::ranges::count(states_, true));
  findings_ = std::move(memory.findings);
}

std::vector<std::uint64_t> Fuzzer::states() const {
  std::vector<std::uint64_t> numbers;
  numbers.reserve(states_.size());
  for (std::size_t state = 0; state < states_.size(); ++state) {
    if (states_[state]) numbers.push_back(state);
  }
  return numbers;
}

bool Fuzzer::note(const ProgramResult& failed) {
  const auto known = std::ranges::find_if(
      findings_, [&](const Finding& one) { return one.result.alarm->place == failed.alarm->place; });
  if (known != findings_.end()) {
    ++known->times;
    return false;
  }
  findings_.push_back(examine(failed));
  return true;
}

Finding Fuzzer::examine(const ProgramResult& failed) {
  Finding finding{.result = failed};
  try {
    finding.result = minimise(
        failed, [this](const Program& program) { return run_alone(program); }, settings_.trials);
    for (; finding.repeats < settings_.repeats; ++finding.repeats) {
      const std::optional<ProgramResult> again = run_alone(finding.result.program);
      if (again && again->alarm && again->alarm->place == finding.result.alarm->place) ++finding.shown;
    }
  } catch (const DeviceGone&) {
    // A finding is worth keeping as it is so far; the next program finds out that the device is gone.
    bench_.reset();
  }
  return finding;
}

void Fuzzer::forget_device() {
  bench_.reset();
  target_.reset();
}

void Fuzzer::try_death_again() {
  if (findings_.empty()) return;
  Finding& newest = findings_.back();
  if (newest.result.alarm->oracle != Oracle::gone || newest.repeats != 0) return;
  const std::optional<ProgramResult> again = run_alone(newest.result.program);
  newest.repeats = 1;
  if (!again || !again->alarm) return;
  // It may have done wrong before it died.
  newest.shown = 1;
  newest.result = *again;
}

std::optional<ProgramResult> Fuzzer::run_alone(const Program& program) {
  const bool has_device = bench_ && settings_.keeps_device && bench_->programs_left() != 0;
  TargetResult<ProgramResult> result = has_device ? ProgramResult{} : prepare();
  if (result && !result->alarm) result = run_program(*bench_, program);
  if (!settings_.keeps_device || !result || result->alarm) drop_device();
  if (!result) return std::nullopt;
  return *result;
}

void Fuzzer::drop_device() {
  try {
    const bool is_intact = settings_.keeps_device && bench_ && !target_->find_difference(bench_->memory().bytes());
    if (!is_intact) bench_.reset();
  } catch (const DeviceGone&) {
    // The next program finds that out, and what was found is kept.
    bench_.reset();
  }
}

}  // namespace roce::conform::fuzz
