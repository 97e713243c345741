// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/program_runner.h"

#include <fmt/format.h>

#include <utility>

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
  while (!has_alarm()) {
    std::optional<Action> action = next_action();
    if (!action) break;
    result_.turns.push_back({.action = std::move(*action)});
    Turn& turn = result_.turns.back();
    const unsigned state_before = state();
    result_.states.push_back(state_before);
    if (TargetResult<void> done = carry_out(turn); !done) return done;
    if (const auto signature = signature_of(turn, state_before)) {
      result_.signatures.push_back({.value = *signature, .action = result_.turns.size() - 1});
    }
  }
  if (!has_alarm()) check_end();
  result_.is_stopped = is_stopped();
  // Nothing is under way on a QP that is reset, and its receives are gone.
  return target().modify(qp_, {.state = transport::QpState::reset});
}

std::optional<Packet> ProgramRunner::send(Turn& turn) {
  if (!bench_.send(turn.frame)) {
    turn.frame.clear();
    return std::nullopt;
  }
  ++result_.frames;
  const Packet packet = parse_frame(turn.frame, LinkType::ethernet);
  bench_.monitor().take_sent(packet, target().now());
  return packet;
}

void ProgramRunner::raise(Oracle oracle, std::string what, std::string_view place) {
  if (has_alarm()) return;
  result_.alarm = Alarm{.oracle = oracle,
                        .action = result_.turns.empty() ? 0 : result_.turns.size() - 1,
                        .what = std::move(what),
                        .place = fmt::format("{}{}: {}", half_, to_string(oracle), place)};
}

}  // namespace roce::conform::fuzz
