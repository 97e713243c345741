// SPDX-License-Identifier: BSD-2-Clause
// The behaviour that all links on Ethernet frames share, on veth pairs in network namespaces of the test's own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>

#include "ethernet_link_fixture.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;

TEST_P(EthernetLink, CarriesFramesUnchangedAndInOrderBothWays) {
  const auto a = open_a();
  const auto b = open_b();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->max_bytes(), 1514U);
  for (const auto& [from, to] : {std::pair{a.get(), b.get()}, std::pair{b.get(), a.get()}}) {
    std::vector<Bytes> sent;
    for (unsigned i = 0; i < 100; ++i) sent.push_back(frame(i == 99 ? 1514 : 60 + i * 13, i));
    std::vector<TxFrame> frames;
    for (const Bytes& bytes : sent) frames.push_back({bytes, {}});
    const auto before = std::chrono::system_clock::now().time_since_epoch();
    EXPECT_EQ(from->send(frames), frames.size());
    const auto kept = collect(*to, frames.size());
    ASSERT_EQ(kept.size(), sent.size());
    for (std::size_t i = 0; i < sent.size(); ++i) {
      EXPECT_EQ(kept[i].bytes, sent[i]) << i;
      EXPECT_EQ(kept[i].frame.wire_length, sent[i].size());
      EXPECT_EQ(kept[i].frame.segment_size, 0U);
      EXPECT_LT(std::abs(kept[i].frame.timestamp_ns - std::chrono::nanoseconds(before).count()), 2'000'000'000);
    }
    EXPECT_EQ(from->counters().sent, 100U);
    EXPECT_EQ(to->counters().received, 100U);
    EXPECT_EQ(from->counters().sent_bytes, to->counters().received_bytes);
  }
  EXPECT_EQ(a->counters(), b->counters()) << "nothing but the frames of the other was seen";
}

TEST_P(EthernetLink, KeepsVlanTags) {
  const auto a = open_a();
  const auto b = open_b();
  ASSERT_TRUE(a && b);
  const std::vector<Bytes> sent{tagged(frame(100, 1), {0x8100, 0x6064}),
                                tagged(frame(100, 2), {0x8100, 0xe000}),
                                tagged(frame(100, 3), {0x88a8, 0x0007}),
                                frame(100, 4),
                                tagged(tagged(frame(100, 5), {0x8100, 0x0005}), {0x88a8, 0x0006}),
                                tagged(frame(1514, 6), {0x8100, 0x0fff})};
  for (const Bytes& bytes : sent) ASSERT_TRUE(send_one(*a, bytes));
  const auto kept = collect(*b, sent.size());
  ASSERT_EQ(kept.size(), sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) {
    EXPECT_EQ(kept[i].bytes, sent[i]) << i;
    EXPECT_EQ(kept[i].frame.wire_length, sent[i].size());
  }
}

TEST_P(EthernetLink, CarriesManyFramesWithoutLossWhenTheyAreRead) {
  const auto a = open_a();
  const auto b = open_b();
  ASSERT_TRUE(a && b);
  constexpr unsigned kCount = 40'000;
  std::vector<Bytes> kinds;
  for (unsigned i = 0; i < 251; ++i) kinds.push_back(frame(60 + i * 5, i));
  unsigned received = 0;
  for (unsigned sent = 0; sent < kCount; sent += 500) {
    std::vector<TxFrame> frames;
    for (unsigned i = 0; i < 500; ++i) frames.push_back({kinds[(sent + i) % kinds.size()], {}});
    ASSERT_EQ(a->send(frames), frames.size());
    for (const Kept& one : collect(*b, 500)) {
      ASSERT_EQ(one.bytes, kinds[received % kinds.size()]) << received;
      ++received;
    }
  }
  EXPECT_EQ(received, kCount);
  EXPECT_EQ(b->counters().receive_drops, 0U);
}

TEST_P(EthernetLink, CountsWhatFindsNoRoom) {
  const auto a = open_a();
  const auto b = open_b(Room::little);
  ASSERT_TRUE(a && b);
  constexpr unsigned kCount = 6000;
  const Bytes bytes = frame(1000, 1);
  const std::vector<TxFrame> frames(kCount, TxFrame{bytes, {}});
  ASSERT_EQ(a->send(frames), kCount);
  std::size_t received = 0;
  std::array<RxFrame, 64> got;
  while (readable(*b, 200)) received += b->receive(got).value_or(0);
  EXPECT_GT(received, 0U);
  EXPECT_LT(received, kCount);
  EXPECT_EQ(b->counters().received, received);
  EXPECT_EQ(b->counters().receive_drops, kCount - received);
  EXPECT_EQ(b->counters().receive_drops, kCount - received) << "asking does not change it";
}

