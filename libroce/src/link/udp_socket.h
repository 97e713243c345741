// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "link/file_descriptor.h"
#include "link/udp_address.h"
#include "roce/link/udp_link.h"

namespace roce::link {

inline constexpr std::uint16_t kRocePort = 4791;
/// Hop limit of what a sender sends without saying another; the traffic class is then 0.
inline constexpr std::uint8_t kSenderHopLimit = 64;

/// What the sockets of a link have in common.
struct UdpEndpoint {
  MappedAddress local{};
  std::uint32_t scope = 0;  ///< index of the interface that has `local`
  std::string device;       ///< not empty: bound to it
};

/// A socket that does not block, not connected and not bound, set so that what it sends is as `UdpLink` promises.
/// Invalid with `errno` set if there cannot be one.
[[nodiscard]] FileDescriptor make_sender(const UdpEndpoint& endpoint);

/// Whether what the socket sends has a UDP checksum: 0 otherwise, as `make_sender` leaves it. The kernel segments only
/// with one. False with `errno` set.
[[nodiscard]] bool set_checksums(int socket, bool v4, bool on);

/// Binds the socket to the endpoint's address and a port (0: one that the kernel chooses). False with `errno` set.
[[nodiscard]] bool bind_port(const FileDescriptor& socket, const UdpEndpoint& endpoint, std::uint16_t port);

/// The socket on port 4791, that tells with each datagram what stands in its headers and when it came.
[[nodiscard]] LinkResult<FileDescriptor> open_receiver(const UdpEndpoint& endpoint, const AddressOwner& owner,
                                                       std::size_t buffer_bytes);

/// Whether the kernel segments what the socket sends (Linux 4.18), and hands out super-frames that come in as they are
/// from now on (Linux 5.0). False with `errno` set.
[[nodiscard]] bool allow_super_frames(const FileDescriptor& receiver);

}  // namespace roce::link
