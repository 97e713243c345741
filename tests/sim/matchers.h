// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <ostream>

#include "roce/transport/verbs.h"
#include "roce/wire/aeth.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "sim/network.h"

namespace roce::sim {

/// Prints a frame in the messages of failed expectations.
inline void PrintTo(const TraceFrame& frame, std::ostream* out) {
  *out << frame.from << " > " << frame.to << ' ' << describe(frame.bytes);
}

/// Matches a frame with this opcode and PSN.
MATCHER_P2(IsBth, opcode, psn, "") {
  const Packet packet = parse_frame(arg.bytes, LinkType::ethernet);
  return packet.is_roce() && packet.opcode() == opcode && packet.bth().psn == Psn{static_cast<std::uint32_t>(psn)};
}

MATCHER_P(IsOpcode, opcode, "") {
  const Packet packet = parse_frame(arg.bytes, LinkType::ethernet);
  return packet.is_roce() && packet.opcode() == opcode;
}

/// Matches a frame with this AETH.
MATCHER_P2(HasAeth, syndrome, msn, "") {
  const Packet packet = parse_frame(arg.bytes, LinkType::ethernet);
  const std::optional<Aeth> aeth = packet.is_roce() ? packet.get<Aeth>() : std::nullopt;
  return aeth && aeth->syndrome.value() == syndrome && aeth->msn == Msn{static_cast<std::uint32_t>(msn)};
}

MATCHER_P(HasSyndrome, syndrome, "") {
  const Packet packet = parse_frame(arg.bytes, LinkType::ethernet);
  const std::optional<Aeth> aeth = packet.is_roce() ? packet.get<Aeth>() : std::nullopt;
  return aeth && aeth->syndrome == syndrome;
}

/// Matches an acknowledge packet that refuses nothing, with or without credits.
MATCHER(IsAck, "") {
  const Packet packet = parse_frame(arg.bytes, LinkType::ethernet);
  const std::optional<Aeth> aeth = packet.is_roce() ? packet.get<Aeth>() : std::nullopt;
  return aeth && packet.opcode() == Opcode::rc_acknowledge && aeth->syndrome.kind() == AethKind::ack;
}

MATCHER_P(HasPayload, bytes, "") {
  const Packet packet = parse_frame(arg.bytes, LinkType::ethernet);
  return packet.payload_length() == static_cast<std::uint32_t>(bytes);
}

MATCHER_P(HasAckReq, ack_req, "") {
  const Packet packet = parse_frame(arg.bytes, LinkType::ethernet);
  return packet.is_roce() && packet.bth().ack_req == ack_req;
}

MATCHER(HasGoodIcrc, "") {
  return check_icrc(parse_frame(arg.bytes, LinkType::ethernet)).status == IcrcStatus::good;
}

/// Matches a completion of this request with this status.
MATCHER_P2(Ended, id, status, "") {
  *result_listener << "request " << arg.wr_id << ": " << to_string(arg.status);
  return arg.wr_id == static_cast<std::uint64_t>(id) && arg.status == status;
}

MATCHER_P(Succeeded, id, "") {
  *result_listener << "request " << arg.wr_id << ": " << to_string(arg.status);
  return arg.wr_id == static_cast<std::uint64_t>(id) && arg.status == transport::CompletionStatus::success;
}

}  // namespace roce::sim

namespace roce::transport {

inline void PrintTo(const Completion& completion, std::ostream* out) {
  *out << "request " << completion.wr_id << " (" << to_string(completion.opcode)
       << "): " << to_string(completion.status);
  if (completion.syndrome != 0) *out << ", syndrome " << static_cast<unsigned>(completion.syndrome);
}

}  // namespace roce::transport
