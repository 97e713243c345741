// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "roce/transport/device.h"

namespace roce::live {

/// The Q_Key of datagram QPs of the control protocol unless a request gives another.
inline constexpr std::uint32_t kControlQKey = 0x11111111;

// Names of the control protocol. For an unknown name each throws std::runtime_error that lists the known ones.
[[nodiscard]] transport::QpType qp_type_of(std::string_view name);
[[nodiscard]] transport::WorkOpcode opcode_of(std::string_view name);
[[nodiscard]] transport::Access access_of(std::string_view name);
[[nodiscard]] transport::QpState state_of(std::string_view name);

// The names themselves.
[[nodiscard]] std::string_view name_of(transport::QpType type);
[[nodiscard]] std::string_view name_of(transport::WorkOpcode opcode);
/// Returns the names of all rights that are set.
[[nodiscard]] std::vector<std::string_view> names_of(transport::Access access);

/// The attributes with which a QP is connected.
struct ConnectOptions {
  std::uint16_t sgid_index = 0;
  Gid gid{};  ///< the peer's address
  Qpn remote_qp{};
  Psn remote_psn{};  ///< the first that the peer sends
  Psn psn{};         ///< the first that we send
  std::uint32_t path_mtu = 1024;
  std::uint8_t timeout = 14;
  std::uint8_t retry_count = 7;
  std::uint8_t rnr_retry = 7;
  std::uint8_t rd_atomic = 16;       ///< READs and atomics outstanding at a time, each direction
  std::uint64_t rate_limit_bps = 0;  ///< 0: none
  std::uint64_t rate_limit_pps = 0;  ///< 0: none
  std::uint8_t traffic_class = 0;
};
/// Moves a QP from INIT through RTR to RTS.
[[nodiscard]] transport::VerbResult<void> connect(transport::Device& device, Qpn qpn, transport::QpType type,
                                                  const ConnectOptions& options, Time now);

}  // namespace roce::live
