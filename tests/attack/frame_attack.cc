// SPDX-License-Identifier: BSD-2-Clause
#include "frame_attack.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "progress.h"

namespace roce::attack {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kConnected = 128;
constexpr std::uint32_t kUnreliable = 24;
constexpr std::uint32_t kDatagram = 24;
constexpr std::uint32_t kRequesters = 48;
constexpr std::uint32_t kQueuePairs = kConnected + kUnreliable + kDatagram + kRequesters + 1;
constexpr unsigned kIndexBits = 9;
constexpr std::chrono::seconds kPatience{5};
constexpr unsigned kRoundsBetweenChecks = 24;
constexpr unsigned kRequesterRounds = 4;  // rounds, of which one is a requester round

[[nodiscard]] std::string_view type_of(Role role) {
  switch (role) {
    case Role::uc:
      return "uc";
    case Role::ud:
      return "ud";
    default:
      return "rc";
  }
}

}  // namespace

FrameAttack::FrameAttack(AttackOptions options)
    : options_(std::move(options)),
      wire_(options_.interface),
      line_(options_.control),
      other_(options_.control),
      memory_(line_, other_, ControlLine{options_.control}, kQueuePairs, options_.seed),
      shop_(options_.route, memory_, targets_, options_.seed),
      heard_(kQueuePairs) {
  make_targets();
}

void FrameAttack::make_targets() {
  const auto add = [&](Role role, std::uint32_t count) {
    for (std::uint32_t i = 0; i < count; ++i) {
      Target& target = targets_.emplace_back();
      target.role = role;
      target.index = static_cast<std::uint32_t>(targets_.size() - 1);
    }
  };
  add(Role::rc, kConnected);
  add(Role::uc, kUnreliable);
  add(Role::ud, kDatagram);
  add(Role::requester, kRequesters);
  add(Role::rc, 1);
  prober_ = &targets_.back();
  std::vector<Target*> all;
  for (Target& target : targets_) all.push_back(&target);
  replace(all);
}

