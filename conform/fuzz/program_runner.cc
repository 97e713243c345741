// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/program_runner.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "conform/fuzz/action_shape.h"
#include "conform/fuzz/answer_match.h"
#include "conform/fuzz/request_frame.h"
#include "conform/target/device_frame.h"

namespace roce::conform::fuzz {

namespace {

constexpr std::uint32_t kReadBytes = 8;
// All that a peer may read was written: so many untouched bytes come from elsewhere.
constexpr std::ptrdiff_t kSecretBytes = 8;

bool is_explained_by_death(Oracle oracle) {
  return oracle == Oracle::answer || oracle == Oracle::completion || oracle == Oracle::state ||
         oracle == Oracle::liveness;
}

}  // namespace

ProgramRunner::ProgramRunner(Bench& bench, const Port& port, Gate::Reserved qp, Qpn peer, std::string_view half)
    : bench_(bench), port_(port), qp_(std::move(qp)), peer_(peer), half_(half) {
  result_.regions = bench.regions();
  result_.other_version = bench.other_port(port).version;
}

TargetResult<ProgramResult> ProgramRunner::run(const Program& program) {
  try {
    if (const TargetResult<void> done = run_actions(); !done) return tl::unexpected(done.error());
  } catch (const DeviceGone& gone) {
    // That says nothing about the device.
    if (gone.damage() == Damage::no_link) throw;
    // The death explains an answer that is missing or cut off.
    if (has_alarm() && is_explained_by_death(result_.alarm->oracle)) result_.alarm.reset();
    const Turn* last = result_.turns.empty() ? nullptr : &result_.turns.back();
    const auto* request = last == nullptr ? nullptr : std::get_if<Request>(&last->action);
    raise(Oracle::gone, fmt::format("{} ({})", gone.what(), to_string(gone.damage())),
          fmt::format("no answer any more{}{}", request == nullptr ? "" : " after ",
                      request == nullptr ? "" : opcode_info(request->opcode).name));
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
    if (bench_.gate().is_left_out(shape_of(*action))) continue;
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
  // Those that nobody takes would be the next program's.
  const std::vector<transport::EventType> events = take_events();
  if (!has_alarm()) check_events(events);
  result_.is_stopped = is_stopped();
  // Nothing is under way on a QP that is gone, and so are its receives.
  TargetResult<void> destroyed = let_go().and_then([&] { return target().destroy_qp(qp()); });
  // Nobody has waited for what the device does after the alarm.
  if (has_alarm()) (void)take_events();
  if (destroyed && !has_alarm()) check_clean_qp();
  check_counters();
  return destroyed;
}

std::vector<transport::EventType> ProgramRunner::take_events() {
  using enum transport::EventType;
  constexpr std::array of_qps{communication_established, sq_drained,      qp_fatal,
                              qp_request_error,          qp_access_error, last_wqe_reached};
  std::vector<transport::EventType> events;
  while (const std::optional<transport::EventType> event = target().poll_event()) {
    if (std::ranges::find(of_qps, *event) != of_qps.end()) events.push_back(*event);
  }
  return events;
}

void ProgramRunner::check_clean_qp() {
  DeviceModel& clean = bench_.clean();
  const std::vector<std::byte> frame =
      build_request({.opcode = Opcode::rc_read_request, .length = kReadBytes}, clean, bench_, target().port());
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const Behaviour behaviour = clean.judge(packet).front();
  // A frame that the wire lost is not what this is about.
  for (const Duration patience : {bench_.timing().quiet, bench_.timing().quiet, bench_.timing().answer}) {
    if (!bench_.gate().send(target(), frame, packet, clean.attributes().qpn)) return;
    ++result_.frames;
    while (const std::optional<Received> answer = receive(patience, clean.attributes().peer)) {
      if (!fits(behaviour, {answer->frame})) continue;
      clean.apply(behaviour);
      return;
    }
  }
  raise(Oracle::liveness, "a READ on another QP, which nothing happened to, is not answered as it has to be",
        "another QP");
}

void ProgramRunner::check_counters() {
  const auto deviation = bench_.counters().judge(target().counters(), received_);
  if (!deviation || has_alarm()) return;
  raise(Oracle::counters, deviation->what, deviation->place);
  result_.alarm->counter = deviation->counter;
  result_.alarm->counter_least = deviation->least;
}

std::optional<ProgramRunner::Received> ProgramRunner::receive(Duration patience, Qpn peer) {
  const bool is_wire = bench_.timing().late != Duration{};
  const Time until = target().now() + patience;
  while (std::optional<SeenFrame> frame = target().receive(until)) {
    ++result_.frames;
    ++received_;
    if (!std::ranges::search_n(frame->bytes, kSecretBytes, kUntouched).empty()) {
      raise(Oracle::secret,
            fmt::format("a frame has memory that nobody may read: {} and more bytes 0x{:02x}", kSecretBytes,
                        std::to_integer<unsigned>(kUntouched)),
            kinds_of({*frame}));
    }
    const Packet packet = parse_frame(frame->bytes, LinkType::ethernet);
    const Qpn qpn = packet.is_roce() ? packet.bth().dest_qp : peer;
    const bool is_late = is_wire && qpn != peer && (qpn == kQp1 || bench_.is_of_others(qpn));
    if (!is_late) return Received{std::move(*frame), packet};
  }
  return std::nullopt;
}

std::optional<Packet> ProgramRunner::send(Turn& turn) {
  const Packet packet = parse_frame(turn.frame, LinkType::ethernet);
  if (!bench_.gate().send(target(), turn.frame, packet, qp_.qpn())) {
    turn.frame.clear();
    return std::nullopt;
  }
  ++result_.frames;
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
