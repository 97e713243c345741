// SPDX-License-Identifier: BSD-2-Clause
// The rounds in which the peer sends requests and gets wrong responses.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "frame_attack.h"

namespace roce::attack {

namespace {

using Clock = std::chrono::steady_clock;

/// Returns a request for the peer to send, as a line of the control protocol. Nothing checks its address at our end.
[[nodiscard]] std::string request_of(Workshop& shop, const Target& target) {
  struct Choice {
    std::string_view opcode;
    std::uint32_t length;
  };
  const auto some = static_cast<std::uint32_t>(1 + shop.below(Workshop::kPathMtu));
  const Choice choice = shop.any_of<Choice>({{"read", static_cast<std::uint32_t>(1 + shop.below(1024))},
                                             {"read", Workshop::kPathMtu},
                                             {"send", some},
                                             {"write", some},
                                             {"fetch_add", 8},
                                             {"compare_swap", 8},
                                             {"atomic_write", 8},
                                             {"flush", 0}});
  std::string request = fmt::format(R"({{"op":"post_send","qp":{},"opcode":"{}","remote_address":4096,"r_key":1)",
                                    target.qpn.value(), choice.opcode);
  if (choice.length != 0) {
    request += fmt::format(R"(,"memory":{},"offset":{},"length":{})", shop.memory().local.memory,
                           target.index * PeerMemory::kSlot + PeerMemory::kBufferOffset, choice.length);
  } else {
    request += R"(,"flush_length":64)";
  }
  return request + "}";
}

}  // namespace

void FrameAttack::requester_round() {
  const std::vector<Target*> targets = targets_of(true);
  for (Target* target : targets) {
    heard_[target->index] = {};
    target->asked.reset();
    line_.ask(request_of(shop_, *target));
  }
  for (const nlohmann::json& answer : line_.answers()) {
    if (!answer.value("ok", false)) throw std::runtime_error("the peer refused a request: " + answer.dump());
  }
  const Clock::time_point end = Clock::now() + std::chrono::seconds{5};
  while (!std::ranges::all_of(targets, [](const Target* target) { return target->asked.has_value(); })) {
    if (Clock::now() > end) throw PeerLost("the peer did not send a request that was posted in 5 s", true);
    wire_.receive(std::chrono::milliseconds{1}, [this](const Packet& packet) { hear(packet); });
  }
  std::vector<const Kind*> kinds;
  for (const Kind& kind : response_kinds()) kinds.push_back(&kind);
  std::vector<Shot> shots;
  for (Target* target : targets) {
    Shot& shot = shots.emplace_back();
    shot.kind = &choose(kinds, Role::requester);
    shot.target = target;
    shot.kind->make(shop_, *target, shot);
  }
  const Frames frames = frames_of(shots);
  wire_.send(frames, [this](const Packet& packet) { hear(packet); });
  probe();
  answer_requests(targets);
  probe();
  Rise rise = ask_counters(shots);
  const std::map<std::uint32_t, std::string> ended = take_completions();
  std::vector<Target*> gone;
  for (std::size_t i = 0; i < shots.size(); ++i) {
    Target& target = *shots[i].target;
    const auto found = ended.find(target.qpn.value());
    judge_answered(shots[i], rise.of_targets[i], rise, found == ended.end() ? std::string{} : found->second);
    if (found != ended.end() && found->second == "success") {
      target.psn = target.asked->psn + target.asked->packets;
    } else {
      gone.push_back(&target);
    }
  }
  replace(gone);
}

/// Sends all of the right responses.
void FrameAttack::answer_requests(const std::vector<Target*>& targets) {
  Frames frames;
  for (const Target* target : targets) {
    const HeardRequest& asked = *target->asked;
    const Operation operation = opcode_info(asked.opcode).operation;
    const auto add = [&](Opcode opcode, Psn psn, std::size_t length) {
      Draft draft{options_.route, opcode, target->qpn, psn};
      const OpcodeInfo& info = opcode_info(opcode);
      if (info.position != Position::middle) draft.aeth = Aeth{AethSyndrome::ack(), Msn{1}};
      if (info.operation == Operation::atomic_acknowledge) draft.atomic_ack = AtomicAckEth{1};
      draft.payload = shop_.bytes(length);
      frames.push_back(draft.build());
    };
    if (operation == Operation::read_request) {
      for (std::uint32_t i = 0; i < asked.packets; ++i) {
        const bool last = i + 1 == asked.packets;
        const Opcode inner = last ? Opcode::rc_read_response_last : Opcode::rc_read_response_middle;
        const Opcode outer = last ? Opcode::rc_read_response_only : Opcode::rc_read_response_first;
        add(i == 0 ? outer : inner, asked.psn + i,
            last ? asked.dma_length - i * Workshop::kPathMtu : Workshop::kPathMtu);
      }
    } else if (operation == Operation::fetch_add || operation == Operation::compare_swap) {
      add(Opcode::rc_atomic_acknowledge, asked.psn, 0);
    } else if (operation == Operation::flush || operation == Operation::atomic_write) {
      add(Opcode::rc_read_response_only, asked.psn, 0);
    } else {
      add(Opcode::rc_acknowledge, asked.psn, 0);
    }
  }
  report_.legal_frames += frames.size();
  wire_.send(frames, [this](const Packet& packet) { hear(packet); });
}

void FrameAttack::judge_answered(Shot& shot, const Counts& risen, Rise& rise, const std::string& status) {
  Tally& tally = report_.kinds[shot.kind->name];
  tally.frames += shot.attacks;
  const std::uint64_t refused = refused_by_check(shot, risen, rise);
  tally.refused += refused;
  const std::uint64_t left = shot.attacks - refused;
  switch (shot.kind->fate) {
    case Fate::may_execute:
      (status == "success" ? tally.executed : tally.silent) += left;
      return;
    case Fate::dropped:
      tally.silent += left;
      if (status != "success") {
        find(shot, fmt::format("the right answer behind it came to nothing: {}", status.empty() ? "no end" : status));
      }
      return;
    default:
      tally.silent += left;
      if (status == "success") find(shot, "a wrong answer was taken for a right one");
      return;
  }
}

}  // namespace roce::attack
