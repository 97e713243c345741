// SPDX-License-Identifier: BSD-2-Clause
#include "link/udp_address.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cstring>
#include <memory>

#include "roce/link/file_descriptor.h"

namespace roce::link {

namespace {

constexpr std::size_t kV4Headers = 20 + 8;
constexpr std::size_t kV6Headers = 40 + 8;
constexpr std::size_t kMaxV4Payload = 65535 - kV4Headers;
// 65535 bytes of IPv6 payload less the UDP header: more than the largest MTU has room for.
constexpr std::size_t kMaxV6Payload = 65535 - 8;
constexpr std::size_t kUsualMtu = 1500;
constexpr std::array<std::byte, 12> kMappedPrefix = {
    {{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::byte{0xff}, std::byte{0xff}}};

[[nodiscard]] std::size_t payload_of(std::size_t mtu, bool v4) {
  const std::size_t headers = v4 ? kV4Headers : kV6Headers;
  return mtu <= headers ? 0 : std::min(mtu - headers, v4 ? kMaxV4Payload : kMaxV6Payload);
}

[[nodiscard]] std::size_t mtu_of(const std::string& interface) {
  const FileDescriptor query{::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  ifreq request{};
  if (interface.empty() || interface.size() >= sizeof request.ifr_name) return kUsualMtu;
  std::copy(interface.begin(), interface.end(), request.ifr_name);
  if (::ioctl(query.get(), SIOCGIFMTU, &request) != 0) return kUsualMtu;
  return static_cast<std::size_t>(request.ifr_mtu);
}

/// Reads the address of a list entry; false if it is not an IP address.
[[nodiscard]] bool read_address(const sockaddr* from, MappedAddress& out) {
  if (from == nullptr) return false;
  if (from->sa_family == AF_INET) {
    sockaddr_in address{};
    std::memcpy(&address, from, sizeof address);
    out = mapped(address.sin_addr);
    return true;
  }
  if (from->sa_family == AF_INET6) {
    sockaddr_in6 address{};
    std::memcpy(&address, from, sizeof address);
    out = mapped(address.sin6_addr);
    return true;
  }
  return false;
}

/// True for an address of a loopback interface's network: the interface answers for all, and lists one of them.
[[nodiscard]] bool in_loopback_network(const ifaddrs& entry, const MappedAddress& own, const MappedAddress& wanted) {
  MappedAddress mask{};
  if ((entry.ifa_flags & IFF_LOOPBACK) == 0 || is_v4(own) != is_v4(wanted)) return false;
  if (entry.ifa_addr->sa_family != AF_INET || !read_address(entry.ifa_netmask, mask)) return false;
  for (std::size_t i = kMappedPrefix.size(); i < own.size(); ++i) {
    if (((own[i] ^ wanted[i]) & mask[i]) != std::byte{}) return false;
  }
  return true;
}

[[nodiscard]] std::string joined(const std::string& list, const std::string& item) {
  return list.empty() ? item : list + ", " + item;
}

}  // namespace

bool is_v4(const MappedAddress& address) {
  return std::equal(kMappedPrefix.begin(), kMappedPrefix.end(), address.begin());
}

bool is_link_local(const MappedAddress& address) {
  if (address[0] == std::byte{0xff}) return (address[1] & std::byte{0x0f}) == std::byte{0x02};
  return address[0] == std::byte{0xfe} && (address[1] & std::byte{0xc0}) == std::byte{0x80};
}

MappedAddress mapped(const in_addr& address) {
  MappedAddress result{};
  std::copy(kMappedPrefix.begin(), kMappedPrefix.end(), result.begin());
  std::memcpy(result.data() + kMappedPrefix.size(), &address, sizeof address);
  return result;
}

MappedAddress mapped(const in6_addr& address) {
  MappedAddress result{};
  std::memcpy(result.data(), &address, sizeof address);
  return result;
}

std::string text(const MappedAddress& address) {
  char buffer[INET6_ADDRSTRLEN] = "";
  if (is_v4(address)) {
    ::inet_ntop(AF_INET, address.data() + kMappedPrefix.size(), buffer, sizeof buffer);
  } else {
    ::inet_ntop(AF_INET6, address.data(), buffer, sizeof buffer);
  }
  return buffer;
}

socklen_t store(const MappedAddress& address, std::uint16_t port, std::uint32_t scope, SocketAddress& out) {
  if (is_v4(address)) {
    out.v4 = {};
    out.v4.sin_family = AF_INET;
    out.v4.sin_port = htons(port);
    std::memcpy(&out.v4.sin_addr, address.data() + kMappedPrefix.size(), sizeof out.v4.sin_addr);
    return sizeof out.v4;
  }
  out.v6 = {};
  out.v6.sin6_family = AF_INET6;
  out.v6.sin6_port = htons(port);
  out.v6.sin6_scope_id = is_link_local(address) ? scope : 0;
  std::memcpy(&out.v6.sin6_addr, address.data(), sizeof out.v6.sin6_addr);
  return sizeof out.v6;
}

LinkResult<AddressOwner> find_owner(const MappedAddress& address, const std::string& interface) {
  AddressOwner owner;
  if (!interface.empty() && ::if_nametoindex(interface.c_str()) == 0) {
    return tl::unexpected(
        LinkError{"there is no interface \"" + interface + "\" on this machine; `ip link` lists those that are there"});
  }
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) == 0) {
    const std::unique_ptr<ifaddrs, decltype(&::freeifaddrs)> owned{list, &::freeifaddrs};
    std::string others;
    std::string elsewhere;
    for (const ifaddrs* entry = list; entry != nullptr; entry = entry->ifa_next) {
      MappedAddress own{};
      if (!read_address(entry->ifa_addr, own)) continue;
      const bool matches = own == address || in_loopback_network(*entry, own, address);
      if (interface.empty() || interface == entry->ifa_name) {
        if (matches && owner.interface.empty()) owner.interface = entry->ifa_name;
        others = joined(others, text(own));
      } else if (matches) {
        elsewhere = entry->ifa_name;
      }
    }
    if (!interface.empty() && owner.interface.empty()) {
      std::string message = "interface " + interface + " does not have the address " + text(address) + "; ";
      message += others.empty() ? std::string("it has none") : "it has " + others;
      if (!elsewhere.empty()) message += "; " + elsewhere + " has the one you named";
      return tl::unexpected(LinkError{message});
    }
  }
  if (owner.interface.empty()) owner.interface = interface;
  owner.index = owner.interface.empty() ? 0 : ::if_nametoindex(owner.interface.c_str());
  owner.max_payload = payload_of(mtu_of(owner.interface), is_v4(address));
  return owner;
}

}  // namespace roce::link
