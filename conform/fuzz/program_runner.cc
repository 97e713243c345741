// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/program_runner.h"

#include <fmt/format.h>

#include <utility>

#include "conform/fuzz/signature.h"

namespace roce::conform::fuzz {

ProgramRunner::ProgramRunner(Bench& bench, QpNumber qp, std::string_view half) : bench_(bench), qp_(qp), half_(half) {
  result_.regions = bench.regions();
}

TargetResult<ProgramResult> ProgramRunner::run(const Program& program) {
  try {
    if (const TargetResult<void> done = run_actions(); !done) return tl::unexpected(done.error());
  } catch (const DeviceGone& gone) {
    raise(Oracle::gone, gone.what(), "no answer any more");
  }
  result_.program = program;
  result_.program.actions.clear();
  for (const Turn& turn : result_.turns) result_.program.actions.push_back(turn.action);
  return std::move(result_);
}

TargetResult<void> ProgramRunner::run_actions() {
  std::uint64_t before = 0;
  while (!has_alarm()) {
    std::optional<Action> action = next_action();
    if (!action) break;
    result_.turns.push_back({.action = std::move(*action)});
    Turn& turn = result_.turns.back();
    const unsigned state_before = state();
    result_.states.push_back(state_before);
    if (TargetResult<void> done = carry_out(turn); !done) return done;
    const std::optional<std::uint64_t> signature = signature_of(turn, state_before);
    if (!signature) continue;
    // The order of two signatures is worth knowing, too.
    result_.signatures.push_back(*signature);
    result_.signatures.push_back(mix(before, *signature));
    before = *signature;
  }
  if (!has_alarm()) check_end();
  result_.is_stopped = is_stopped();
  // Nothing is under way on a QP that is reset, and its receives are gone.
  return target().modify(qp_, {.state = transport::QpState::reset});
}

void ProgramRunner::raise(Oracle oracle, std::string what, std::string_view place) {
  if (has_alarm()) return;
  result_.alarm = Alarm{.oracle = oracle,
                        .action = result_.turns.empty() ? 0 : result_.turns.size() - 1,
                        .what = std::move(what),
                        .place = fmt::format("{}{}: {}", half_, to_string(oracle), place)};
}

}  // namespace roce::conform::fuzz
