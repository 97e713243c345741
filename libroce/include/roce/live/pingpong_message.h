// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "roce/wire/types.h"

namespace roce::live {

/// The message that the two ends of an `ibv_*_pingpong` send each
/// other over TCP, one for each QP (rdma-core, libibverbs/examples).
struct PingpongMessage {
  /// Bytes on the TCP connection, the final NUL included.
  static constexpr std::size_t kSize = 52;

  Qpn qpn{};
  Psn psn{};
  Gid gid{};

  friend bool operator==(const PingpongMessage&, const PingpongMessage&) = default;
};

/// Returns `LLLL:QQQQQQ:PPPPPP:` in hexadecimal and 32 hexadecimal digits of the GID; the LID of an Ethernet is 0.
[[nodiscard]] std::array<char, PingpongMessage::kSize> to_text(const PingpongMessage& message);
/// Parses a message; nullopt if `text` is not one.
[[nodiscard]] std::optional<PingpongMessage> parse_pingpong(std::string_view text);

}  // namespace roce::live
