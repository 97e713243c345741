// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/socket.h>
#include <sys/un.h>

#include <array>
#include <cstdint>

#include "roce/wire/types.h"

// The messages of roce-portd and the programs at its address, on one machine: records of a fixed size on a
// SOCK_SEQPACKET socket. A program sends a `JoinRequest` and gets a `JoinAnswer`, with its socket as SCM_RIGHTS unless
// it is refused. It has its shard until it closes the connection.
namespace roce::verbs {

inline constexpr std::uint32_t kPortProtocol = 1;

struct JoinRequest {
  std::uint32_t version = kPortProtocol;
};

struct JoinAnswer {
  std::uint32_t version = kPortProtocol;
  std::uint32_t shard = 0;
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
