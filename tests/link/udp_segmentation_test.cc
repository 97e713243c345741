// SPDX-License-Identifier: BSD-2-Clause
// Super-frames on UDP links: those that the kernel cuts on the way out, and those that come in.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "udp_fixture.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;

class UdpSegmentation : public UdpLinkTest {
 protected:
  static std::unique_ptr<UdpLink> open_segmenting(const Address& local) {
    auto link = UdpLink::open({.local = local, .segmentation = true});
    if (link) return std::move(*link);
    ADD_FAILURE() << link.error().message;
    return nullptr;
  }
  [[nodiscard]] UdpMeta there() const { return meta(first(), second(), 50001); }
};

INSTANTIATE_TEST_SUITE_P(Udp, UdpSegmentation, ::testing::Values("v4", "v6"),
                         [](const auto& which) { return std::string(which.param); });

TEST_P(UdpSegmentation, CarriesSuperFramesWholeAmongOthersAndInOrder) {
  const auto a = open_segmenting(first());
  const auto b = open_segmenting(second());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->segmentation().max_segments, 64U);
  UdpMeta marked = there();
  marked.traffic_class = 0x6a;
  marked.hop_limit = 9;
  std::vector<Bytes> sent;
  for (unsigned i = 0; i < 20; ++i) sent.push_back(pattern(i % 3 == 0 ? 65473 : i % 3 == 1 ? 100 : 2050, i));
  std::vector<TxFrame> frames;
  for (const Bytes& bytes : sent) {
    frames.push_back({bytes, bytes.size() > 3000 ? marked : there(), bytes.size() > 100 ? 1040U : 0U});
  }
  EXPECT_EQ(a->send(frames), frames.size());
  const auto kept = collect(*b, frames.size());
  ASSERT_EQ(kept.size(), frames.size());
  for (std::size_t i = 0; i < kept.size(); ++i) {
    EXPECT_EQ(kept[i].bytes, sent[i]) << i;
    EXPECT_EQ(kept[i].frame.segment_size, frames[i].segment_size) << i;
    EXPECT_EQ(kept[i].frame.udp, frames[i].udp) << i;
  }
  EXPECT_EQ(a->counters().sent, frames.size());
  EXPECT_EQ(a->counters().sent_bytes, b->counters().received_bytes);
}

TEST_P(UdpSegmentation, ArrivesAsPacketsWhereItWasNotAskedFor) {
  const auto a = open_segmenting(first());
  const auto b = open(second());
  ASSERT_TRUE(a && b);
  EXPECT_EQ(b->segmentation().max_segments, 1U);
  const Bytes sent = pattern(3 * 1000 + 500, 1);
  const TxFrame frame{sent, there(), 1000};
  EXPECT_EQ(b->send({&frame, 1}), 0U) << "left for the caller to cut";
  EXPECT_EQ(a->send({&frame, 1}), 1U);
  const auto kept = collect(*b, 4);
  ASSERT_EQ(kept.size(), 4U);
  Bytes all;
  for (const Kept& one : kept) {
    EXPECT_EQ(one.frame.segment_size, 0U);
    all.insert(all.end(), one.bytes.begin(), one.bytes.end());
  }
  EXPECT_EQ(all, sent);
}

TEST_P(UdpSegmentation, IsOnTheWireAsPacketsWhoseIdentificationsCountFromZero) {
  if (!network()) GTEST_SKIP() << *OwnNetwork::unavailable();
  ASSERT_EQ(std::system("ethtool -K lo tx-udp-segmentation off"), 0) << "it needs ethtool";
  const Sniffer sniffer;
  ASSERT_TRUE(sniffer.good());
  const auto a = open_segmenting(first());
  const auto b = open_segmenting(second());
  ASSERT_TRUE(a && b);
  const Bytes payload = pattern(3 * 1000 + 500, 1);
  const Bytes single = pattern(100, 2);
  const std::array frames{TxFrame{payload, there(), 1000}, TxFrame{single, there()}, TxFrame{payload, there(), 1000}};
  EXPECT_EQ(a->send(frames), frames.size());
  const std::size_t headers = v6() ? 62 : 42;
  for (const std::size_t id : {0U, 1U, 2U, 3U, 100U, 0U, 1U, 2U, 3U}) {
    const Bytes seen = sniffer.next();
    ASSERT_GE(seen.size(), headers);
    SCOPED_TRACE(id);
    const auto checksum = std::pair{seen[headers - 2], seen[headers - 1]};
    if (id == 100) {
      EXPECT_EQ(seen.size(), headers + single.size());
      EXPECT_EQ(checksum, std::pair(std::byte{}, std::byte{})) << "what is not segmented has no checksum";
    } else {
      const auto begin = payload.begin() + static_cast<std::ptrdiff_t>(id * 1000);
      EXPECT_TRUE(std::equal(seen.begin() + static_cast<std::ptrdiff_t>(headers), seen.end(), begin,
                             id == 3 ? payload.end() : begin + 1000));
    }
    if (v6()) continue;
    EXPECT_EQ(seen[14 + 4], std::byte{});
    EXPECT_EQ(seen[14 + 5], static_cast<std::byte>(id == 100 ? 0 : id)) << "identification";
    EXPECT_EQ(seen[14 + 6], std::byte{0x40}) << "Don't Fragment";
  }
}

TEST_P(UdpSegmentation, EndsWhenTheKernelRefusesOneAndSaysWhy) {
  const auto a = open_segmenting(first());
  const auto b = open_segmenting(second());
  ASSERT_TRUE(a && b);
  const Bytes small = pattern(100, 1);
  // More packets than any kernel takes in one super-frame.
  const Bytes many = pattern(60'000, 2);
  const std::array frames{TxFrame{small, there()}, TxFrame{many, there(), 20}, TxFrame{small, there()}};
  EXPECT_EQ(a->send(frames), 1U) << "up to the refused one";
  EXPECT_EQ(a->segmentation().max_segments, 1U);
  EXPECT_THAT(a->segmentation().refusal, HasSubstr("UDP_SEGMENT"));
  EXPECT_EQ(a->send(std::span{frames}.last(2)), 0U);
  EXPECT_EQ(a->send(std::span{frames}.last(1)), 1U);
  EXPECT_EQ(a->counters().send_errors, 0U);
  EXPECT_EQ(collect(*b, 2).size(), 2U);
}

TEST_P(UdpSegmentation, TakesNoPacketsThatAreTooLong) {
  if (!network()) GTEST_SKIP() << *OwnNetwork::unavailable();
  network()->set_mtu(1500);
  const auto a = open_segmenting(first());
  const auto b = open_segmenting(second());
  ASSERT_TRUE(a && b);
  const Bytes payload = pattern(5000, 1);
  const std::array frames{TxFrame{payload, there(), 1480}, TxFrame{payload, there(), 1400}};
  EXPECT_EQ(a->send(frames), 2U);
  EXPECT_EQ(a->counters().send_errors, 1U);
  const auto kept = collect(*b, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].frame.segment_size, 1400U);
  EXPECT_EQ(a->segmentation().max_segments, 64U) << "the kernel was not asked";
}

}  // namespace
}  // namespace roce::link::test
