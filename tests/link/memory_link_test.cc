// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/memory_link.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "link_tools.h"

namespace roce::link::test {
namespace {

MemoryLink::Pair pair_of(const MemoryLinkOptions& options = {}) {
  auto made = MemoryLink::make_pair(options);
  if (!made) {
    ADD_FAILURE() << made.error().message;
    return {};
  }
  return std::move(*made);
}

TEST(MemoryLink, CarriesFramesUnchangedAndInOrderBothWays) {
  const auto [a, b] = pair_of({.max_bytes = 4200});
  for (Link* from : {a.get(), b.get()}) {
    Link& to = from == a.get() ? *b : *a;
    std::vector<Bytes> sent;
    for (unsigned i = 0; i < 10; ++i) sent.push_back(pattern(i * 466, i));
    std::vector<TxFrame> frames;
    for (const Bytes& bytes : sent) frames.push_back({bytes, {}});
    EXPECT_EQ(from->send(frames), frames.size());
    const auto kept = collect(to, frames.size());
    ASSERT_EQ(kept.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(kept[i].bytes, sent[i]) << i;
      EXPECT_EQ(kept[i].frame.wire_length, sent[i].size());
    }
  }
  EXPECT_EQ(a->counters(), b->counters());
  EXPECT_EQ(a->counters().sent, 10U);
  EXPECT_EQ(a->counters().received, 10U);
  EXPECT_EQ(a->counters().sent_bytes, a->counters().received_bytes);
}

TEST(MemoryLink, CarriesKindUdpHeadersAndTimes) {
  std::int64_t now = 0;
  const auto [a, b] = pair_of({.kind = LinkKind::udp, .clock = [&now] { return now += 1000; }});
  EXPECT_EQ(a->kind(), LinkKind::udp);
  EXPECT_EQ(b->kind(), LinkKind::udp);
  const UdpMeta udp{address("10.0.0.1"), address("10.0.0.2"), 49152, 0x6b, 17};
  ASSERT_TRUE(send_one(*a, pattern(20), udp));
  ASSERT_TRUE(send_one(*a, pattern(20), udp));
  const auto kept = collect(*b, 2);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[0].frame.udp, udp);
  EXPECT_EQ(kept[0].frame.timestamp_ns, 1000);
  EXPECT_EQ(kept[1].frame.timestamp_ns, 2000);
}

TEST(MemoryLink, CountsWhatFindsNoRoomAsDropsOfTheReceiver) {
  const auto [a, b] = pair_of({.capacity_frames = 4});
  for (unsigned i = 0; i < 7; ++i) ASSERT_TRUE(send_one(*a, pattern(10, i)));
  EXPECT_EQ(a->counters().sent, 7U);
  EXPECT_EQ(a->counters().receive_drops, 0U);
  EXPECT_EQ(b->counters().receive_drops, 3U);
  const auto kept = collect(*b, 4);
  ASSERT_EQ(kept.size(), 4U);
  for (unsigned i = 0; i < 4; ++i) EXPECT_EQ(kept[i].bytes, pattern(10, i));
  EXPECT_FALSE(readable(*b, 0));
  ASSERT_TRUE(send_one(*a, pattern(10, 9)));
  EXPECT_EQ(collect(*b, 1).size(), 1U);
}

TEST(MemoryLink, KeepsReceivedFramesUntilTheNextReceive) {
  const auto [a, b] = pair_of({.capacity_frames = 2});
  ASSERT_TRUE(send_one(*a, pattern(100, 1)));
  ASSERT_TRUE(send_one(*a, pattern(100, 2)));
  std::array<RxFrame, 2> frames;
  ASSERT_EQ(b->receive(frames), 2U);
  for (unsigned i = 0; i < 2; ++i) ASSERT_TRUE(send_one(*a, pattern(100, 50 + i)));
  EXPECT_EQ(b->counters().receive_drops, 0U) << "frames that were handed out take no room on the wire";
  EXPECT_TRUE(std::ranges::equal(frames[0].bytes, pattern(100, 1)));
  EXPECT_TRUE(std::ranges::equal(frames[1].bytes, pattern(100, 2)));
  const auto kept = collect(*b, 2);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].bytes, pattern(100, 51));
}

TEST(MemoryLink, IsReadableExactlyWhileFramesAreThere) {
  const auto [a, b] = pair_of();
  EXPECT_FALSE(readable(*b, 0));
  for (unsigned i = 0; i < 3; ++i) ASSERT_TRUE(send_one(*a, pattern(10, i)));
  EXPECT_FALSE(readable(*a, 0));
  std::array<RxFrame, 2> two;
  EXPECT_TRUE(readable(*b, 0));
  EXPECT_EQ(b->receive(two), 2U);
  EXPECT_TRUE(readable(*b, 0));
  EXPECT_EQ(b->receive(two), 1U);
  EXPECT_FALSE(readable(*b, 0));
  EXPECT_EQ(b->receive(two), 0U);
  ASSERT_TRUE(send_one(*a, pattern(10)));
  EXPECT_TRUE(readable(*b, 0));
}

TEST(MemoryLink, RefusesFramesThatAreTooLong) {
  const auto [a, b] = pair_of({.max_bytes = 1514});
  EXPECT_EQ(a->max_bytes(), 1514U);
  ASSERT_TRUE(send_one(*a, pattern(1515)));
  ASSERT_TRUE(send_one(*a, pattern(1514)));
  EXPECT_EQ(a->counters().send_errors, 1U);
  EXPECT_EQ(a->counters().sent, 1U);
  const auto kept = collect(*b, 1);
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(kept[0].bytes.size(), 1514U);
}

TEST(MemoryLink, OutlivesItsOtherEndAndLeavesNoFileOpen) {
  const auto before = open_files();
  {
    auto [a, b] = pair_of();
    ASSERT_TRUE(send_one(*b, pattern(10)));
    b.reset();
    EXPECT_TRUE(send_one(*a, pattern(10)));
    EXPECT_EQ(collect(*a, 1).size(), 1U);
  }
  EXPECT_EQ(open_files(), before);
}

TEST(MemoryLink, SaysThatItNeedsRoom) {
  const auto made = MemoryLink::make_pair({.capacity_frames = 0});
  ASSERT_FALSE(made);
  EXPECT_THAT(made.error().message, ::testing::HasSubstr("room for one frame"));
}

}  // namespace
}  // namespace roce::link::test
