// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "roce/transport/device.h"

namespace roce::gen {

/// The Q_Key of datagram QPs of the control protocol unless it says another.
inline constexpr std::uint32_t kControlQKey = 0x11111111;

// The names of the control protocol. Each throws std::runtime_error, naming what there is, for a name that is not one.
[[nodiscard]] transport::QpType qp_type_of(std::string_view name);
[[nodiscard]] transport::WorkOpcode opcode_of(std::string_view name);
[[nodiscard]] transport::Access access_of(std::string_view name);

/// An IPv4 or IPv6 address as a GID; none if it is neither.
[[nodiscard]] std::optional<Gid> gid_of_text(std::string_view text);

/// How a QP is connected.
struct ConnectOptions {
  std::uint16_t sgid_index = 0;
  Gid gid{};  ///< the peer's
  Qpn remote_qp{};
  Psn remote_psn{};  ///< the first the peer sends
  Psn psn{};         ///< the first we send
  std::uint32_t path_mtu = 1024;
  std::uint8_t timeout = 14;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t rd_atomic = 16;       ///< READs and atomics under way, each direction
  std::uint64_t rate_limit_bps = 0;  ///< 0: none
  std::uint64_t rate_limit_pps = 0;  ///< 0: none
  std::uint8_t traffic_class = 0;
};
/// Moves a QP from INIT over RTR to RTS.
[[nodiscard]] transport::VerbResult<void> connect(transport::Device& device, Qpn qpn, transport::QpType type,
                                                  const ConnectOptions& options, Time now);

}  // namespace roce::gen
