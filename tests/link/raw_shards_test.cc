// SPDX-License-Identifier: BSD-2-Clause
// Raw links that divide what an interface receives: the kernel's steering is compared with the library's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "raw_link_fixture.h"
#include "roce/transport/shard.h"
#include "roce/wire/packet_spec.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint8_t kBits = 2;
constexpr std::size_t kShards = 1 << kBits;

using Links = std::vector<std::unique_ptr<RawLink>>;

/// Returns a broadcast frame, from the lines of a packet specification.
Bytes built(const std::string& headers, const std::string& lines) {
  const auto spec = PacketSpec::from_text("headers: " + headers + "\neth.dst: ff:ff:ff:ff:ff:ff\n" +
                                          "eth.src: 02:00:00:00:00:09\n" + lines);
  if (!spec) {
    ADD_FAILURE() << spec.error().message;
    return {};
  }
  auto bytes = spec->build();
  if (!bytes) ADD_FAILURE() << bytes.error().message;
  return bytes ? *bytes : Bytes{};
}

Bytes write_to(const std::string& headers, std::uint32_t qpn, const std::string& more = {}) {
  return built(headers, "opcode: RC_WRITE_ONLY\nbth.dest_qp: " + std::to_string(qpn) + "\npayload_length: 64\n" + more);
}

Bytes datagram_to(std::uint32_t qpn) {
  return built("eth ip udp bth deth", "opcode: UD_SEND_ONLY\nbth.dest_qp: " + std::to_string(qpn) + "\n");
}

std::size_t shard_of(const Bytes& frame) {
  return transport::shard_of(parse_frame(frame, LinkType::ethernet), kBits);
}

class RawShards : public RawLinkTest {
 protected:
  [[nodiscard]] Links open_shards(RawLinkOptions options = {}) const {
    options.interface = "vb";
    options.ring_bytes = 1 << 20;
    auto opened = wire_->b.in([&] { return RawLink::open_shards(options, kBits); });
    if (opened) return std::move(*opened);
    ADD_FAILURE() << opened.error().message;
    return {};
  }

  /// Sends the frames and expects each at the link that the library computes, in their order, and nowhere else.
  static void expect_steered(Link& from, const Links& links, const std::vector<Bytes>& frames) {
    std::map<std::size_t, std::vector<Bytes>> expected;
    for (const Bytes& frame : frames) {
      ASSERT_TRUE(send_one(from, frame));
      expected[shard_of(frame)].push_back(frame);
    }
    // One more for each link, which comes after all others.
    for (std::uint32_t shard = 0; shard < kShards; ++shard) {
      const Bytes last = write_to("eth ip udp bth reth", 0x400 + shard);
      ASSERT_TRUE(send_one(from, last));
      expected[shard].push_back(last);
    }
    for (std::size_t shard = 0; shard < kShards; ++shard) {
      const auto kept = collect_until(*links[shard], expected[shard].back());
      ASSERT_EQ(kept.size(), expected[shard].size()) << "shard " << shard;
      for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_EQ(kept[i], expected[shard][i]) << shard << ' ' << i;
    }
  }

 private:
  static std::vector<Bytes> collect_until(Link& link, const Bytes& last) {
    std::vector<Bytes> result;
    while (result.empty() || result.back() != last) {
      const auto kept = collect(link, 1);
      if (kept.empty()) break;
      for (const Kept& one : kept) result.push_back(one.bytes);
    }
    return result;
  }
};

struct Kind {
  const char* name;
  const char* headers;
  const char* lines;

  friend void PrintTo(const Kind& kind, std::ostream* out) { *out << kind.name; }
};

constexpr Kind kKinds[] = {
    {"Ipv4", "eth ip udp bth reth", ""},
    {"Ipv4Options", "eth ip ip_options udp bth reth", "ip.header_length: 7\nip_options: 9404000001010100\n"},
    {"Ipv4LongestOptions", "eth ip ip_options udp bth reth",
     "ip.header_length: 15\nip_options: "
     "01010101010101010101010101010101010101010101010101010101010101010101010101010100\n"},
    {"FirstFragment", "eth ip udp bth reth", "ip.mf: 1\n"},
    {"Ipv6", "eth ipv6 udp bth reth", ""},
    {"RoceV1", "eth grh bth reth", ""},
    {"VlanIpv4", "eth vlan ip udp bth reth", "vlan.vid: 7\n"},
    {"VlanIpv6", "eth vlan ipv6 udp bth reth", "vlan.vid: 7\nvlan.pcp: 3\n"},
    {"VlanRoceV1", "eth vlan grh bth reth", "vlan.vid: 7\n"},
    {"TwoTagsIpv4", "eth vlan vlan ip udp bth reth", "vlan[0].vid: 7\nvlan[1].vid: 8\n"},
    {"ServiceTagIpv6", "eth vlan vlan ipv6 udp bth reth", "eth.type: 0x88a8\n"},
    {"ServiceTagsRoceV1", "eth vlan vlan grh bth reth", "eth.type: 0x88a8\nvlan[0].type: 0x88a8\n"},
};

class RawShardsOfKind : public RawShards, public testing::WithParamInterface<Kind> {};

INSTANTIATE_TEST_SUITE_P(Frames, RawShardsOfKind, testing::ValuesIn(kKinds),
                         [](const auto& which) { return which.param.name; });

