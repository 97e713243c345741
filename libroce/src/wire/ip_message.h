// SPDX-License-Identifier: BSD-2-Clause
// ICMP and ICMPv6 messages in captured frames.
#pragma once

#include <optional>

#include "roce/wire/ipv4.h"
#include "roce/wire/packet.h"
#include "roce/wire/types.h"

namespace roce {

/// A message of ICMP or ICMPv6.
struct IpMessage {
  Gid source{};
  Gid destination{};
  std::uint8_t hop_limit = 0;
  IpProtocol protocol{};
  Bytes bytes;  ///< as far as they were captured
};

/// Returns the message in a frame. Nothing for other frames and for fragments, if a length is wrong, or if all of the
/// message was captured and its checksum is wrong. Messages behind IPv6 extension headers are not found.
[[nodiscard]] std::optional<IpMessage> find_icmp(const Packet& packet);

}  // namespace roce
