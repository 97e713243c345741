// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "link/udp_address.h"
#include "roce/link/file_descriptor.h"
#include "roce/link/udp_link.h"

namespace roce::link {

inline constexpr std::uint16_t kRocePort = 4791;
/// Hop limit of a frame for which no other is given; the traffic class is then 0.
inline constexpr std::uint8_t kSenderHopLimit = 64;

/// The settings that the sockets of a link have in common.
struct UdpEndpoint {
  MappedAddress local{};
  std::uint32_t scope = 0;  ///< index of the interface that has `local`
  std::string device;       ///< interface that the sockets are bound to; empty: none
};

/// Makes a socket that does not block, is not connected and not bound, and sends as `UdpLink` promises. Invalid, with
/// `errno` set, if there cannot be one.
[[nodiscard]] FileDescriptor make_sender(const UdpEndpoint& endpoint);

/// Sets whether the socket sends UDP checksums; if not they are 0, as `make_sender` leaves it. The kernel segments only
/// with checksums. On failure false, with `errno` set.
[[nodiscard]] bool set_checksums(int socket, bool v4, bool on);

/// Binds the socket to the endpoint's address and a port (0: the kernel chooses). On failure false, with `errno` set.
[[nodiscard]] bool bind_port(const FileDescriptor& socket, const UdpEndpoint& endpoint, std::uint16_t port);

/// The sockets that may have a port together; all of them say so.
enum class PortSharing : std::uint8_t {
  none,
  of_user,  ///< of one user; a datagram goes to one of them (SO_REUSEPORT)
  of_all,   ///< of any; a datagram to a multicast group goes to each of them (SO_REUSEADDR)
};

/// Opens the socket on port 4791, which reports with each datagram its header fields and its time of arrival.
[[nodiscard]] LinkResult<FileDescriptor> open_receiver(const UdpEndpoint& endpoint, const AddressOwner& owner,
                                                       std::size_t buffer_bytes,
                                                       PortSharing sharing = PortSharing::none);

/// True if the kernel segments what the socket sends (Linux 4.18); from now on it also hands out incoming super-frames
/// whole (Linux 5.0). On failure false, with `errno` set.
[[nodiscard]] bool allow_super_frames(const FileDescriptor& receiver);

}  // namespace roce::link
