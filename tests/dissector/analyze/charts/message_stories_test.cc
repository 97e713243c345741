// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/charts/message_stories.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace roce::analyze {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::SizeIs;

/// Request packets and their messages, one frame in a microsecond.
class Exchange {
 public:
  void request(std::uint32_t stream, std::int64_t psn, bool is_again = false) {
    analysis::Observation seen;
    seen.kind = PacketKind::roce;
    seen.id.frame = ++frame_;
    seen.time = Time{Duration{static_cast<std::int64_t>(frame_) * 1000}};
    seen.psn = Psn{static_cast<std::uint32_t>(psn) & 0xFF'FFFFU};
    analysis::PacketAnalysis known;
    known.stream = stream;
    known.role = analysis::PacketRole::request;
    known.relative_psn = psn;
    const std::array again{analysis::Verdict{.kind = analysis::VerdictKind::retransmission}};
    if (is_again) known.verdicts = again;
    psns_.add(seen, known);
  }
  /// A message of one PSN between two frames.
  void message(std::uint32_t stream, std::uint32_t psn, std::uint64_t first, std::uint64_t answer) {
    analysis::Message message;
    message.stream = stream;
    message.end = analysis::MessageEnd::acknowledged;
    message.first.frame = message.last.frame = first;
    message.answer.frame = answer;
    message.first_psn = Psn{psn};
    message.psn_count = 1;
    message.start = Time{Duration{static_cast<std::int64_t>(first) * 1000}};
    message.finish = Time{Duration{static_cast<std::int64_t>(answer) * 1000}};
    stories_.add(message, psns_);
  }
  void lose(std::uint32_t stream, std::uint64_t frame) {
    analysis::Verdict verdict;
    verdict.kind = analysis::VerdictKind::request_lost_after;
    verdict.stream = stream;
    verdict.packet.frame = frame;
    psns_.add(verdict);
  }

  [[nodiscard]] std::uint64_t frame() const { return frame_; }
  [[nodiscard]] std::vector<MessageStory> stories() const { return stories_.stories(psns_); }

 private:
  PsnTracks psns_;
  MessageStories stories_;
  std::uint64_t frame_ = 0;
};

std::vector<std::uint64_t> frames_of(const MessageStory& story) {
  std::vector<std::uint64_t> frames;
  for (const PsnPoint& point : story.packets) frames.push_back(point.frame);
  return frames;
}

TEST(MessageStories, AreOfTheSlowest) {
  Exchange exchange;
  for (std::uint32_t psn = 0; psn < 100; ++psn) exchange.request(1, psn);
  for (std::uint32_t psn = 0; psn < 50; ++psn) exchange.message(1, psn, psn + 1, psn + 2 + psn % 30);
  const std::vector<MessageStory> stories = exchange.stories();
  ASSERT_THAT(stories, SizeIs(MessageStories::kMost));
  for (std::size_t i = 1; i < stories.size(); ++i) {
    EXPECT_GE(stories[i - 1].message.latency(), stories[i].message.latency());
  }
  EXPECT_EQ(stories.front().message.latency(), Duration{30'000});
  EXPECT_THAT(stories.front().packets, SizeIs(31));
  EXPECT_EQ(stories.front().first_psn, 29);
}

TEST(MessageStories, HavePacketsThatTheGraphDoesNotKeep) {
  // Long after the first packets of its stream, between packets of others, and known only later.
  Exchange exchange;
  for (std::int64_t psn = 0; psn < 5000; ++psn) exchange.request(1, psn);
  const std::uint64_t first = exchange.frame() + 1;
  for (std::int64_t psn = 5000; psn < 5003; ++psn) exchange.request(1, psn);
  for (std::int64_t psn = 0; psn < 3000; ++psn) exchange.request(2, psn);
  exchange.request(1, 5000, true);
  const std::uint64_t answer = exchange.frame();
  for (std::int64_t psn = 5003; psn < 5403; ++psn) exchange.request(1, psn);
  exchange.message(1, 5000, first, answer);
  EXPECT_THAT(frames_of(exchange.stories().front()), ElementsAre(first, first + 1, first + 2, answer));
  EXPECT_EQ(exchange.stories().front().packets.back().kind, PsnKind::sent_again);
}

TEST(MessageStories, KeepTheEndsTheMessageAndItsTroubleOfManyPackets) {
  Exchange exchange;
  for (std::int64_t psn = 0; psn < 200; ++psn) exchange.request(1, psn);
  exchange.request(1, 0, true);
  for (std::int64_t psn = 200; psn < 400; ++psn) exchange.request(1, psn);
  exchange.message(1, 0, 1, exchange.frame());
  const MessageStory story = exchange.stories().front();
  const std::vector<std::uint64_t> frames = frames_of(story);
  EXPECT_LE(frames.size(), MessageStories::kPackets);
  std::uint64_t left_out = 0;
  for (const MessageStory::Break& each : story.breaks) {
    EXPECT_THAT(frames, Contains(each.frame));
    left_out += each.packets;
  }
  EXPECT_EQ(frames.size() + left_out, 401U);
  EXPECT_EQ(frames.front(), 1U);
  EXPECT_EQ(frames.back(), 401U);
  EXPECT_NE(std::ranges::find(frames, 201U), frames.end());
}

TEST(MessageStories, SayWhatWasLostWhenItIsKnown) {
  Exchange exchange;
  exchange.request(1, 0);
  exchange.request(1, 1);
  exchange.request(1, 0, true);
  exchange.message(1, 0, 1, 3);
  EXPECT_EQ(exchange.stories().front().packets.front().kind, PsnKind::sent);
  exchange.lose(1, 1);
  EXPECT_EQ(exchange.stories().front().packets.front().kind, PsnKind::lost);
}

TEST(MessageStories, HaveTheEndsEvenOfStreamsThatAreNotFollowed) {
  Exchange exchange;
  exchange.message(7, 4, 10, 20);
  EXPECT_THAT(frames_of(exchange.stories().front()), ElementsAre(10, 20));
}

}  // namespace
}  // namespace roce::analyze
