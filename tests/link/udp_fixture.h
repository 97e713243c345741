// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>

#include "link_tools.h"
#include "own_network.h"
#include "roce/link/udp_link.h"

namespace roce::link::test {

using Address = std::array<std::byte, 16>;

/// A UDP socket as any program would open it.
class PlainSocket {
 public:
  /// Binds the socket to an address, and to a port that the kernel chooses unless one is named.
  explicit PlainSocket(const Address& local, std::uint16_t port = 0) : v4_(is_v4(local)) {
    fd_ = ::socket(v4_ ? AF_INET : AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    sockaddr_storage own{};
    if (fd_ < 0 || ::bind(fd_, reinterpret_cast<sockaddr*>(&own), store(local, port, own)) != 0) return;
    socklen_t size = sizeof own;
    ::getsockname(fd_, reinterpret_cast<sockaddr*>(&own), &size);
    std::uint16_t network_order = 0;
    std::memcpy(&network_order, reinterpret_cast<const char*>(&own) + 2, sizeof network_order);
    port_ = ntohs(network_order);
  }
  PlainSocket(const PlainSocket&) = delete;
  PlainSocket& operator=(const PlainSocket&) = delete;
  ~PlainSocket() {
    if (fd_ >= 0) ::close(fd_);
  }

  /// Returns the port; 0 if the socket could not be bound.
  [[nodiscard]] std::uint16_t port() const { return port_; }
  [[nodiscard]] bool send_to(const Address& to, std::uint16_t port, const Bytes& bytes) const {
    sockaddr_storage address{};
    const socklen_t size = store(to, port, address);
    return ::sendto(fd_, bytes.data(), bytes.size(), 0, reinterpret_cast<sockaddr*>(&address), size) ==
           static_cast<ssize_t>(bytes.size());
  }

  static bool is_v4(const Address& address) { return address[10] == std::byte{0xff} && address[0] == std::byte{}; }

 private:
  static socklen_t store(const Address& from, std::uint16_t port, sockaddr_storage& to) {
    if (is_v4(from)) {
      sockaddr_in result{};
      result.sin_family = AF_INET;
      result.sin_port = htons(port);
      std::memcpy(&result.sin_addr, from.data() + 12, 4);
      std::memcpy(&to, &result, sizeof result);
      return sizeof result;
    }
    sockaddr_in6 result{};
    result.sin6_family = AF_INET6;
    result.sin6_port = htons(port);
    std::memcpy(&result.sin6_addr, from.data(), 16);
    std::memcpy(&to, &result, sizeof result);
    return sizeof result;
  }

  int fd_ = -1;
  bool v4_;
  std::uint16_t port_ = 0;
};

/// Shows the frames on the loopback interface as they are.
class Sniffer {
 public:
  Sniffer() {
    fd_ = ::socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, htons(ETH_P_ALL));
    sockaddr_ll where{};
    where.sll_family = AF_PACKET;
    where.sll_protocol = htons(ETH_P_ALL);
    where.sll_ifindex = static_cast<int>(::if_nametoindex("lo"));
    good_ = fd_ >= 0 && ::bind(fd_, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
  }
  Sniffer(const Sniffer&) = delete;
  Sniffer& operator=(const Sniffer&) = delete;
  ~Sniffer() {
    if (fd_ >= 0) ::close(fd_);
  }

  [[nodiscard]] bool good() const { return good_; }
  /// Returns the next frame that went out with UDP port 4791; empty if none comes within two seconds.
  [[nodiscard]] Bytes next() const {
    pollfd waiting{fd_, POLLIN, 0};
    while (::poll(&waiting, 1, 2000) == 1) {
      Bytes frame(70000);
      sockaddr_ll from{};
      socklen_t size = sizeof from;
      const ssize_t got = ::recvfrom(fd_, frame.data(), frame.size(), 0, reinterpret_cast<sockaddr*>(&from), &size);
      if (got < 14 + 40 || from.sll_pkttype != PACKET_OUTGOING) continue;
      frame.resize(static_cast<std::size_t>(got));
      const std::size_t port = (frame[12] == std::byte{0x86} ? 14 + 40 : 14 + 20) + 2;
      if (frame.at(port) == std::byte{0x12} && frame.at(port + 1) == std::byte{0xb7}) return frame;
    }
    return {};
  }

 private:
  int fd_ = -1;
  bool good_ = false;
};

/// Returns how much waits at a UDP port of this network namespace, in bytes of kernel memory; -1 without such a port.
inline long waiting_bytes(std::uint16_t port, bool v6) {
  std::ifstream table(v6 ? "/proc/self/net/udp6" : "/proc/self/net/udp");
  std::string line;
  std::getline(table, line);
  while (std::getline(table, line)) {
    std::istringstream fields(line);
    std::string slot, local, remote, state, queues;
    fields >> slot >> local >> remote >> state >> queues;
    if (std::stoul(local.substr(local.rfind(':') + 1), nullptr, 16) != port) continue;
    return std::stol(queues.substr(queues.rfind(':') + 1), nullptr, 16);
  }
  return -1;
}

/// Two addresses of this machine, of the family that the test parameter names.
class UdpLinkTest : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!OwnNetwork::unavailable()) network_.emplace();
    if (!v6()) return;
    if (!network_) GTEST_SKIP() << *OwnNetwork::unavailable();
    if (!network_->has_v6()) GTEST_SKIP() << "this machine has no IPv6";
  }

  [[nodiscard]] bool v6() const { return std::string(GetParam()) == "v6"; }
  /// Returns none if it is not allowed; the tests of IPv4 then share the machine's loopback interface.
  [[nodiscard]] const std::optional<OwnNetwork>& network() const { return network_; }
  [[nodiscard]] Address first() const { return address(name_of(1)); }
  [[nodiscard]] Address second() const { return address(name_of(2)); }
  [[nodiscard]] std::string name(const Address& which) const { return name_of(which == first() ? 1 : 2); }

  [[nodiscard]] static UdpMeta meta(const Address& from, const Address& to, std::uint16_t port) {
    return {.source = from, .destination = to, .source_port = port, .traffic_class = 0, .hop_limit = 64};
  }

  static std::unique_ptr<UdpLink> open(const Address& local) {
    auto link = UdpLink::open({.local = local});
    if (link) return std::move(*link);
    ADD_FAILURE() << link.error().message;
    return nullptr;
  }

 private:
  [[nodiscard]] std::string name_of(int which) const {
    if (v6()) return "fd00::" + std::to_string(which);
    if (network_) return "127.0.0." + std::to_string(which);
    // Tests that run at the same time share the loopback interface.
    const auto own = static_cast<unsigned>(::getpid());
    return "127." + std::to_string(64 + (own >> 14 & 63)) + '.' + std::to_string(own >> 6 & 255) + '.' +
           std::to_string((own & 63) * 4 + static_cast<unsigned>(which));
  }

  std::optional<OwnNetwork> network_;
};

}  // namespace roce::link::test