TEST_P(EthernetLink, GivesEachFrameOnceWhenMoreIsAskedForThanTheRingHolds) {
  const auto a = open_a();
  const auto b = open_b(Room::little);
  ASSERT_TRUE(a && b);
  std::vector<Bytes> sent(6000, frame(1000, 1));
  std::vector<TxFrame> frames;
  for (std::uint32_t i = 0; i < sent.size(); ++i) {
    std::memcpy(sent[i].data() + 20, &i, sizeof i);
    frames.push_back({sent[i], {}});
  }
  ASSERT_EQ(a->send(frames), sent.size());
  std::vector<std::uint32_t> numbers;
  std::vector<RxFrame> got(4096);
  while (readable(*b, 200)) {
    const std::size_t count = b->receive(got).value_or(0);
    for (std::size_t i = 0; i < count; ++i) {
      numbers.emplace_back();
      std::memcpy(&numbers.back(), got[i].bytes.data() + 20, sizeof numbers.back());
    }
  }
  EXPECT_GT(numbers.size(), 0U);
  EXPECT_TRUE(std::ranges::is_sorted(numbers, std::ranges::less_equal{})) << "a frame came again";
  EXPECT_EQ(numbers.size() + b->counters().receive_drops, sent.size());
}

TEST_P(EthernetLink, CarriesJumboFrames) {
  for (const auto& [space, name] : {std::pair{&wire_->a, "va"}, std::pair{&wire_->b, "vb"}}) {
    space->ip("link set " + std::string(name) + " mtu 9000");
  }
  const auto a = open_a();
  const auto b = open_b();
  ASSERT_TRUE(a && b);
  EXPECT_EQ(a->max_bytes(), 9014U);
  const std::vector<Bytes> sent{frame(9014, 1), tagged(frame(9014, 2), {0x8100, 5}), frame(9013, 3)};
  for (const Bytes& bytes : sent) ASSERT_TRUE(send_one(*a, bytes));
  const auto kept = collect(*b, 3);
  ASSERT_EQ(kept.size(), 3U);
  for (std::size_t i = 0; i < sent.size(); ++i) EXPECT_EQ(kept[i].bytes, sent[i]) << i;
}

TEST_P(EthernetLink, FramesThatAreTooLongAreErrorsAndTheRestGoes) {
  const auto a = open_a();
  const auto b = open_b();
  ASSERT_TRUE(a && b);
  const std::vector<Bytes> sent{frame(100, 1), frame(2000, 2), frame(100, 3)};
  std::vector<TxFrame> frames;
  for (const Bytes& bytes : sent) frames.push_back({bytes, {}});
  EXPECT_EQ(a->send(frames), 3U);
  EXPECT_EQ(a->counters().send_errors, 1U);
  EXPECT_EQ(a->counters().sent, 2U);
  const auto kept = collect(*b, 2);
  ASSERT_EQ(kept.size(), 2U);
  EXPECT_EQ(kept[1].bytes, sent[2]);
}

TEST_P(EthernetLink, SaysWhenTheInterfaceIsGone) {
  const auto a = open_a();
  ASSERT_TRUE(a);
  ASSERT_TRUE(a->check());
  wire_->a.ip("link del va");
  pollfd waiting{a->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 5000), 1);
  EXPECT_NE(waiting.revents & (POLLERR | POLLIN), 0);
  const auto alive = a->check();
  ASSERT_FALSE(alive);
  EXPECT_THAT(alive.error().message, HasSubstr("interface va is gone"));
  const Bytes bytes = frame(100, 1);
  const TxFrame out{bytes, {}};
  const auto sent = a->send({&out, 1});
  ASSERT_FALSE(sent);
  EXPECT_THAT(sent.error().message, HasSubstr("interface va is gone"));
}

TEST_P(EthernetLink, GoesOnAfterTheInterfaceWasDown) {
  const auto a = open_a();
  const auto b = open_b();
  ASSERT_TRUE(a && b);
  wire_->a.ip("link set va down");
  pollfd waiting{a->fd(), POLLIN, 0};
  ASSERT_EQ(::poll(&waiting, 1, 5000), 1);
  EXPECT_TRUE(a->check());
  ASSERT_TRUE(send_one(*a, frame(100, 1)));
  EXPECT_EQ(a->counters().send_errors, 1U);
  wire_->a.ip("link set va up");
  // The interface is up at once, but sends again only some time later, which nothing reports.
  const auto arrives = [](Link& from, Link& to, const Bytes& bytes) {
    for (int tries = 0; tries < 20; ++tries) {
      if (!send_one(from, bytes)) return false;
      if (const auto got = collect(to, 1); !got.empty()) return got[0].bytes == bytes;
    }
    return false;
  };
  EXPECT_TRUE(arrives(*b, *a, frame(100, 2)));
  EXPECT_TRUE(arrives(*a, *b, frame(100, 3)));
}

TEST_P(EthernetLink, LeavesNothingOpen) {
  const auto before = open_files();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(open_a());
  EXPECT_EQ(open_files(), before);
}

}  // namespace
}  // namespace roce::link::test
