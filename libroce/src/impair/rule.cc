// SPDX-License-Identifier: BSD-2-Clause
#include "roce/impair/rule.h"

#include <array>

namespace roce::impair {

std::string_view action_name(std::size_t index) {
  static constexpr std::array<std::string_view, std::variant_size_v<Action>> kNames{
      "drop", "duplicate", "reorder", "delay", "corrupt", "mark_ce", "edit"};
  return index < kNames.size() ? kNames[index] : std::string_view{};
}

std::string_view to_string(Direction direction) {
  return direction == Direction::a_to_b ? "a_to_b" : "b_to_a";
}

std::string_view to_string(PacketClass packet_class) {
  static constexpr std::array<std::string_view, static_cast<std::size_t>(PacketClass::other) + 1> kNames{
      "any",          "request", "response", "send", "write", "read_request", "read_response", "atomic", "atomic_ack",
      "atomic_write", "flush",   "resync",   "ack",  "nak",   "rnr_nak",      "cnp",           "other"};
  const auto index = static_cast<std::size_t>(packet_class);
  return index < kNames.size() ? kNames[index] : std::string_view{};
}

PacketClass packet_class_of(Opcode opcode, std::optional<AethSyndrome> syndrome) {
  switch (opcode_info(opcode).operation) {
    case Operation::send:
      return PacketClass::send;
    case Operation::write:
      return PacketClass::write;
    case Operation::read_request:
      return PacketClass::read_request;
    case Operation::read_response:
      return PacketClass::read_response;
    case Operation::compare_swap:
    case Operation::fetch_add:
      return PacketClass::atomic;
    case Operation::atomic_acknowledge:
      return PacketClass::atomic_ack;
    case Operation::atomic_write:
      return PacketClass::atomic_write;
    case Operation::flush:
      return PacketClass::flush;
    case Operation::resync:
      return PacketClass::resync;
    case Operation::cnp:
      return PacketClass::cnp;
    case Operation::acknowledge:
      if (!syndrome) return PacketClass::other;
      switch (syndrome->kind()) {
        case AethKind::ack:
          return PacketClass::ack;
        case AethKind::nak:
          return PacketClass::nak;
        case AethKind::rnr_nak:
          return PacketClass::rnr_nak;
        case AethKind::reserved:
          return PacketClass::other;
      }
      return PacketClass::other;
    case Operation::unknown:
      return PacketClass::other;
  }
  return PacketClass::other;
}

bool OpcodeTerm::matches(Opcode packet, std::optional<AethSyndrome> syndrome) const {
  if (opcode) return packet == *opcode;
  const OpcodeInfo& info = opcode_info(packet);
  if (position) {
    // The other operations have one packet each, and "only" is not meant to match an acknowledgement.
    const bool has_position = info.operation == Operation::send || info.operation == Operation::write ||
                              info.operation == Operation::read_response;
    if (!has_position || info.position != *position) return false;
  }
  switch (packet_class) {
    case PacketClass::any:
      return true;
    case PacketClass::response:
      return info.is_response();
    case PacketClass::request:
      return info.operation != Operation::unknown && info.operation != Operation::cnp && !info.is_response();
    default:
      return packet_class_of(packet, syndrome) == packet_class;
  }
}

}  // namespace roce::impair
