// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <netinet/udp.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstring>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "ethernet_link_fixture.h"
#include "roce/link/raw_link.h"

namespace roce::link::test {

/// A test with a wire of its own.
class RawLinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto& reason = roce::test::NetworkNamespace::unavailable();
    if (reason) GTEST_SKIP() << *reason;
    wire_.emplace();
  }
  /// Returns nullptr, and fails the test, if the link cannot be opened.
  [[nodiscard]] std::unique_ptr<RawLink> open_a(RawLinkOptions options) const {
    return open(wire_->a, "va", std::move(options));
  }
  [[nodiscard]] std::unique_ptr<RawLink> open_b(RawLinkOptions options) const {
    return open(wire_->b, "vb", std::move(options));
  }

  std::optional<Wire> wire_;

 private:
  static std::unique_ptr<RawLink> open(const roce::test::NetworkNamespace& space, const char* name,
                                       RawLinkOptions options) {
    options.interface = name;
    auto opened = space.in([&] { return RawLink::open(options); });
    if (opened) return std::move(*opened);
    ADD_FAILURE() << opened.error().message;
    return nullptr;
  }
};

/// The kernel's own sockets on side a of a wire; their frames go to side b, whose MAC address is given to the kernel.
class KernelSender {
 public:
  /// With `vlan` the packets go through a VLAN device.
  explicit KernelSender(const Wire& wire, unsigned vlan = 0) : wire_(wire) {
    std::string device = "va";
    if (vlan != 0) {
      device = "vlan";
      wire.a.ip("link add link va name vlan type vlan id " + std::to_string(vlan));
      wire.a.ip("link set vlan addrgenmode none");
      wire.a.ip("link set vlan up");
    }
    wire.a.ip("address add 10.7.0.1/24 dev " + device);
    wire.a.ip("address add fd07::1/64 nodad dev " + device);
    for (const char* address : {"10.7.0.2", "fd07::2"}) {
      wire.a.ip("neighbour add " + std::string(address) + " lladdr 02:00:00:00:00:02 dev " + device);
    }
  }

  /// Sends one datagram to port 4791; with `segment`, several of that size by UDP_SEGMENT.
  [[nodiscard]] bool send_udp(bool v6, const Bytes& bytes, int segment = 0) const {
    return wire_.a.in([&] {
      const int fd = open(v6, SOCK_DGRAM);
      const bool is_set = segment == 0 || ::setsockopt(fd, IPPROTO_UDP, UDP_SEGMENT, &segment, sizeof segment) == 0;
      const bool sent = is_set && ::send(fd, bytes.data(), bytes.size(), 0) == static_cast<ssize_t>(bytes.size());
      ::close(fd);
      return sent;
    });
  }
  /// Begins a connection, so that a SYN goes out.
  void begin_tcp() const {
    wire_.a.enter([] { ::close(open(false, SOCK_STREAM | SOCK_NONBLOCK)); });
  }

 private:
  static int open(bool v6, int type) {
    const int fd = ::socket(v6 ? AF_INET6 : AF_INET, type, 0);
    sockaddr_in6 to6{
        .sin6_family = AF_INET6, .sin6_port = htons(4791), .sin6_flowinfo = 0, .sin6_addr = {}, .sin6_scope_id = 0};
    sockaddr_in to4{.sin_family = AF_INET, .sin_port = htons(4791), .sin_addr = {}, .sin_zero = {}};
    ::inet_pton(AF_INET6, "fd07::2", &to6.sin6_addr);
    ::inet_pton(AF_INET, "10.7.0.2", &to4.sin_addr);
    (void)::connect(fd, v6 ? reinterpret_cast<sockaddr*>(&to6) : reinterpret_cast<sockaddr*>(&to4),
                    v6 ? sizeof to6 : sizeof to4);
    return fd;
  }

  const Wire& wire_;
};

/// True if this kernel has VLAN devices.
inline bool has_vlan_devices(const Wire& wire) {
  return wire.a.run("ip link add link va name trial type vlan id 9 && ip link del trial").exit_code == 0;
}

/// Returns the offset of the IP header in a frame with at most one VLAN tag.
inline std::size_t ip_offset(const Bytes& bytes) {
  return bytes[12] == std::byte{0x81} ? 18 : 14;
}

inline std::uint32_t two_bytes(const Bytes& bytes, std::size_t at) {
  const auto octet = [&](std::size_t i) { return i < bytes.size() ? std::to_integer<std::uint32_t>(bytes[i]) : 0U; };
  return octet(at) << 8U | octet(at + 1);
}

/// Returns the complement of the sum over the pseudo header and the packet, which is 0 if the checksum is right (RFC
/// 768, RFC 9293, RFC 8200). For IPv4 without options and IPv6 without extension headers.
inline std::uint32_t transport_checksum_of(const Bytes& bytes) {
  const std::size_t ip = ip_offset(bytes);
  const bool v6 = std::to_integer<unsigned>(bytes[ip]) >> 4U == 6;
  const std::size_t transport = ip + (v6 ? 40 : 20);
  std::uint32_t sum = std::to_integer<std::uint32_t>(bytes[ip + (v6 ? 6 : 9)]);
  sum += static_cast<std::uint32_t>(bytes.size() - transport);
  for (std::size_t at = ip + (v6 ? 8 : 12); at < transport; at += 2) sum += two_bytes(bytes, at);
  for (std::size_t at = transport; at < bytes.size(); at += 2) sum += two_bytes(bytes, at);
  while (sum > 0xffff) sum = (sum & 0xffffU) + (sum >> 16U);
  return 0xffff - sum;
}

inline std::uint32_t udp_checksum_field(const Bytes& bytes) {
  const std::size_t ip = ip_offset(bytes);
  return two_bytes(bytes, ip + (std::to_integer<unsigned>(bytes[ip]) >> 4U == 6 ? 40 : 20) + 6);
}

/// True if packet sockets report how UDP segmentation divides a frame.
inline bool kernel_tells_udp_segments() {
  utsname name{};
  int major = 0;
  int minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 6 || (major == 6 && minor >= 2);
}

}  // namespace roce::link::test
