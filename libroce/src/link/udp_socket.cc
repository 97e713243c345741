// SPDX-License-Identifier: BSD-2-Clause
#include "link/udp_socket.h"

#include <netinet/udp.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <limits>

namespace roce::link {

namespace {

[[nodiscard]] bool set(const FileDescriptor& socket, int level, int option, int value) {
  return ::setsockopt(socket.get(), level, option, &value, sizeof value) == 0;
}

[[nodiscard]] LinkError bind_error(const UdpEndpoint& endpoint, const AddressOwner& owner, int error) {
  const std::string address = text(endpoint.local);
  LinkError result{"cannot receive RoCE at " + address + " (UDP port 4791): "};
  switch (error) {
    case EADDRINUSE:
      result.message +=
          "the port is taken, by another RoCE program (`ss -ulnp sport = :4791` names it) or by Soft-RoCE in the "
          "kernel "
          "(`rdma link` lists it); end that one, or use another address or network namespace";
      break;
    case EADDRNOTAVAIL:
      if (owner.interface.empty()) {
        result.message +=
            "no interface of this machine has the address; use one that `ip address` lists, or add it there";
      } else {
        result.message +=
            "interface " + owner.interface +
            " has the address but cannot use it yet; if `ip address` calls it tentative, try again in two "
            "seconds, and if it says dadfailed, another machine has the same address";
      }
      break;
    case EINVAL:
      result.message += "a link-local address needs the interface that has it; name the interface";
      break;
    case EACCES:
    case EPERM:
      result.no_permission = true;
      result.message +=
          std::string(std::strerror(error)) +
          "; something here forbids UDP sockets (a security module, or net.ipv4.ip_unprivileged_port_start"
          " above 4791)";
      break;
    default:
      result.message += std::strerror(error);
  }
  return result;
}

[[nodiscard]] LinkError socket_error(const UdpEndpoint& endpoint, int error) {
  LinkError result{"cannot open a UDP socket for " + text(endpoint.local) + ": " + std::strerror(error)};
  result.no_permission = error == EACCES || error == EPERM;
  if (error == EAFNOSUPPORT) {
    result.message += "; this machine is without " + std::string(is_v4(endpoint.local) ? "IPv4" : "IPv6") +
                      ", use an address of the other family";
  } else if (error == EMFILE || error == ENFILE) {
    result.message += "; raise the limit (`ulimit -n`)";
  } else if (!endpoint.device.empty() && result.no_permission) {
    result.message += "; binding to interface " + endpoint.device + " is forbidden here, do without it";
  }
  return result;
}

/// Sets the socket options that report what the kernel otherwise hides, for either family.
[[nodiscard]] bool ask_for_headers(const FileDescriptor& socket, bool v4) {
  const bool family = v4 ? set(socket, IPPROTO_IP, IP_PKTINFO, 1) && set(socket, IPPROTO_IP, IP_RECVTOS, 1) &&
                               set(socket, IPPROTO_IP, IP_RECVTTL, 1)
                         : set(socket, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) &&
                               set(socket, IPPROTO_IPV6, IPV6_RECVTCLASS, 1) &&
                               set(socket, IPPROTO_IPV6, IPV6_RECVHOPLIMIT, 1) &&
                               // IPv6 sockets drop the checksum 0, which every RoCE v2 device sends.
                               set(socket, IPPROTO_UDP, UDP_NO_CHECK6_RX, 1);
  return family && set(socket, SOL_SOCKET, SO_TIMESTAMPNS, 1);
}

}  // namespace

FileDescriptor make_sender(const UdpEndpoint& endpoint) {
  const bool v4 = is_v4(endpoint.local);
  FileDescriptor socket{::socket(v4 ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_UDP)};
  if (!socket) return socket;
  // Don't Fragment on a socket without a peer makes the IPv4 identification 0, the only value that the ICRC of a packet
  // made elsewhere can count on; a connected socket counts it up.
  // RoCE v2 prescribes checksum 0, and all its receivers take it. A real checksum would be left to the interface to
  // complete, and a virtual interface passes it on incomplete.
  const bool good = v4 ? set(socket, IPPROTO_IP, IP_MTU_DISCOVER, IP_PMTUDISC_DO) &&
                             set_checksums(socket.get(), v4, false) &&
                             set(socket, IPPROTO_IP, IP_TTL, kSenderHopLimit) &&
                             set(socket, IPPROTO_IP, IP_MULTICAST_TTL, kSenderHopLimit)
                       : set(socket, IPPROTO_IPV6, IPV6_V6ONLY, 1) &&
                             set(socket, IPPROTO_IPV6, IPV6_MTU_DISCOVER, IPV6_PMTUDISC_DO) &&
                             set_checksums(socket.get(), v4, false) &&
                             set(socket, IPPROTO_IPV6, IPV6_UNICAST_HOPS, kSenderHopLimit) &&
                             set(socket, IPPROTO_IPV6, IPV6_MULTICAST_HOPS, kSenderHopLimit) &&
                             // With IPv4 the kernel takes the interface that has the source address.
                             set(socket, IPPROTO_IPV6, IPV6_MULTICAST_IF, static_cast<int>(endpoint.scope));
  if (!good) return FileDescriptor{};
  if (!endpoint.device.empty() && ::setsockopt(socket.get(), SOL_SOCKET, SO_BINDTODEVICE, endpoint.device.c_str(),
                                               static_cast<socklen_t>(endpoint.device.size())) != 0) {
    return FileDescriptor{};
  }
  return socket;
}

bool set_checksums(int socket, bool v4, bool on) {
  const int none = on ? 0 : 1;
  return v4 ? ::setsockopt(socket, SOL_SOCKET, SO_NO_CHECK, &none, sizeof none) == 0
            : ::setsockopt(socket, IPPROTO_UDP, UDP_NO_CHECK6_TX, &none, sizeof none) == 0;
}

bool allow_super_frames(const FileDescriptor& receiver) {
  // Each frame gives its own segment size; 0 only checks that the option exists.
  return set(receiver, IPPROTO_UDP, UDP_SEGMENT, 0) && set(receiver, IPPROTO_UDP, UDP_GRO, 1);
}

bool bind_port(const FileDescriptor& socket, const UdpEndpoint& endpoint, std::uint16_t port) {
  SocketAddress address{};
  const socklen_t size = store(endpoint.local, port, endpoint.scope, address);
  return ::bind(socket.get(), &address.any, size) == 0;
}

LinkResult<FileDescriptor> open_receiver(const UdpEndpoint& endpoint, const AddressOwner& owner,
                                         std::size_t buffer_bytes, PortSharing sharing) {
  FileDescriptor socket = make_sender(endpoint);
  const int share = sharing == PortSharing::of_user ? SO_REUSEPORT : SO_REUSEADDR;
  if (!socket || !ask_for_headers(socket, is_v4(endpoint.local)) ||
      (sharing != PortSharing::none && !set(socket, SOL_SOCKET, share, 1))) {
    return tl::unexpected(socket_error(endpoint, errno));
  }
  const auto room =
      static_cast<int>(std::min<std::size_t>(buffer_bytes, static_cast<std::size_t>(std::numeric_limits<int>::max())));
  // SO_RCVBUFFORCE exceeds net.core.rmem_max; without the privilege for it the kernel gives what that limit allows.
  if (!set(socket, SOL_SOCKET, SO_RCVBUFFORCE, room)) (void)set(socket, SOL_SOCKET, SO_RCVBUF, room);
  if (!bind_port(socket, endpoint, kRocePort)) return tl::unexpected(bind_error(endpoint, owner, errno));
  return socket;
}

}  // namespace roce::link