void FrameAttack::replace(const std::vector<Target*>& targets) {
  if (targets.empty()) return;
  std::vector<std::size_t> created;
  for (const Target* target : targets) {
    if (target->qpn.value() != 0) line_.ask(fmt::format(R"({{"op":"destroy_qp","qp":{}}})", target->qpn.value()));
    created.push_back(line_.ask(
        fmt::format(R"({{"op":"create_qp","type":"{}","max_send":4,"max_receive":8}})", type_of(target->role))));
  }
  std::vector<nlohmann::json> answers = line_.answers();
  ++generation_;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    Target& target = *targets[i];
    const nlohmann::json& answer = answers[created[i]];
    if (!answer.value("ok", false)) throw std::runtime_error("the peer makes no queue pair: " + answer.dump());
    const std::uint32_t random = static_cast<std::uint32_t>(shop_.number());
    // Some PSNs are about to wrap around.
    target.psn = shop_.below(8) == 0 ? Psn{0xFF'FFF0 + (random & 0xF)} : Psn{random};
    target.qpn = Qpn{answer.at("qp").get<std::uint32_t>()};
    target.own = Qpn{(generation_ << kIndexBits | target.index) & 0x7F'FFFF};
    target.counters.clear();
    target.asked.reset();
    target.receives = 0;
    const bool requester = target.role == Role::requester;
    line_.ask(fmt::format(
        R"({{"op":"connect_qp","qp":{},"gid":"{}","remote_qp":{},"remote_psn":{},"psn":{},"path_mtu":{},"timeout":{}}})",
        target.qpn.value(), to_string(options_.route.own), target.own.value(), target.psn.value(), target.psn.value(),
        Workshop::kPathMtu, requester ? 18 : 14));
    ++report_.queue_pairs;
  }
  for (const nlohmann::json& answer : line_.answers()) {
    if (!answer.value("ok", false)) throw std::runtime_error("the peer does not connect: " + answer.dump());
  }
}

AttackReport FrameAttack::run() {
  const Clock::time_point end = Clock::now() + options_.limit;
  Progress progress{options_.count};
  try {
    probe();
    (void)ask_counters({});
    for (unsigned round = 0; report_.frames < options_.count && Clock::now() < end; ++round) {
      if (round % kRequesterRounds == kRequesterRounds - 1) {
        requester_round();
      } else {
        responder_round();
      }
      if (round % kRoundsBetweenChecks == kRoundsBetweenChecks - 1) check_memory();
      if (report_.warm_frames == 0) warm_up();
      progress.reached(report_.frames);
    }
    check_memory();
    if (options_.self_check) break_promises();
  } catch (const PeerLost& lost) {
    ++(lost.hang ? report_.hangs : report_.crashes);
    report_.findings.emplace_back(lost.what());
  }
  report_.requests = line_.requests();
  report_.bytes_compared = memory_.compared_bytes();
  if (report_.frames < options_.count && report_.crashes + report_.hangs == 0) {
    report_.findings.push_back(fmt::format("only {} frames went in {} s", report_.frames, options_.limit.count()));
  }
  return std::move(report_);
}

const Kind& FrameAttack::choose(std::span<const Kind* const> kinds, Role role) {
  std::uint64_t sum = 0;
  for (const Kind* kind : kinds) sum += kind->role == role ? kind->weight : 0;
  std::uint64_t place = shop_.below(sum);
  for (const Kind* kind : kinds) {
    if (kind->role != role) continue;
    if (place < kind->weight) return *kind;
    place -= kind->weight;
  }
  return *kinds.front();
}

std::vector<Target*> FrameAttack::targets_of(bool requesters) {
  std::vector<Target*> chosen;
  for (Target& target : targets_) {
    if (&target != prober_ && (target.role == Role::requester) == requesters) chosen.push_back(&target);
  }
  return chosen;
}

FrameAttack::Frames FrameAttack::frames_of(const std::vector<Shot>& shots) {
  Frames frames;
  for (const Shot& shot : shots) {
    for (const Shot::Frame& frame : shot.frames) {
      frames.push_back(frame.bytes);
      ++(frame.attacks ? report_.frames : report_.legal_frames);
    }
  }
  return frames;
}

void FrameAttack::responder_round() {
  std::vector<const Kind*> kinds;
  for (const std::span<const Kind> list : {connection_kinds(), network_kinds(), unconnected_kinds()}) {
    for (const Kind& kind : list) kinds.push_back(&kind);
  }
  responder_round(kinds);
}

void FrameAttack::responder_round(const std::vector<const Kind*>& kinds) {
  std::vector<Shot> shots;
  for (Target* target : targets_of(false)) {
    if (std::ranges::find(kinds, target->role, &Kind::role) == kinds.end()) continue;
    heard_[target->index] = {};
    const Kind& kind = choose(kinds, target->role);
    Shot& shot = shots.emplace_back();
    shot.kind = &kind;
    shot.target = target;
    kind.make(shop_, *target, shot);
    if (kind.fate == Fate::dropped && target->role == Role::rc) {
      Draft draft = shop_.write(*target, Opcode::rc_write_only, 16);
      shot.follow_up = draft.bth.psn;
      shop_.legal(shot, draft);
    }
    for (std::string& request : shot.requests) line_.ask(std::move(request));
  }
  for (const nlohmann::json& answer : line_.answers()) {
    if (!answer.value("ok", false)) throw std::runtime_error("the peer refused a receive: " + answer.dump());
  }
  const Frames frames = frames_of(shots);
  wire_.send(frames, [this](const Packet& packet) { hear(packet); });
  probe();
  follow_up(shots);
  Rise rise = ask_counters(shots);
  // Shots that few counters can show come first: the rise of counters without a queue pair is left to the others.
  for (const bool narrow : {true, false}) {
    for (std::size_t i = 0; i < shots.size(); ++i) {
      if ((shots[i].kind->aim.counters[2].empty()) == narrow) judge(shots[i], rise.of_targets[i], rise);
    }
  }
  (void)take_completions();
  std::vector<Target*> gone;
  for (Shot& shot : shots) {
    if (shot.target->fresh) continue;
    shot.target->fresh = true;
    gone.push_back(shot.target);
  }
  replace(gone);
}

/// Returns true if the legal frame after an attack has not been acknowledged.
bool FrameAttack::waits(const Shot& shot) const {
  const std::optional<Psn>& heard = heard_[shot.target->index].acknowledged;
  return shot.follow_up && (!heard || shot.follow_up->newer_than(*heard));
}

void FrameAttack::follow_up(std::vector<Shot>& shots) {
  // The peer holds an ACK back for some microseconds, so that it may come after the answer to the probe.
  for (unsigned i = 0; i < 50 && std::ranges::any_of(shots, [this](const Shot& shot) { return waits(shot); }); ++i) {
    wire_.receive(std::chrono::milliseconds{1}, [this](const Packet& packet) { hear(packet); });
  }
  // Frames may be lost when a queue of the peer's kernel is full, so they are sent once more.
  Frames again;
  for (Shot& shot : shots) {
    if (!waits(shot)) continue;
    shot.repeated = true;
    again.push_back(shot.frames.back().bytes);
  }
  if (again.empty()) return;
  wire_.send(again, [this](const Packet& packet) { hear(packet); });
  probe();
}

void FrameAttack::probe() {
  const Clock::time_point begun = Clock::now();
  probe_answered_ = false;
  ++report_.probes;
  const Frames frames{shop_.read(*prober_, 8).build()};
  while (!probe_answered_) {
    if (Clock::now() > begun + kPatience) throw PeerLost("a clean READ got no answer in 5 s", true);
    wire_.send(frames, [this](const Packet& packet) { hear(packet); });
    ++report_.legal_frames;
    for (unsigned i = 0; i < 200 && !probe_answered_; ++i) {
      wire_.receive(std::chrono::milliseconds{1}, [this](const Packet& packet) { hear(packet); });
    }
  }
  prober_->psn = prober_->psn + 1;
  report_.slowest_probe =
      std::max(report_.slowest_probe, std::chrono::duration_cast<std::chrono::microseconds>(Clock::now() - begun));
}

void FrameAttack::hear(const Packet& packet) {
  if (!packet.is_roce() || !packet.has_icrc()) return;
  const Bth bth = packet.bth();
  const std::uint32_t index = bth.dest_qp.value() & ((1U << kIndexBits) - 1);
  if (index >= targets_.size() || targets_[index].own != bth.dest_qp) return;
  Target& target = targets_[index];
  const OpcodeInfo& info = packet.info();
  Heard& heard = heard_[index];
  if (!info.is_response()) {
    if (target.role != Role::requester || bth.psn != target.psn) return;
    HeardRequest request{bth.opcode, bth.psn};
    if (info.operation == Operation::read_request) {
      request.dma_length = packet.get<Reth>()->dma_length;
      request.packets = std::max(1U, (request.dma_length + Workshop::kPathMtu - 1) / Workshop::kPathMtu);
    }
    target.asked = request;
    return;
  }
  const std::optional<Aeth> aeth = packet.get<Aeth>();
  if (info.operation != Operation::acknowledge) {
    ++heard.answers;
    if (&target == prober_ && bth.psn == target.psn) probe_answered_ = true;
  }
  if (!aeth) return;
  if (aeth->syndrome.kind() == AethKind::ack) {
    if (!heard.acknowledged || bth.psn.newer_than(*heard.acknowledged)) heard.acknowledged = bth.psn;
  } else {
    heard.nak = aeth->syndrome;
  }
}

std::map<std::uint32_t, std::string> FrameAttack::take_completions() {
  std::map<std::uint32_t, std::string> ended;
  for (;;) {
    const nlohmann::json answer = line_.call(R"({"op":"poll","max":4096})");
    const nlohmann::json& list = answer.at("completions");
    for (const nlohmann::json& completion : list) ended[completion.at("qp")] = completion.at("status");
    if (list.size() < 4096) return ended;
  }
}

/// Announces "warm" once the peer has used all of its memory: its ring of frames, and its largest answers.
void FrameAttack::warm_up() {
  constexpr std::uint64_t ring = 20'000;  // frames
  if (report_.frames + report_.legal_frames < ring) return;
  check_memory();
  report_.warm_frames = report_.frames + report_.legal_frames;
  Progress::tell("warm");
}

void FrameAttack::check_memory() {
  const PeerMemory::Wrong wrong = memory_.check(report_.findings);
  report_.bytes_changed_outside += wrong.outside;
}

}  // namespace roce::attack
