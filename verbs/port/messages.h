// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdint>

#include "roce/wire/types.h"

// The messages of roce-portd and the programs at its address, on one machine: records of a fixed size on a
// SOCK_SEQPACKET socket. A program sends a `JoinRequest` and gets a `JoinAnswer`. For a share of the port its socket
// comes with that as SCM_RIGHTS, and it has its shard until it closes the connection; the other connections have the
// records of verbs/cm from then on.
namespace roce::verbs {

inline constexpr std::uint32_t kPortProtocol = 2;

/// The use that a program has for a connection.
enum class JoinPurpose : std::uint32_t {
  share,        ///< a share of the port
  cm_commands,  ///< commands for the communication manager
  cm_channel,   ///< notices of it, for the event channel `channel` of the process with the number `process`
};

struct JoinRequest {
  std::uint32_t version = kPortProtocol;
  JoinPurpose purpose = JoinPurpose::share;
  std::uint32_t process = 0;
  std::uint32_t channel = 0;
};

struct JoinAnswer {
  std::uint32_t version = kPortProtocol;
  std::uint32_t number = 0;         ///< the shard, or the number of the process
  std::array<char, 256> refusal{};  ///< a sentence that ends with a zero; empty if it is not refused
};

/// The name on which the roce-portd of this user at an address listens, in the abstract namespace: it belongs to the
/// network namespace, as the port does, and leaves no file.
struct PortName {
  explicit PortName(const Gid& address);

  sockaddr_un name{};
  socklen_t size = 0;
};

/// True if the process at the other end of a Unix socket is of this user.
[[nodiscard]] bool is_of_this_user(int socket);

}  // namespace roce::verbs
