// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/fuzzer.h"

#include <algorithm>
#include <utility>

#include "conform/fuzz/action_shape.h"
#include "conform/fuzz/manager_generator.h"
#include "conform/fuzz/manager_run.h"
#include "conform/fuzz/requester_generator.h"
#include "conform/fuzz/requester_run.h"

namespace roce::conform::fuzz {

namespace {

// A responder has more to do, and more to do wrong.
constexpr unsigned kPercentForRequester = 35;
constexpr unsigned kPercentForManager = 6;
// So many times fewer runs are enough to see that a finding does not show again.
constexpr unsigned kFewerRepeats = 4;

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
  if (from.half == Half::manager) {
    ManagerGenerator source{random, from.actions};
    return run_manager(bench, from, [&](const ManagerModel& model) { return source.next(model); });
  }
  if (from.half == Half::requester) {
    RequesterGenerator source{random, from.actions};
    return run_requester(bench, from, [&](const RequesterModel& model) { return source.next(model); });
  }
  Generator source{random, from.actions};
  return run_program(bench, from, source);
}

Fuzzer::Fuzzer(TargetFactory make_target, const Settings& settings)
    : Fuzzer(std::move(make_target), settings, std::make_shared<Knowledge>(),
             std::make_shared<Gate>(settings.frames_a_second)) {}

Fuzzer::Fuzzer(TargetFactory make_target, const Settings& settings, std::shared_ptr<Knowledge> knowledge,
               std::shared_ptr<Gate> gate)
    : make_target_(std::move(make_target)),
      settings_(settings),
      random_(settings.seed),
      knowledge_(std::move(knowledge)),
      gate_(std::move(gate)) {}

TargetResult<ProgramResult> Fuzzer::prepare() {
  forget_device();
  target_ = make_target_(random_());
  TargetResult<Bench> bench = Bench::make(*target_, *gate_, settings_.timing);
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
  variety_.has_manager = target_->cm(target_->port().version) != nullptr;
  for (const RoceVersion version : kVersions) {
    const bool is_other = version != target_->port().version;
    if (is_other && bench_->port_of({.version = version}) != nullptr) variety_.other_versions.push_back(version);
  }
}

TargetResult<bool> Fuzzer::be_ready() {
  if (bench_ && bench_->has_room()) return false;
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
  while (const std::optional<Program> untried = knowledge_->take_untried()) {
    // Another device may have had what this one lacks.
    if (bench_->port_of(*untried) == nullptr) continue;
    TargetResult<ProgramResult> result = run_program(*bench_, *untried);
    if (result) learn(*result, {.is_known = true});
    return result;
  }
  Program program = new_program(random_, variety_);
  choose_half(program);
  bool goes_on = false;
  if (std::optional<Program> known = knowledge_->draw_known(random_)) {
    goes_on = bench_->port_of(*known) != nullptr;
    if (goes_on) program = *std::move(known);
  }
  TargetResult<ProgramResult> result = run_made_up(*bench_, program, random_);
  if (result) learn(*result, {.goes_on = goes_on});
  return result;
}

void Fuzzer::choose_half(Program& program) {
  const std::uint64_t percent = draw(random_, 100);
  if (percent < kPercentForRequester) {
    program.half = Half::requester;
  } else if (percent >= 100 - kPercentForManager && variety_.has_manager) {
    program.half = Half::manager;
    program.type = transport::QpType::rc;
    program.version = RoceVersion::none;
  }
  // Nothing is sent in other states, and a connection goes there by itself.
  if (program.half != Half::responder) program.state = transport::QpState::rts;
}

void Fuzzer::learn(const ProgramResult& result, Knowledge::Lesson lesson) {
  lesson.keeps_corpus = settings_.keeps_corpus;
  lesson.has_new_coverage = settings_.has_new_coverage && settings_.has_new_coverage();
  knowledge_->learn(result, lesson);
}

bool Fuzzer::note(const ProgramResult& failed) {
  const std::optional<std::size_t> number = knowledge_->claim(failed);
  if (number) knowledge_->settle(*number, examine(failed));
  return number.has_value();
}

Finding Fuzzer::examine(const ProgramResult& failed) {
  Finding finding{.result = failed};
  const auto repeat = [&] {
    const std::optional<ProgramResult> again = run_alone(finding.result.program);
    ++finding.repeats;
    const bool is_shown = again && again->alarm && again->alarm->place == finding.result.alarm->place;
    if (is_shown) ++finding.shown;
    return is_shown;
  };
  const auto is_over = [this] { return settings_.is_over && settings_.is_over(); };
  const auto run_trial = [&](const Program& program) {
    return is_over() ? std::optional<ProgramResult>{} : run_alone(program);
  };
  try {
    // Shorter programs say nothing about what a program shows that does not show it again.
    while (finding.repeats < settings_.repeats / kFewerRepeats && !repeat()) {
    }
    if (settings_.repeats >= kFewerRepeats && finding.shown == 0) return finding;
    finding.result = minimise(failed, run_trial, settings_.trials);
    finding.repeats = finding.shown = 0;
    while (finding.repeats < settings_.repeats && (finding.repeats == 0 || !is_over())) (void)repeat();
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

void Fuzzer::try_again(Knowledge::Suspect suspect) {
  std::optional<ProgramResult> again;
  try {
    again = run_alone(suspect.program);
  } catch (const DeviceGone&) {
    knowledge_->put_back(std::move(suspect));
    throw;
  }
  const bool is_dead = again && again->alarm && again->alarm->oracle == Oracle::gone;
  if (is_dead) leave_out_killer(*again);
  Finding finding = knowledge_->finding(suspect.finding);
  if (finding.repeats == 0) {
    finding.repeats = 1;
    finding.shown = is_dead ? 1 : 0;
    knowledge_->settle(suspect.finding, std::move(finding));
  }
  // It may do wrong before a device dies, or without.
  if (again && again->alarm && !is_dead) (void)note(*again);
}

void Fuzzer::leave_out_killer(const ProgramResult& death) {
  // A device that is dead notices nothing of what the program still does with it.
  const auto is_frame = [](const Turn& turn) {
    return std::holds_alternative<Request>(turn.action) || std::holds_alternative<Response>(turn.action);
  };
  const auto last = std::find_if(death.turns.rbegin(), death.turns.rend(), is_frame);
  if (last != death.turns.rend()) gate_->leave_out(shape_of(last->action));
}

std::optional<ProgramResult> Fuzzer::run_alone(const Program& program) {
  const bool has_device = bench_ && settings_.keeps_device && bench_->has_room();
  TargetResult<ProgramResult> result = has_device ? ProgramResult{} : prepare();
  if (result && !result->alarm) result = run_program(*bench_, program);
  if (!result) {
    // A window or a second QP of the program may still be there.
    bench_.reset();
    return std::nullopt;
  }
  if (!settings_.keeps_device || result->alarm) drop_device();
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
