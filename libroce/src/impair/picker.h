// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "impair/actions.h"
#include "impair/flow_table.h"
#include "impair/random.h"
#include "roce/impair/engine.h"

namespace roce::impair {

/// A rule that picks the current packet.
struct Pick {
  std::uint32_t rule;   ///< index
  std::uint64_t match;  ///< number of the packet among those that match the rule, from 1
};

/// The properties of a packet that rules and log records refer to.
struct Traits {
  std::optional<AethSyndrome> syndrome;
  bool is_roce = false;
  Flow flow;
  Opcode opcode{};
  PacketClass packet_class = PacketClass::other;
  Psn psn;
  Occurrence occurrence;
};

/// Decides which rules pick a packet, and keeps the state that this needs.
class Picker {
 public:
  Picker(std::span<const Rule> rules, std::uint64_t seed, const Limits& limits);

  /// Counts a packet in its flow, and returns its properties.
  Traits look_at(const Packet& packet, Direction direction);
  /// Returns the rules that pick the packet, in order; valid until the next call.
  std::span<const Pick> pick(std::span<const Rule> rules, const Packet& packet, const Traits& traits);

  [[nodiscard]] const EditTarget& edit_target(std::uint32_t rule) const { return memories_[rule].target; }
  [[nodiscard]] Random& random(std::uint32_t rule) { return memories_[rule].random; }
  [[nodiscard]] std::uint64_t flows_forgotten() const { return flows_.forgotten(); }

 private:
  /// The state of one rule.
  struct Memory {
    EditTarget target;
    Random random;
    std::uint64_t matched = 0;
    std::uint64_t picked = 0;
  };

  std::vector<Memory> memories_;
  std::vector<Pick> picks_;
  FlowTable flows_;
};

}  // namespace roce::impair
