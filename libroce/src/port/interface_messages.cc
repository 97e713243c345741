// SPDX-License-Identifier: BSD-2-Clause
#include "port/interface_messages.h"

#include <linux/if_addr.h>
#include <linux/if_ether.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
// The C library's header comes after the kernel's: in the other order they conflict.
#include <net/if.h>
#include <sys/socket.h>

#include <cstring>
#include <string_view>

#include "port/netlink.h"

namespace roce::port {
namespace {

/// Returns the text of an attribute, without the zero at its end.
std::string_view text_of(Bytes value) {
  const std::string_view text{reinterpret_cast<const char*>(value.data()), value.size()};
  return text.substr(0, text.find('\0'));
}

/// Reads the tag of a VLAN device from its IFLA_LINKINFO attribute.
void read_vlan(Bytes info, Interface& interface) {
  const auto data = find_attribute(info, 0, IFLA_INFO_DATA);
  if (!data) return;
  // The protocol is in network order, the identifier is not.
  const auto protocol = find_attribute(*data, 0, IFLA_VLAN_PROTOCOL);
  const bool is_8021q = !protocol || (protocol->size() == 2 && (*protocol)[0] == std::byte{ETH_P_8021Q >> 8} &&
                                      (*protocol)[1] == std::byte{ETH_P_8021Q & 0xFF});
  if (is_8021q) interface.vlan_id = find_number<std::uint16_t>(*data, 0, IFLA_VLAN_ID);
}

}  // namespace

std::optional<Interface> read_interface(Bytes body) {
  const auto header = read_header<ifinfomsg>(body);
  const auto name = find_attribute(body, kAttributesAt<ifinfomsg>, IFLA_IFNAME);
  if (!header || !name || header->ifi_index <= 0) return std::nullopt;
  Interface interface;
  interface.index = static_cast<std::uint32_t>(header->ifi_index);
  interface.name = text_of(*name);
  interface.up = (header->ifi_flags & IFF_UP) != 0;
  interface.loopback = (header->ifi_flags & IFF_LOOPBACK) != 0;
  interface.mtu = find_number<std::uint32_t>(body, kAttributesAt<ifinfomsg>, IFLA_MTU).value_or(0);
  interface.mac = find_number<MacAddress>(body, kAttributesAt<ifinfomsg>, IFLA_ADDRESS).value_or(MacAddress{});
  const auto info = find_attribute(body, kAttributesAt<ifinfomsg>, IFLA_LINKINFO);
  const auto kind = info ? find_attribute(*info, 0, IFLA_INFO_KIND) : std::nullopt;
  if (kind && text_of(*kind) == "vlan") {
    read_vlan(*info, interface);
    // If a namespace is given, the index is one of that namespace, and means another interface here.
    if (!find_attribute(body, kAttributesAt<ifinfomsg>, IFLA_LINK_NETNSID)) {
      interface.parent_index = find_number<std::uint32_t>(body, kAttributesAt<ifinfomsg>, IFLA_LINK);
    }
  }
  return interface;
}

std::optional<std::pair<std::uint32_t, InterfaceAddress>> read_address(Bytes body) {
  const auto header = read_header<ifaddrmsg>(body);
  if (!header) return std::nullopt;
  // If the other end of the wire has an address, too, IFA_ADDRESS is that one and IFA_LOCAL is ours.
  const auto find = [&]<typename Address>(Address) {
    const auto local = find_number<Address>(body, kAttributesAt<ifaddrmsg>, IFA_LOCAL);
    return local ? local : find_number<Address>(body, kAttributesAt<ifaddrmsg>, IFA_ADDRESS);
  };
  InterfaceAddress address;
  address.prefix_bits = header->ifa_prefixlen;
  if (header->ifa_family == AF_INET) {
    const auto ipv4 = find(Ipv4Address{});
    if (!ipv4) return std::nullopt;
    address.gid = Gid::from_ipv4(*ipv4);
  } else if (header->ifa_family == AF_INET6) {
    const auto ipv6 = find(Gid{});
    if (!ipv6) return std::nullopt;
    address.gid = *ipv6;
  } else {
    return std::nullopt;
  }
  return std::pair{header->ifa_index, address};
}

}  // namespace roce::port
