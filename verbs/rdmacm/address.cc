// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/rdmacm/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <cstring>

#include "roce/link/file_descriptor.h"

namespace roce::verbs {

namespace {

template <typename Form>
[[nodiscard]] Form form_of(const sockaddr& address) {
  Form form{};
  std::memcpy(&form, &address, sizeof form);
  return form;
}

}  // namespace

std::optional<Gid> gid_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) {
    const auto form = form_of<sockaddr_in>(address);
    Ipv4Address ipv4;
    std::memcpy(ipv4.octets.data(), &form.sin_addr, ipv4.octets.size());
    return Gid::from_ipv4(ipv4);
  }
  if (address.sa_family != AF_INET6) return std::nullopt;
  const auto form = form_of<sockaddr_in6>(address);
  Gid gid;
  std::memcpy(gid.octets.data(), &form.sin6_addr, gid.octets.size());
  return gid;
}

bool is_wildcard(const Gid& address) {
  return address == Gid{} || address == Gid::from_ipv4({});
}

bool is_group(const Gid& address) {
  constexpr std::size_t kFirstOfIpv4 = 12;
  if (address.is_ipv4_mapped()) return address.octets[kFirstOfIpv4] >> 4 == 0xE;
  return address.octets[0] == 0xFF;
}

bool means_all(const Gid& address) {
  constexpr std::size_t kFirstOfIpv4 = 12;
  constexpr std::uint8_t kLoopbackNet = 127;
  Gid loopback6{};
  loopback6.octets.back() = 1;
  return is_wildcard(address) || address == loopback6 ||
         (address.is_ipv4_mapped() && address.octets[kFirstOfIpv4] == kLoopbackNet);
}

std::uint16_t port_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) return ntohs(form_of<sockaddr_in>(address).sin_port);
  return address.sa_family == AF_INET6 ? ntohs(form_of<sockaddr_in6>(address).sin6_port) : std::uint16_t{0};
}

void set_port(sockaddr& address, std::uint16_t port) {
  // In both families the port is behind the family.
  static_assert(offsetof(sockaddr_in, sin_port) == offsetof(sockaddr_in6, sin6_port));
  const std::uint16_t bytes = htons(port);
  std::memcpy(reinterpret_cast<std::byte*>(&address) + offsetof(sockaddr_in, sin_port), &bytes, sizeof bytes);
}

void write_address(const Gid& address, std::uint16_t port, sockaddr_storage& out) {
  out = {};
  if (address.is_ipv4_mapped()) {
    sockaddr_in form{};
    form.sin_family = AF_INET;
    form.sin_port = htons(port);
    std::memcpy(&form.sin_addr, address.ipv4().octets.data(), sizeof form.sin_addr);
    std::memcpy(&out, &form, sizeof form);
  } else {
    sockaddr_in6 form{};
    form.sin6_family = AF_INET6;
    form.sin6_port = htons(port);
    std::memcpy(&form.sin6_addr, address.octets.data(), sizeof form.sin6_addr);
    std::memcpy(&out, &form, sizeof form);
  }
}

socklen_t size_of(const sockaddr& address) {
  if (address.sa_family == AF_INET) return sizeof(sockaddr_in);
  return address.sa_family == AF_INET6 ? socklen_t{sizeof(sockaddr_in6)} : socklen_t{0};
}

std::optional<Gid> source_for(const sockaddr& destination) {
  const link::FileDescriptor socket{::socket(destination.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_storage to{};
  std::memcpy(&to, &destination, size_of(destination));
  auto& form = reinterpret_cast<sockaddr&>(to);
  // With a port of 0 some systems refuse.
  if (port_of(form) == 0) set_port(form, 1);
  sockaddr_storage from{};
  socklen_t size = sizeof from;
  if (!socket || ::connect(socket.get(), &form, size_of(form)) != 0 ||
      ::getsockname(socket.get(), reinterpret_cast<sockaddr*>(&from), &size) != 0) {
    return std::nullopt;
  }
  return gid_of(reinterpret_cast<sockaddr&>(from));
}

bool is_of_this_machine(const sockaddr& address) {
  const link::FileDescriptor socket{::socket(address.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0)};
  sockaddr_storage at{};
  std::memcpy(&at, &address, size_of(address));
  auto& form = reinterpret_cast<sockaddr&>(at);
  set_port(form, 0);
  return socket && ::bind(socket.get(), &form, size_of(form)) == 0;
}

}  // namespace roce::verbs
