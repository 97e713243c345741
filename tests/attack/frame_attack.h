// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "control_line.h"
#include "peer_memory.h"
#include "shot.h"
#include "wire.h"

namespace roce::attack {

struct AttackOptions {
  std::string interface;
  std::string control;
  Route route;
  std::uint64_t seed = 1;
  std::uint64_t count = 1000;  ///< number of attacking frames
  std::chrono::seconds limit{600};
  bool self_check = false;  ///< break the promises on purpose, so that the judge has to find it
};

/// The results of the attacking frames of one kind.
struct Tally {
  std::uint64_t frames = 0;
  std::uint64_t executed = 0;
  std::uint64_t refused = 0;    ///< refused by the check at which they are aimed
  std::uint64_t otherwise = 0;  ///< refused by another check
  std::uint64_t silent = 0;
};

struct AttackReport {
  std::map<std::string_view, Tally> kinds;
  std::uint64_t frames = 0;  ///< attacking frames
  std::uint64_t legal_frames = 0;
  std::uint64_t warm_frames = 0;  ///< attacking and legal frames until the peer was warm; 0 if it never was
  std::uint64_t queue_pairs = 0;  ///< queue pairs made
  std::uint64_t requests = 0;     ///< requests of the control protocol
  std::uint64_t probes = 0;
  std::uint64_t bytes_compared = 0;
  std::uint64_t bytes_changed_outside = 0;
  std::uint64_t crashes = 0;
  std::uint64_t hangs = 0;
  std::chrono::microseconds slowest_probe{0};
  std::vector<std::string> findings;  ///< the first finding of each sort
};

/// Attacks a `roce-gen peer` with frames inside connections, round by round: each queue pair gets an attack, then all
/// are examined, and those that are in error are replaced.
class FrameAttack {
 public:
  explicit FrameAttack(AttackOptions options);
  [[nodiscard]] AttackReport run();

 private:
  /// The responses to one of our queue pairs since the round began.
  struct Heard {
    std::optional<Psn> acknowledged;
    std::optional<AethSyndrome> nak;
    std::uint32_t answers = 0;  ///< packets with the data of a READ or the value of an atomic
  };
  using Frames = std::vector<std::vector<std::byte>>;

  void make_targets();
  void replace(const std::vector<Target*>& targets);
  [[nodiscard]] std::vector<Target*> targets_of(bool requesters);
  void responder_round();
  void responder_round(const std::vector<const Kind*>& kinds);
  void requester_round();
  [[nodiscard]] const Kind& choose(std::span<const Kind* const> kinds, Role role);
  [[nodiscard]] Frames frames_of(const std::vector<Shot>& shots);
  void follow_up(std::vector<Shot>& shots);
  [[nodiscard]] bool waits(const Shot& shot) const;
  void probe();
  void answer_requests(const std::vector<Target*>& targets);
  void hear(const Packet& packet);
  [[nodiscard]] std::map<std::uint32_t, std::string> take_completions();

  /// Counters of the peer that rose since they were last asked for.
  struct Rise {
    std::vector<Counts> of_targets;
    Counts of_nobody;  ///< the rise that is not accounted for by the targets
  };
  [[nodiscard]] Rise ask_counters(const std::vector<Shot>& shots);
  [[nodiscard]] std::uint64_t refused_by_check(const Shot& shot, const Counts& risen, Rise& rise);
  void judge(Shot& shot, const Counts& risen, Rise& rise);
  void judge_answered(Shot& shot, const Counts& risen, Rise& rise, const std::string& status);
  void find(const Shot& shot, std::string_view what);
  void check_memory();
  void warm_up();
  void break_promises();

  AttackOptions options_;
  Wire wire_;
  ControlLine line_;
  ControlLine other_;
  PeerMemory memory_;
  std::deque<Target> targets_;
  Workshop shop_;
  AttackReport report_;
  std::vector<Heard> heard_;
  Target* prober_ = nullptr;
  bool probe_answered_ = false;
  Counts device_counters_;
  std::map<std::string, std::uint64_t> found_;
  std::uint32_t generation_ = 0;
};

}  // namespace roce::attack
