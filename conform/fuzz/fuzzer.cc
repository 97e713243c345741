// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/fuzzer.h"

#include <algorithm>
#include <utility>

#include "conform/fuzz/requester_generator.h"
#include "conform/fuzz/requester_run.h"

namespace roce::conform::fuzz {

namespace {

// A new program comes as often as one that goes on from what is known.
constexpr std::uint64_t kNewOneIn = 2;
// A responder has more to do, and more to do wrong.
constexpr unsigned kPercentForRequester = 35;

/// Fills the region that the peer may use, so that a READ of the wrong place shows.
TargetResult<ProgramResult> fill(Bench& bench) {
  Program program{.path_mtu = kFillBytes, .access = transport::Access::remote_write};
  for (std::uint32_t i = 0; i < kRegionBytes / kFillBytes; ++i) {
    program.actions.emplace_back(Request{.opcode = Opcode::rc_write_only,
                                         .payload = kFillBytes,
                                         .seed = i + 1,
                                         .length = kFillBytes,
                                         .address = std::int64_t{i} * kFillBytes});
  }
  return run_program(bench, program);
}

}  // namespace

Fuzzer::Fuzzer(TargetFactory make_target, const Timing& timing, std::uint64_t seed)
    : make_target_(std::move(make_target)), timing_(timing), random_(seed) {}

TargetResult<ProgramResult> Fuzzer::prepare() {
  bench_.reset();
  target_ = make_target_(random_());
  TargetResult<Bench> bench = Bench::make(*target_, timing_);
  if (!bench) return tl::unexpected(bench.error());
  bench_.emplace(std::move(*bench));
  return fill(*bench_);
}

TargetResult<bool> Fuzzer::step() {
  if (!bench_ || bench_->programs_left() == 0) {
    TargetResult<ProgramResult> filled = prepare();
    if (!filled) return tl::unexpected(filled.error());
    if (filled->alarm) {
      bench_.reset();
      return note(std::move(*filled));
    }
  }
  Program program = new_program(random_);
  program.is_for_requester = happens(random_, kPercentForRequester);
  std::vector<Action> begin;
  if (!corpus_.empty() && random_() % kNewOneIn == 0) {
    program = corpus_[random_() % corpus_.size()];
    begin = std::move(program.actions);
    program.actions.clear();
  }
  TargetResult<ProgramResult> result = run_new(program, std::move(begin));
  if (!result) return tl::unexpected(result.error());
  ++counts_.programs;
  counts_.frames += result->frames;
  learn(*result);
  if (!result->alarm) return false;
  // A device that did wrong may have changed more than was looked at.
  bench_.reset();
  return note(std::move(*result));
}

TargetResult<ProgramResult> Fuzzer::run_new(const Program& program, std::vector<Action> begin) {
  if (program.is_for_requester) {
    RequesterGenerator source{random_, std::move(begin)};
    return run_requester(*bench_, program, [&](const RequesterModel& model) { return source.next(model); });
  }
  Generator source{random_, std::move(begin)};
  return run_program(*bench_, program, source);
}

void Fuzzer::learn(const ProgramResult& result) {
  bool is_new = false;
  for (const std::uint64_t signature : result.signatures) is_new |= signatures_.insert(signature).second;
  counts_.signatures = signatures_.size();
  for (const unsigned state : result.states) states_[state] = true;
  counts_.states = static_cast<std::uint64_t>(std::ranges::count(states_, true));
  if (!is_new || result.alarm) return;
  corpus_.push_back(result.program);
  counts_.corpus = corpus_.size();
}

bool Fuzzer::note(ProgramResult failed) {
  const auto known = std::ranges::find_if(
      findings_, [&](const Finding& one) { return one.result.alarm->place == failed.alarm->place; });
  if (known != findings_.end()) {
    ++known->times;
    return false;
  }
  findings_.push_back({minimise(failed, [this](const Program& program) { return run_alone(program); })});
  return true;
}

std::optional<ProgramResult> Fuzzer::run_alone(const Program& program) {
  TargetResult<ProgramResult> result = prepare();
  if (result && !result->alarm) result = run_program(*bench_, program);
  bench_.reset();
  if (!result) return std::nullopt;
  return *result;
}

}  // namespace roce::conform::fuzz
