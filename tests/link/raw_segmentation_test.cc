// SPDX-License-Identifier: BSD-2-Clause
// Super-frames on raw links: those that the kernel cuts on the way out, and those that come in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>

#include "raw_link_fixture.h"

namespace roce::link::test {
namespace {

struct Shape {
  const char* name;
  bool v6;
  bool vlan;

  friend void PrintTo(const Shape& shape, std::ostream* out) { *out << shape.name; }
};

/// Returns Ethernet, a VLAN tag if asked for, IP (IPv4 identification 65534) and UDP to port 4791 with these bytes.
Bytes udp_frame(const Shape& shape, const Bytes& payload) {
  const auto put = [](Bytes& bytes, std::size_t at, std::size_t value) {
    bytes[at] = static_cast<std::byte>(value >> 8U);
    bytes[at + 1] = static_cast<std::byte>(value);
  };
  const std::size_t ip_bytes = shape.v6 ? 40 : 20;
  Bytes ip(ip_bytes + 8);
  if (shape.v6) {
    ip[0] = std::byte{0x60};
    put(ip, 4, 8 + payload.size());
    ip[6] = std::byte{17};
    ip[7] = std::byte{64};
    std::fill_n(ip.begin() + 8, 32, std::byte{0xfd});
  } else {
    ip[0] = std::byte{0x45};
    put(ip, 2, 28 + payload.size());
    put(ip, 4, 65534);
    put(ip, 6, 0x4000);
    ip[8] = std::byte{64};
    ip[9] = std::byte{17};
    std::fill_n(ip.begin() + 12, 8, std::byte{10});
  }
  put(ip, ip_bytes, 50000);
  put(ip, ip_bytes + 2, 4791);
  put(ip, ip_bytes + 4, 8 + payload.size());
  Bytes bytes(14);
  std::fill_n(bytes.begin(), 6, std::byte{0xff});
  bytes[6] = std::byte{0x02};
  put(bytes, 12, shape.v6 ? 0x86dd : 0x0800);
  bytes.insert(bytes.end(), ip.begin(), ip.end());
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return shape.vlan ? tagged(bytes, {0x8100, 0x6007}) : bytes;
}

std::size_t header_bytes(const Shape& shape) {
  return std::size_t{14} + (shape.vlan ? 4 : 0) + (shape.v6 ? 40 : 20) + 8;
}

bool send_segmented(Link& link, const Bytes& bytes, std::uint32_t segment_size) {
  const TxFrame frame{bytes, {}, segment_size};
  return link.send({&frame, 1}) == 1U;
}

class RawSegmentation : public RawLinkTest, public ::testing::WithParamInterface<Shape> {
 protected:
  void SetUp() override {
    RawLinkTest::SetUp();
    if (wire_ && !kernel_tells_udp_segments())
      GTEST_SKIP() << "kernels before 6.2 do not segment UDP of packet sockets";
  }
  [[nodiscard]] static RawLinkOptions segmenting() {
    RawLinkOptions options;
    options.filter = "udp dst port 4791 or (vlan and udp dst port 4791)";
    options.segmentation = true;
    return options;
  }
};

INSTANTIATE_TEST_SUITE_P(Raw, RawSegmentation,
                         ::testing::Values(Shape{"V4", false, false}, Shape{"V6", true, false},
                                           Shape{"V4Vlan", false, true}, Shape{"V6Vlan", true, true}),
                         [](const auto& which) { return which.param.name; });

TEST_P(RawSegmentation, IsOnTheWireAsPacketsWithHeadersOfTheirOwn) {
  const auto a = open_a(segmenting());
  const auto b = open_b(segmenting());
  ASSERT_TRUE(a && b);
  ASSERT_EQ(wire_->a.run("ethtool -K va tx-udp-segmentation off").exit_code, 0) << "it needs ethtool";
  const Bytes payload = pattern(3 * 1000 + 500, 1);
  ASSERT_TRUE(send_segmented(*a, udp_frame(GetParam(), payload), 1000));
  EXPECT_EQ(a->counters().sent, 1U);
  const auto kept = collect(*b, 4);
  ASSERT_EQ(kept.size(), 4U);
  const std::size_t headers = header_bytes(GetParam());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    SCOPED_TRACE(i);
    const Bytes& bytes = kept[i].bytes;
    const auto begin = payload.begin() + static_cast<std::ptrdiff_t>(i * 1000);
    const Bytes part{begin, i == 3 ? payload.end() : begin + 1000};
    ASSERT_EQ(bytes.size(), headers + part.size());
    EXPECT_TRUE(std::equal(part.begin(), part.end(), bytes.begin() + static_cast<std::ptrdiff_t>(headers)));
    EXPECT_EQ(two_bytes(bytes, headers - 4), part.size() + 8) << "length of the UDP header";
    EXPECT_EQ(transport_checksum_of(bytes), 0);
    EXPECT_NE(udp_checksum_field(bytes), 0);
    if (!GetParam().v6) {
      EXPECT_EQ(two_bytes(bytes, ip_offset(bytes) + 2), part.size() + 28);
      EXPECT_EQ(two_bytes(bytes, ip_offset(bytes) + 4), (65534 + i) & 0xffff) << "identification";
    }
  }
}

TEST_P(RawSegmentation, ComesInWholeWhereNobodyCutsIt) {
  const auto a = open_a(segmenting());
  const auto b = open_b(segmenting());
  ASSERT_TRUE(a && b);
  const std::size_t headers = header_bytes(GetParam());
  // Shorter than a slot of the ring, longer, and as long as possible; more of them than are handed out at a time.
  std::vector<Bytes> payloads;
  for (unsigned i = 0; i < 5; ++i) {
    for (const std::size_t size : {std::size_t{1200}, std::size_t{20}, std::size_t{30'001}, 65535 - headers}) {
      payloads.push_back(pattern(size, i));
    }
  }
  for (const Bytes& payload : payloads) {
    const std::uint32_t segment_size = payload.size() > 20 ? static_cast<std::uint32_t>(payload.size() / 50) : 0;
    ASSERT_TRUE(send_segmented(*a, udp_frame(GetParam(), payload), segment_size));
    const auto kept = collect(*b, 1);
    ASSERT_EQ(kept.size(), 1U);
    EXPECT_EQ(kept[0].frame.segment_size, segment_size);
    EXPECT_EQ(kept[0].frame.wire_length, headers + payload.size());
    ASSERT_EQ(kept[0].bytes.size(), headers + payload.size());
    EXPECT_TRUE(
        std::equal(payload.begin(), payload.end(), kept[0].bytes.begin() + static_cast<std::ptrdiff_t>(headers)));
  }
  EXPECT_EQ(b->counters().receive_drops, 0U);
}

using RawSegmentationOrder = RawSegmentation;
INSTANTIATE_TEST_SUITE_P(Raw, RawSegmentationOrder, ::testing::Values(Shape{"V4", false, false}),
                         [](const auto& which) { return which.param.name; });

TEST_P(RawSegmentationOrder, HoldsAmongFramesOfBothKinds) {
  const auto a = open_a(segmenting());
  const auto b = open_b(segmenting());
  ASSERT_TRUE(a && b);
  std::vector<Bytes> sent;
  std::vector<TxFrame> frames;
  for (unsigned i = 0; i < 20; ++i) sent.push_back(udp_frame(GetParam(), pattern(i % 3 == 0 ? 5000 : 100, i)));
  for (const Bytes& bytes : sent) frames.push_back({bytes, {}, bytes.size() > 1000 ? 500U : 0U});
  EXPECT_EQ(a->send(frames), frames.size());
  const auto kept = collect(*b, frames.size());
  ASSERT_EQ(kept.size(), frames.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].frame.segment_size, frames[i].segment_size);
    EXPECT_TRUE(std::equal(kept[i].bytes.begin() + 42, kept[i].bytes.end(), sent[i].begin() + 42, sent[i].end())) << i;
  }
  EXPECT_EQ(a->counters().sent, 20U);
}

TEST_P(RawSegmentationOrder, IsOnlyWhereItWasAskedForAndOfWhatTheKernelCuts) {
  const auto plain = open_a({});
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->segmentation().max_segments, 1U);
  EXPECT_EQ(plain->segmentation().refusal, "");
  const Bytes super_frame = udp_frame(GetParam(), pattern(5000));
  EXPECT_FALSE(send_segmented(*plain, super_frame, 1000)) << "left for the caller to cut";
  EXPECT_EQ(plain->counters().send_errors, 0U);

  const auto a = open_a(segmenting());
  const auto b = open_b(segmenting());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->segmentation().max_segments, 64U);
  const Bytes no_udp = frame(3000, 1);
  const std::array frames{TxFrame{no_udp, {}, 1000}, TxFrame{super_frame, {}, 1600}, TxFrame{super_frame, {}, 1000}};
  EXPECT_EQ(a->send(frames), 3U);
  EXPECT_EQ(a->counters().send_errors, 2U) << "what is no UDP, and packets longer than the MTU";
  const auto kept = collect(*b, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].frame.segment_size, 1000U);
}

}  // namespace
}  // namespace roce::link::test
