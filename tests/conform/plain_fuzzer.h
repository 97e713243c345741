// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/draw.h"
#include "conform/fuzz/gate.h"
#include "conform/fuzz/program_run.h"
#include "conform/run/suite.h"

namespace roce::conform::fuzz {

/// The ways of a fuzzer that knows less than ours, for a comparison with the same judges.
enum class Plainness : std::uint8_t {
  flips,    ///< conversations as captured, with bits flipped
  replay,   ///< the same with the ICRC repaired
  grammar,  ///< requests and responses of the protocol's form, whatever the state
};

/// A fuzzer that does not look at what the device has to know. Conversations that it replays are right ones, with a new
/// QP's number and PSNs; those are counted from the first one, whatever becomes of a packet.
class PlainFuzzer {
 public:
  PlainFuzzer(TargetFactory make_target, Plainness plainness, std::uint64_t seed);
  PlainFuzzer(const PlainFuzzer&) = delete;
  PlainFuzzer& operator=(const PlainFuzzer&) = delete;
  ~PlainFuzzer();

  /// Runs a program; returns the alarm that it raised. Throws std::runtime_error if the device refuses a verb.
  [[nodiscard]] std::optional<Alarm> step();
  [[nodiscard]] std::uint64_t frames() const { return frames_; }

 private:
  void prepare();
  [[nodiscard]] ProgramResult run();

  TargetFactory make_target_;
  Plainness plainness_;
  Random random_;
  Gate gate_{0};
  std::unique_ptr<Target> target_;
  std::optional<Bench> bench_;
  std::vector<Program> captured_;
  std::uint64_t frames_ = 0;
};

}  // namespace roce::conform::fuzz
