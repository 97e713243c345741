// SPDX-License-Identifier: BSD-2-Clause
// The frames that the XDP program takes, and those that it leaves to the kernel.
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <netinet/in.h>

#include <string>
#include <vector>

#include "ethernet_link_fixture.h"
#include "roce/link/raw_link.h"
#include "xdp_link_fixture.h"

namespace roce::link::test {
namespace {

constexpr std::uint16_t kRocePort = 4791;

struct Ipv4 {
  std::uint8_t protocol = IPPROTO_UDP;
  std::uint16_t destination_port = kRocePort;
  std::uint16_t source_port = 49152;
  std::uint8_t option_words = 0;
  std::uint16_t fragment = 0x4000;  // flags and offset; Don't Fragment
};

void put(Bytes& bytes, std::size_t at, std::uint16_t value) {
  bytes[at] = static_cast<std::byte>(value >> 8);
  bytes[at + 1] = static_cast<std::byte>(value & 0xff);
}

Bytes ipv4(const Ipv4& shape) {
  Bytes bytes = frame(100, shape.destination_port, ETH_P_IP);
  const std::size_t transport = 14 + 20 + 4U * shape.option_words;
  bytes[14] = static_cast<std::byte>(0x45 + shape.option_words);
  put(bytes, 20, shape.fragment);
  bytes[23] = std::byte{shape.protocol};
  put(bytes, transport, shape.source_port);
  put(bytes, transport + 2, shape.destination_port);
  return bytes;
}

Bytes ipv6(std::uint8_t next_header, std::uint16_t destination_port) {
  Bytes bytes = frame(100, destination_port, ETH_P_IPV6);
  bytes[14] = std::byte{0x60};
  bytes[20] = std::byte{next_header};
  put(bytes, 14 + 40, 49152);
  put(bytes, 14 + 40 + 2, destination_port);
  return bytes;
}

constexpr Tag kCustomer{ETH_P_8021Q, 0x6064};
constexpr Tag kService{ETH_P_8021AD, 0x0007};

struct Case {
  std::string name;
  Bytes bytes;
};

std::vector<Case> roce_frames() {
  std::vector<Case> cases{{"v1", frame(100, 1)},
                          {"v2 on IPv4", ipv4({})},
                          {"v2 on IPv4 with options", ipv4({.option_words = 2})},
                          {"v2 on IPv4 without Don't Fragment", ipv4({.fragment = 0})},
                          {"v2 on IPv6", ipv6(IPPROTO_UDP, kRocePort)}};
  const std::size_t untagged = cases.size();
  for (std::size_t i = 0; i < untagged; ++i) {
    cases.push_back({cases[i].name + ", one tag", tagged(cases[i].bytes, kCustomer)});
    cases.push_back({cases[i].name + ", two tags", tagged(tagged(cases[i].bytes, kCustomer), kService)});
  }
  return cases;
}

std::vector<Case> other_frames() {
  Bytes cut = ipv4({.option_words = 15});
  cut.resize(60);
  return {{"ARP", frame(60, 1, ETH_P_ARP)},
          {"a type that nobody knows", frame(100, 1, kOtherType)},
          {"another UDP port", ipv4({.destination_port = 4790})},
          {"the UDP port as source", ipv4({.destination_port = 1, .source_port = kRocePort})},
          {"TCP", ipv4({.protocol = IPPROTO_TCP})},
          {"a first fragment", ipv4({.fragment = 0x2000})},
          {"a last fragment", ipv4({.fragment = 0x0010})},
          {"cut in the options", cut},
          {"TCP on IPv6", ipv6(IPPROTO_TCP, kRocePort)},
          {"another UDP port on IPv6", ipv6(IPPROTO_UDP, 4792)},
          {"IPv6 with an extension header", ipv6(IPPROTO_HOPOPTS, kRocePort)},
          {"three tags", tagged(tagged(tagged(ipv4({}), kCustomer), kCustomer), kService)},
          {"tagged ARP", tagged(frame(100, 1, ETH_P_ARP), kCustomer)}};
}

class XdpProgramTest : public XdpLinkTest {
 protected:
  /// Sends one frame; true if the link got it. It has to come either there or to the kernel, and unchanged.
  bool takes(const Case& one) {
    if (!send_one(*a_, one.bytes)) ADD_FAILURE() << one.name << " cannot be sent";
    std::array<RxFrame, 4> got;
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds{2};
    while (std::chrono::steady_clock::now() < deadline) {
      for (Link* link : {static_cast<Link*>(b_.get()), static_cast<Link*>(kernel_.get())}) {
        if (link->receive(got).value_or(0) == 0) continue;
        EXPECT_EQ(Bytes(got[0].bytes.begin(), got[0].bytes.end()), one.bytes) << one.name;
        return link == static_cast<Link*>(b_.get());
      }
    }
    ADD_FAILURE() << one.name << " came nowhere";
    return false;
  }
  void open_both(const XdpLinkOptions& options) {
    a_ = wire_->a.in([] { return RawLink::open({.interface = "va", .filter = {}}); }).value();
    kernel_ = wire_->b.in([] { return RawLink::open({.interface = "vb", .filter = {}}); }).value();
    b_ = open_b(options);
    ASSERT_NE(b_, nullptr);
  }

  std::unique_ptr<RawLink> a_;
  std::unique_ptr<RawLink> kernel_;
  std::unique_ptr<XdpLink> b_;
};

class XdpProgramModes : public XdpProgramTest, public ::testing::WithParamInterface<XdpLinkOptions::Mode> {};

INSTANTIATE_TEST_SUITE_P(Xdp, XdpProgramModes,
                         ::testing::Values(XdpLinkOptions::Mode::native, XdpLinkOptions::Mode::generic),
                         [](const auto& which) {
                           return which.param == XdpLinkOptions::Mode::native ? "Native" : "Generic";
                         });

TEST_P(XdpProgramModes, TakesRoceAndLeavesTheRestToTheKernel) {
  open_both({.interface = {}, .mode = GetParam(), .copies = {}});
  for (const Case& one : roce_frames()) EXPECT_TRUE(takes(one)) << one.name;
  for (const Case& one : other_frames()) EXPECT_FALSE(takes(one)) << one.name;
}

TEST_F(XdpProgramTest, TakesMacControlOnlyWhenAsked) {
  const Case pause{"PAUSE", frame(60, 1, 0x8808)};
  open_both({.interface = {}, .copies = {}});
  EXPECT_FALSE(takes(pause));
  b_.reset();
  b_ = open_b({.interface = {}, .mac_control = true, .copies = {}});
  ASSERT_NE(b_, nullptr);
  EXPECT_TRUE(takes(pause));
  EXPECT_TRUE(takes({"v1", frame(100, 1)}));
  EXPECT_FALSE(takes({"ARP", frame(60, 1, ETH_P_ARP)}));
}

}  // namespace
}  // namespace roce::link::test
