// SPDX-License-Identifier: BSD-2-Clause
// Judges the attacks of a round by the counters and the answers of the peer.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <set>

#include "frame_attack.h"

namespace roce::attack {

namespace {

constexpr std::size_t kMostFindings = 40;

/// Counters that only attacks raise, also on queue pairs that are not their target.
constexpr std::array<std::string_view, 7> kAttacksOnly{
    "malformed", "unknown_qp", "q_key_violations", "wrong_state", "icrc_errors", "wrong_address", "p_key_violations"};
/// The counters that are known but do not tell that a frame was dropped.
const std::set<std::string_view> kOthers{"sent_packets",
                                         "sent_bytes",
                                         "received_packets",
                                         "received_bytes",
                                         "sends_posted",
                                         "sends_received",
                                         "write_requests",
                                         "read_requests",
                                         "atomic_requests",
                                         "duplicate_requests",
                                         "out_of_sequence",
                                         "out_of_buffer",
                                         "rnr_naks_sent",
                                         "acks_deferred",
                                         "local_length_errors",
                                         "responder_access_errors",
                                         "responder_cqe_errors",
                                         "responder_cqe_flushed",
                                         "rnr_naks_received",
                                         "sequence_naks_received",
                                         "implied_naks",
                                         "timeouts",
                                         "retransmitted_packets",
                                         "retries_exceeded",
                                         "rnr_retries_exceeded",
                                         "remote_access_errors",
                                         "remote_invalid_requests",
                                         "remote_operation_errors",
                                         "requester_cqe_errors",
                                         "requester_cqe_flushed",
                                         "ce_received",
                                         "cnps_sent",
                                         "cnps_handled",
                                         "cnps_ignored",
                                         "ghost_acks",
                                         "pfc_sent"};

[[nodiscard]] std::uint64_t value(const Counts& counters, std::string_view name) {
  const auto found = counters.find(name);
  return found == counters.end() ? 0 : found->second;
}

/// Returns the counters of an answer that are not 0.
[[nodiscard]] Counts counters_of(const nlohmann::json& answer) {
  Counts counters;
  for (const auto& [name, count] : answer.at("counters").items()) {
    if (const auto number = count.get<std::uint64_t>(); number != 0) counters.emplace(name, number);
  }
  return counters;
}

[[nodiscard]] Counts rise_of(const Counts& now, const Counts& before) {
  Counts risen;
  for (const auto& [name, count] : now) {
    if (const std::uint64_t more = count - value(before, name); more != 0) risen.emplace(name, more);
  }
  return risen;
}

}  // namespace

FrameAttack::Rise FrameAttack::ask_counters(const std::vector<Shot>& shots) {
  for (const Shot& shot : shots) line_.ask(fmt::format(R"({{"op":"counters","qp":{}}})", shot.target->qpn.value()));
  line_.ask(R"({"op":"counters"})");
  std::vector<nlohmann::json> answers = line_.answers();
  Rise rise;
  Counts device = counters_of(answers.back());
  for (const auto& [name, count] : rise_of(device, device_counters_)) {
    if (std::ranges::find(kAttacksOnly, name) != kAttacksOnly.end()) {
      rise.of_nobody[name] += count;
    } else if (!kOthers.contains(name)) {
      rise.of_nobody["*"] += count;
    }
  }
  device_counters_ = std::move(device);
  for (std::size_t i = 0; i < shots.size(); ++i) {
    Target& target = *shots[i].target;
    Counts now = counters_of(answers[i]);
    Counts risen = rise_of(now, target.counters);
    for (auto& [name, left] : rise.of_nobody) left -= std::min(left, value(risen, name));
    target.counters = std::move(now);
    rise.of_targets.push_back(std::move(risen));
  }
  return rise;
}

std::uint64_t FrameAttack::refused_by_check(const Shot& shot, const Counts& risen, Rise& rise) {
  const Aim& aim = shot.kind->aim;
  const Heard& heard = heard_[shot.target->index];
  if (aim.nak && heard.nak && heard.nak->nak_code() == aim.nak) return shot.attacks;
  std::uint64_t refused = 0;
  for (const std::string_view name : aim.counters) {
    if (name.empty()) break;
    refused = std::min<std::uint64_t>(shot.attacks, refused + value(risen, name));
    if (const auto nobody = rise.of_nobody.find(std::string{name}); nobody != rise.of_nobody.end()) {
      const std::uint64_t taken = std::min(shot.attacks - refused, nobody->second);
      nobody->second -= taken;
      refused += taken;
    }
  }
  return refused;
}

void FrameAttack::judge(Shot& shot, const Counts& risen, Rise& rise) {
  Target& target = *shot.target;
  Tally& tally = report_.kinds[shot.kind->name];
  tally.frames += shot.attacks;
  const Heard& heard = heard_[target.index];
  const std::uint64_t refused = refused_by_check(shot, risen, rise);
  tally.refused += refused;
  std::uint64_t left = shot.attacks - refused;
  const bool at_duplicates = shot.kind->aim.counters[0] == "duplicate_requests";
  std::uint32_t legal_answers = 0;
  for (const Shot::Frame& frame : shot.frames) {
    const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
    if (!frame.attacks && packet.is_roce() && packet.info().operation == Operation::read_request) ++legal_answers;
  }
  bool executed = false;
  switch (shot.kind->fate) {
    case Fate::may_execute:
      executed = target.role == Role::ud ? value(risen, "sends_received") != 0
                                         : heard.acknowledged && !shot.attack_psn->newer_than(*heard.acknowledged);
      if (executed) {
        tally.executed += left;
        left = 0;
        target.psn = *shot.attack_psn + 1;
        if (target.receives != 0) --target.receives;
      }
      break;
    case Fate::dropped:
      if (!at_duplicates && !shot.repeated && value(risen, "duplicate_requests") != 0) {
        find(shot, "a frame that has to be dropped was executed");
        executed = true;
      }
      if (waits(shot)) {
        find(shot, "the legal frame behind it was not acknowledged");
        target.fresh = false;
      }
      if (heard.answers > legal_answers) find(shot, "data, or an answer that stands for it, came back");
      break;
    case Fate::fatal:
    case Fate::silent_end:
      target.fresh = false;
      if (heard.answers > legal_answers) find(shot, "data, or an answer that stands for it, came back");
      if (refused == 0 && heard.acknowledged && !shot.attack_psn->newer_than(*heard.acknowledged)) {
        find(shot, "a frame that has to be refused was executed");
        executed = true;
      }
      break;
  }
  if (executed) {
    tally.executed += left;
    left = 0;
  } else if (heard.nak && heard.nak->kind() == AethKind::nak && heard.nak->nak_code() != NakCode::psn_sequence_error) {
    tally.otherwise += left;
    left = 0;
    if (shot.kind->fate == Fate::dropped || shot.kind->fate == Fate::may_execute) {
      find(shot, fmt::format("it was answered by NAK 0x{:02x}", heard.nak->value()));
    }
    target.fresh = false;
  }
  tally.silent += left;
  for (const Shot::Change& change : shot.changes) {
    if (change.when == Shot::When::if_executed && !executed) continue;
    std::ranges::copy(change.bytes, memory_.shadow(change.offset, change.bytes.size()).begin());
  }
  if (target.receives != 0) target.fresh = false;
}

void FrameAttack::find(const Shot& shot, std::string_view what) {
  const std::string sentence = fmt::format("{}: {}", shot.kind->name, what);
  if (++found_[sentence] > 1 || report_.findings.size() >= kMostFindings) return;
  std::string frame;
  for (const Shot::Frame& each : shot.frames) {
    if (!each.attacks) continue;
    for (const std::byte byte : each.bytes) frame += fmt::format("{:02x}", std::to_integer<unsigned>(byte));
    break;
  }
  report_.findings.push_back(fmt::format("{}; the first of its frames: {}", sentence, frame));
}

}  // namespace roce::attack
