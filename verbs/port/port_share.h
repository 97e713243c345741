// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "roce/link/file_descriptor.h"
#include "roce/link/link.h"
#include "roce/wire/types.h"
#include "verbs/port/messages.h"

namespace roce::verbs {

/// The part of UDP port 4791 of an address that one process has: the datagrams to its queue pairs.
struct PortShare {
  std::uint8_t shard_bits = 0;
  std::uint8_t shard = 0;
  link::FileDescriptor receiver;  ///< for `link::UdpLinkOptions::receiver`; none: the process has the whole port
  link::FileDescriptor daemon;    ///< the share is given back when this is closed; it becomes readable when it is lost
};

/// Gets a share from the roce-portd of this user at `address`, an address of the interface, and starts `program`
/// as that if none is there. The calling process gets no child, no signal and no open file but those of the share.
/// Errors: the port is taken by somebody else; all 255 shares are; `program` cannot be started or does not answer.
[[nodiscard]] link::LinkResult<PortShare> join_port(const Gid& address, const std::string& interface,
                                                    const std::string& program);

/// Returns the path of the roce-portd in the folder of the library that this is linked into.
[[nodiscard]] std::string daemon_beside_library();

/// A connection to the communication manager of an address, in roce-portd.
struct CmConnection {
  link::FileDescriptor connection;
  std::uint32_t process = 0;  ///< the number of the process, of a connection for commands
};

/// Connects to the roce-portd at an address as `join_port` does, for one of the other purposes. Errors: as of
/// `join_port`.
[[nodiscard]] link::LinkResult<CmConnection> join_cm(const Gid& address, const std::string& interface,
                                                     const std::string& program, const JoinRequest& request);

/// True if the user wants a process to take the whole port, without roce-portd (`ROCE_VERBS_PORTD=inside`).
[[nodiscard]] bool takes_whole_port();

}  // namespace roce::verbs