TEST_P(RawShardsOfKind, ComeToTheLinkThatTheirDestQpSays) {
  const auto a = open_a({});
  const Links links = open_shards();
  ASSERT_TRUE(a);
  ASSERT_EQ(links.size(), kShards);
  std::vector<Bytes> frames;
  std::size_t others = 0;
  for (const std::uint32_t qpn : {0x11U, 0x12U, 0x13U, 0x14U, 0x800003U, 0xABCDEEU, 0xFFFFFEU, 1U, 0U}) {
    frames.push_back(write_to(GetParam().headers, qpn, GetParam().lines));
    if (shard_of(frames.back()) != 0) ++others;
  }
  ASSERT_EQ(others, 6U) << "the library reads these frames";
  expect_steered(*a, links, frames);
}

TEST_F(RawShards, AllElseComesToTheFirst) {
  const auto a = open_a({});
  const Links links = open_shards();
  ASSERT_TRUE(a);
  ASSERT_EQ(links.size(), kShards);
  Bytes cut = write_to("eth ip udp bth reth", 3);
  cut.resize(14 + 20 + 8 + 4);
  const std::vector<Bytes> frames{
      datagram_to(1),
      datagram_to(0xFFFFFF),
      built("eth mac_control pfc", "eth.type: 0x8808\n"),
      built("eth arp", ""),
      frame(60, 3, kOtherType),
      cut,
      write_to("eth ip udp bth reth", 3, "udp.dstport: 4790\n"),
      write_to("eth ipv6 udp bth reth", 3, "udp.dstport: 4790\n"),
      write_to("eth ip udp bth reth", 3, "ip.protocol: 6\n"),
      write_to("eth ip udp bth reth", 3, "ip.fragment_offset: 100\n"),
      write_to("eth grh bth reth", 3, "grh.next_header: 17\n"),
  };
  for (const Bytes& one : frames) EXPECT_EQ(shard_of(one), 0U);
  expect_steered(*a, links, frames);
}

TEST_F(RawShards, SuperFramesComeAsOne) {
  if (!kernel_tells_udp_segments()) GTEST_SKIP() << "kernels before 6.2 do not tell the size of UDP segments";
  const Links links = open_shards({.interface = {}, .filter = "udp dst port 4791"});
  ASSERT_EQ(links.size(), kShards);
  const KernelSender sender{*wire_};
  for (const bool v6 : {false, true}) {
    for (std::uint32_t shard = 0; shard < kShards; ++shard) {
      // The bytes from the BTH on; the kernel keeps all that lies behind the headers in pages of their own.
      Bytes bytes = pattern(40 * 1000, shard);
      for (std::size_t start = 0; start < bytes.size(); start += 1000) {
        bytes[start + 5] = bytes[start + 6] = std::byte{1};
        bytes[start + 7] = static_cast<std::byte>(0x10 + shard);
      }
      ASSERT_TRUE(sender.send_udp(v6, bytes, 1000));
      const auto kept = collect(*links[shard], 1);
      ASSERT_EQ(kept.size(), 1U) << "shard " << shard;
      EXPECT_EQ(kept[0].frame.segment_size, 1000U);
      EXPECT_EQ(kept[0].bytes.size(), (v6 ? 62U : 42U) + 40'000U);
    }
  }
}

TEST_F(RawShards, DoNotSeeWhatTheySend) {
  const auto a = open_a({});
  const Links links = open_shards();
  ASSERT_TRUE(a);
  ASSERT_EQ(links.size(), kShards);
  for (const auto& link : links) {
    for (std::uint32_t qpn = 0x20; qpn < 0x24; ++qpn) {
      ASSERT_TRUE(send_one(*link, write_to("eth ip udp bth reth", qpn)));
    }
  }
  EXPECT_EQ(collect(*a, 4 * kShards).size(), 4 * kShards);
  if (!kernel_tells_udp_segments()) GTEST_SKIP() << "kernels before 6.2 show them";
  expect_steered(*a, links, {});
}

TEST_F(RawShards, KeepTheirNumbersWhenTheInterfaceWasDown) {
  const auto a = open_a({});
  const Links links = open_shards();
  ASSERT_TRUE(a);
  ASSERT_EQ(links.size(), kShards);
  expect_steered(*a, links, {});
  wire_->b.ip("link set vb down");
  wire_->b.ip("link set vb up");
  for (const auto& link : links) EXPECT_TRUE(link->check().has_value());
  expect_steered(*a, links, {write_to("eth ipv6 udp bth reth", 0x13)});
}

TEST_F(RawShards, GroupsOfAnInterfaceDoNotMeet) {
  const auto a = open_a({});
  const Links first = open_shards();
  const Links second = open_shards();
  ASSERT_TRUE(a);
  ASSERT_TRUE(first.size() == kShards && second.size() == kShards);
  const Bytes bytes = write_to("eth ip udp bth reth", 0x12);
  ASSERT_TRUE(send_one(*a, bytes));
  for (const Links* links : {&first, &second}) {
    const auto kept = collect(*(*links)[2], 1);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].bytes, bytes);
  }
}

TEST_F(RawShards, SayWhatIsWrong) {
  const auto opened = wire_->b.in([] { return RawLink::open_shards({.interface = "vx", .filter = {}}, kBits); });
  ASSERT_FALSE(opened.has_value());
  EXPECT_THAT(opened.error().message, HasSubstr("cannot find interface vx"));
}

}  // namespace
}  // namespace roce::link::test
