// SPDX-License-Identifier: BSD-2-Clause
#include "impair/picker.h"

#include <algorithm>

#include "roce/wire/aeth.h"
#include "roce/wire/bth.h"

namespace roce::impair {

namespace {

bool matches(const Rule& rule, const EditTarget& target, const Packet& packet, const Traits& traits) {
  const Match& match = rule.match;
  if (match.direction && *match.direction != traits.flow.direction) return false;
  if (!traits.is_roce) return match.any_frame && is_possible(rule.action, target, packet);
  if (match.dest_qp && *match.dest_qp != traits.flow.dest_qp) return false;
  if (match.transmission && !match.transmission->contains(traits.occurrence.transmission)) return false;
  if (match.psn) {
    if (traits.packet_class == PacketClass::cnp || !match.psn->contains(traits.occurrence.relative_psn)) return false;
  }
  if (match.absolute_psn) {
    const auto [first, last] = *match.absolute_psn;
    if (traits.packet_class == PacketClass::cnp ||
        (traits.psn - first.value()).value() > (last - first.value()).value()) {
      return false;
    }
  }
  const auto is_meant = [&](const OpcodeTerm& term) { return term.matches(traits.opcode, traits.syndrome); };
  if (!match.opcodes.empty() && std::ranges::none_of(match.opcodes, is_meant)) return false;
  return is_possible(rule.action, target, packet);
}

}  // namespace

Picker::Picker(std::span<const Rule> rules, std::uint64_t seed, const Limits& limits)
    : flows_(limits.flows, limits.psns_per_flow) {
  Random seeds{seed};
  for (const Rule& rule : rules) {
    // A seed is drawn for every rule, so that a rule with a seed of its own does not change the others.
    const std::uint64_t drawn = seeds.next();
    Memory memory{{}, Random{rule.seed.value_or(drawn)}};
    if (const auto* edit = std::get_if<Edit>(&rule.action)) memory.target = find_edit_target(edit->field);
    memories_.push_back(memory);
  }
  picks_.reserve(memories_.size());
}

Traits Picker::look_at(const Packet& packet, Direction direction) {
  Traits traits;
  traits.flow.direction = direction;
  traits.is_roce = packet.is_roce();
  if (!traits.is_roce) return traits;
  const Bth bth = packet.bth();
  const NetMeta net = packet.net();
  traits.flow = {direction, net.source, net.destination, bth.dest_qp};
  traits.opcode = bth.opcode;
  traits.psn = bth.psn;
  if (const auto aeth = packet.get<Aeth>()) traits.syndrome = aeth->syndrome;
  traits.packet_class = packet_class_of(bth.opcode, traits.syndrome);
  traits.occurrence = flows_.count(traits.flow, bth.psn, traits.packet_class, opcode_info(bth.opcode).is_response());
  return traits;
}

std::span<const Pick> Picker::pick(std::span<const Rule> rules, const Packet& packet, const Traits& traits) {
  picks_.clear();
  for (std::uint32_t i = 0; i < memories_.size(); ++i) {
    const Rule& rule = rules[i];
    Memory& memory = memories_[i];
    if (!matches(rule, memory.target, packet, traits)) continue;
    ++memory.matched;
    if (memory.matched <= rule.skip || (rule.count && memory.picked >= *rule.count)) continue;
    if (rule.probability < 1 && !memory.random.chance(rule.probability)) continue;
    ++memory.picked;
    picks_.push_back({i, memory.matched});
  }
  return picks_;
}

}  // namespace roce::impair
