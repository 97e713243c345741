// SPDX-License-Identifier: BSD-2-Clause
// Several devices that share one port: the device that owns a number, and the device that a frame is for.
#include "roce/transport/shard.h"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "roce/transport/device.h"
#include "roce/wire/packet_spec.h"

namespace roce::transport {
namespace {

constexpr std::uint8_t kBits = 2;
constexpr std::uint8_t kShards = 1 << kBits;

/// One of four devices with room for eight QPs.
struct Shard {
  explicit Shard(std::uint8_t number, std::uint32_t first_qpn = 0x11, bool takes_groups = false)
      : device(make(number, first_qpn, takes_groups)) {
    pd = device.create_pd().value();
    cq = device.create_cq(16).value();
  }
  static Device make(std::uint8_t number, std::uint32_t first_qpn, bool takes_groups) {
    DeviceConfig config;
    config.mac = {{2, 0, 0, 0, 0, 1}};
    config.gids = {{.gid = Gid::from_ipv4({{192, 0, 2, 1}})}};
    config.limits.max_qp = 8;
    config.shard_bits = kBits;
    config.shard = number;
    config.first_qpn = first_qpn;
    config.takes_groups = takes_groups;
    return std::move(Device::make(std::move(config), [random = std::uint64_t{number}]() mutable {
                       return random += 0x9E37'79B9'7F4A'7C15;
                     }).value());
  }
  VerbResult<Qpn> create(QpType type = QpType::rc) {
    return device.create_qp({.type = type, .pd = pd, .send_cq = cq, .receive_cq = cq});
  }

  Device device;
  Pd pd{};
  Cq cq{};
};

class EachShard : public testing::TestWithParam<std::uint32_t> {};

TEST_P(EachShard, HandsOutNumbersWithItsOwnInTheLowBits) {
  std::set<Qpn> seen;
  for (std::uint8_t number = 0; number < kShards; ++number) {
    Shard shard{number, GetParam()};
    for (int i = 0; i < 40; ++i) {
      const VerbResult<Qpn> qpn = shard.create();
      ASSERT_TRUE(qpn.has_value()) << to_string(qpn.error());
      EXPECT_EQ(shard_of(*qpn, kBits), number) << std::hex << qpn->value();
      EXPECT_GE(qpn->value(), 2U);
      EXPECT_LE(qpn->value(), 0xFF'FFFEU) << "also where the numbers begin again";
      EXPECT_TRUE(seen.insert(*qpn).second) << "no two devices hand out the same number";
      EXPECT_TRUE(shard.device.query_qp(*qpn).has_value());
      // Some stay, so that the device has to search for a free number.
      if (i % 8 != 0) {
        ASSERT_TRUE(shard.device.destroy_qp(*qpn).has_value());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(From, EachShard, testing::Values(2, 3, 0x11, 0x1234, 0xFF'FF00, 0xFF'FFFB, 0xFF'FFFE),
                         [](const auto& first) { return "Qpn" + std::to_string(first.param); });

TEST(Shard, AllNumbersOfAShardCanBeInUse) {
  Shard shard{3};
  for (int i = 0; i < 8; ++i) EXPECT_TRUE(shard.create().has_value());
  EXPECT_EQ(shard.create().error().code, VerbErrorCode::no_resources);
}

TEST(Shard, OnlyTheFirstHasQp1AndMulticast) {
  const Gid group = Gid::from_ipv4({{239, 1, 2, 3}});
  Shard first{0};
  EXPECT_EQ(first.create(QpType::gsi), Qpn{1});
  EXPECT_TRUE(first.device.attach_multicast(first.create(QpType::ud).value(), group).has_value());
  Shard other{2};
  const VerbResult<Qpn> gsi = other.create(QpType::gsi);
  ASSERT_FALSE(gsi.has_value());
  EXPECT_EQ(to_string(gsi.error()), "type: found 2, needs a device that is shard 0");
  const VerbResult<void> attached = other.device.attach_multicast(other.create(QpType::ud).value(), group);
  ASSERT_FALSE(attached.has_value());
  EXPECT_EQ(to_string(attached.error()), "group: found 2, needs a device that is shard 0");
}

TEST(Shard, AnotherHasGroupsIfItTakesThem) {
  Shard other{2, 0x11, true};
  EXPECT_TRUE(other.device.attach_multicast(other.create(QpType::ud).value(), Gid::from_ipv4({{239, 1, 2, 3}})));
}

TEST(Shard, ANumberThatDoesNotFitIsRefused) {
  DeviceConfig config;
  config.gids = {{.gid = Gid::from_ipv4({{192, 0, 2, 1}})}};
  config.shard_bits = 1;
  config.shard = 2;
  const VerbResult<Device> made = Device::make(config, [] { return std::uint64_t{1}; });
  ASSERT_FALSE(made.has_value());
  EXPECT_EQ(made.error().subject, "shard");
}

std::uint8_t shard_of_text(const std::string& text) {
  const SpecResult<PacketSpec> spec = PacketSpec::from_text(text);
  if (!spec) {
    ADD_FAILURE() << spec.error().message;
    return 0xFF;
  }
  const std::vector<std::byte> frame = spec->build().value();
  return shard_of(parse_frame(frame, LinkType::ethernet), kBits);
}

TEST(Shard, AFrameIsForTheDeviceThatHasItsQueuePair) {
  for (const char* headers : {"eth ip udp bth reth", "eth ipv6 udp bth reth", "eth grh bth reth",
                              "eth vlan ip udp bth reth", "eth vlan vlan ipv6 udp bth reth"}) {
    for (std::uint32_t qpn = 8; qpn < 16; ++qpn) {
      EXPECT_EQ(shard_of_text(std::string{"headers: "} + headers + "\nopcode: RC_WRITE_ONLY\nbth.dest_qp: " +
                              std::to_string(qpn) + "\npayload_length: 64\n"),
                qpn % kShards)
          << headers;
    }
  }
}

TEST(Shard, WhatNobodyElseHasIsForTheFirst) {
  const std::string datagram = "headers: eth ip udp bth deth\nopcode: UD_SEND_ONLY\nbth.dest_qp: ";
  EXPECT_EQ(shard_of_text(datagram + "0"), 0);
  EXPECT_EQ(shard_of_text(datagram + "1"), 0) << "QP1";
  EXPECT_EQ(shard_of_text(datagram + "0xFFFFFF"), 0) << "multicast";
  EXPECT_EQ(shard_of_text(datagram + "0xFFFFFE"), 2);
  EXPECT_EQ(shard_of_text("headers: eth mac_control pfc\n"), 0);
  EXPECT_EQ(shard_of_text("headers: eth arp\n"), 0);
  EXPECT_EQ(shard_of_text("headers: eth ip udp\nudp.dstport: 4790\npayload: 000000000000000000000003\nicrc: none\n"),
            0);
}

}  // namespace
}  // namespace roce::transport
