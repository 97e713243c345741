// SPDX-License-Identifier: BSD-2-Clause
#include "port/route.h"

#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

namespace roce::port {
namespace {

constexpr std::uint16_t kDiscardPort = 9;
constexpr std::uint16_t kUsable = NUD_REACHABLE | NUD_STALE | NUD_DELAY | NUD_PROBE | NUD_PERMANENT | NUD_NOARP;
constexpr std::size_t kIpv4At = 12;  // offset of the address in a mapped GID

std::uint8_t family_of(const Gid& ip) {
  return ip.is_ipv4_mapped() ? AF_INET : AF_INET6;
}

/// Returns the address as it is in messages and socket addresses: 4 or 16 bytes of `ip`.
Bytes address_of(const Gid& ip) {
  const Bytes bytes = std::as_bytes(std::span{ip.octets});
  return ip.is_ipv4_mapped() ? bytes.subspan(kIpv4At) : bytes;
}

/// Returns the GID of an address that `address_of` could have returned.
std::optional<Gid> gid_of(int family, Bytes address) {
  if (family == AF_INET && address.size() == 4) return Gid::from_ipv4(*read_header<Ipv4Address>(address));
  if (family == AF_INET6) return read_header<Gid>(address);
  return std::nullopt;
}

bool is_link_local(const Gid& ip) {
  return ip.octets[0] == 0xFE && (ip.octets[1] & 0xC0) == 0x80;
}

struct FoundRoute {
  Route route;
  std::uint32_t interface_index = 0;
};

std::optional<FoundRoute> read_route(Bytes body, const Gid& ip) {
  const auto header = read_header<rtmsg>(body);
  if (!header) return std::nullopt;
  constexpr std::size_t kAt = kAttributesAt<rtmsg>;
  FoundRoute found;
  found.interface_index = find_number<std::uint32_t>(body, kAt, RTA_OIF).value_or(0);
  if (header->rtm_type == RTN_LOCAL || header->rtm_type == RTN_ANYCAST) {
    found.route.kind = Route::Kind::local;
  } else if (header->rtm_type == RTN_BROADCAST) {
    found.route.kind = Route::Kind::broadcast;
  } else if (header->rtm_type == RTN_UNICAST) {
    // Without any IPv4 route out of the interface, the kernel just assumes "on link": that route belongs to no table.
    const auto table = find_number<std::uint32_t>(body, kAt, RTA_TABLE).value_or(header->rtm_table);
    if (table == RT_TABLE_UNSPEC) return std::nullopt;
    found.route = {Route::Kind::unicast, ip};
    if (const auto gateway = find_attribute(body, kAt, RTA_GATEWAY)) {
      found.route.next_hop = gid_of(header->rtm_family, *gateway).value_or(ip);
    } else if (const auto via = find_attribute(body, kAt, RTA_VIA)) {
      // An IPv4 route through an IPv6 router.
      const auto family = read_header<std::uint16_t>(*via);
      if (family) found.route.next_hop = gid_of(*family, via->subspan(sizeof *family)).value_or(ip);
    }
  }
  return found;
}

std::optional<FoundRoute> ask_route(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index) {
  rtmsg header{};
  header.rtm_family = family_of(ip);
  header.rtm_dst_len = static_cast<unsigned char>(address_of(ip).size() * 8);
  header.rtm_flags = RTM_F_LOOKUP_TABLE;
  NetlinkRequest request{RTM_GETROUTE, 0, header};
  request.add(RTA_DST, address_of(ip));
  if (interface_index != 0) request.add(RTA_OIF, interface_index);
  std::optional<FoundRoute> found;
  const int error =
      socket.request(request, [&](const NetlinkMessage& message) { found = read_route(message.body, ip); });
  return error == 0 ? found : std::nullopt;
}

}  // namespace

Route find_route(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index) {
  // When it is asked about one interface, the kernel does not recognise the addresses that the host has on others.
  // Link-local addresses mean nothing without an interface.
  if (!is_link_local(ip)) {
    const auto anywhere = ask_route(socket, ip, 0);
    if (anywhere && (anywhere->route.kind == Route::Kind::local || anywhere->interface_index == interface_index)) {
      return anywhere->route;
    }
  }
  const auto here = ask_route(socket, ip, interface_index);
  return here ? here->route : Route{};
}

std::optional<MacAddress> NeighbourEntry::usable_mac() const {
  return (state & kUsable) != 0 ? mac : std::nullopt;
}

bool NeighbourEntry::is_stale() const {
  return (state & NUD_STALE) != 0;
}

bool NeighbourEntry::is_in_search() const {
  return (state & NUD_INCOMPLETE) != 0;
}

std::optional<NeighbourEntry> read_neighbour(Bytes body) {
  const auto header = read_header<ndmsg>(body);
  const auto address = find_attribute(body, kAttributesAt<ndmsg>, NDA_DST);
  if (!header || !address) return std::nullopt;
  const std::optional<Gid> ip = gid_of(header->ndm_family, *address);
  if (!ip) return std::nullopt;
  return NeighbourEntry{.interface_index = static_cast<std::uint32_t>(header->ndm_ifindex),
                        .ip = *ip,
                        .state = header->ndm_state,
                        .mac = find_number<MacAddress>(body, kAttributesAt<ndmsg>, NDA_LLADDR)};
}

NeighbourEntry find_neighbour(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index) {
  ndmsg header{};
  header.ndm_family = family_of(ip);
  header.ndm_ifindex = static_cast<int>(interface_index);
  NetlinkRequest request{RTM_GETNEIGH, 0, header};
  request.add(NDA_DST, address_of(ip));
  NeighbourEntry entry{.interface_index = interface_index, .ip = ip};
  const int error = socket.request(
      request, [&](const NetlinkMessage& message) { entry = read_neighbour(message.body).value_or(entry); });
  return error == 0 ? entry : NeighbourEntry{.interface_index = interface_index, .ip = ip};
}

int resolve_by_request(NetlinkSocket& socket, const Gid& ip, std::uint32_t interface_index) {
  ndmsg header{};
  header.ndm_family = family_of(ip);
  header.ndm_ifindex = static_cast<int>(interface_index);
  header.ndm_state = NUD_NONE;
  header.ndm_flags = NTF_USE;
  NetlinkRequest request{RTM_NEWNEIGH, NLM_F_CREATE | NLM_F_ACK, header};
  request.add(NDA_DST, address_of(ip));
  return socket.request(request, [](const NetlinkMessage&) {});
}

int resolve_by_datagram(const Gid& ip, std::uint32_t interface_index) {
  const bool is_ipv4 = ip.is_ipv4_mapped();
  const link::FileDescriptor socket{::socket(family_of(ip), SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  if (!socket) return errno;
  sockaddr_in to4{};
  to4.sin_family = AF_INET;
  to4.sin_port = htons(kDiscardPort);
  sockaddr_in6 to6{};
  to6.sin6_family = AF_INET6;
  to6.sin6_port = htons(kDiscardPort);
  to6.sin6_scope_id = is_link_local(ip) ? interface_index : 0;
  if (is_ipv4) {
    std::memcpy(&to4.sin_addr, address_of(ip).data(), sizeof to4.sin_addr);
  } else {
    std::memcpy(&to6.sin6_addr, address_of(ip).data(), sizeof to6.sin6_addr);
  }
  // Unlike SO_BINDTODEVICE, which old kernels reserve for root, this lets every user name the interface.
  in_pktinfo info4{};
  info4.ipi_ifindex = static_cast<int>(interface_index);
  in6_pktinfo info6{};
  info6.ipi6_ifindex = interface_index;
  const Bytes info = is_ipv4 ? std::as_bytes(std::span{&info4, 1}) : std::as_bytes(std::span{&info6, 1});
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(sizeof(in6_pktinfo))> control{};
  msghdr message{};
  message.msg_name = is_ipv4 ? static_cast<void*>(&to4) : static_cast<void*>(&to6);
  message.msg_namelen = is_ipv4 ? sizeof to4 : sizeof to6;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(info.size());
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = is_ipv4 ? IPPROTO_IP : IPPROTO_IPV6;
  head->cmsg_type = is_ipv4 ? IP_PKTINFO : IPV6_PKTINFO;
  head->cmsg_len = CMSG_LEN(info.size());
  std::copy(info.begin(), info.end(), reinterpret_cast<std::byte*>(CMSG_DATA(head)));
  return ::sendmsg(socket.get(), &message, MSG_NOSIGNAL) < 0 ? errno : 0;
}

}  // namespace roce::port
