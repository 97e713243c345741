// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "roce/analysis/tracker.h"
#include "roce/wire/opcode.h"
#include "sim/random.h"
#include "support/counted_heap.h"

namespace {

using namespace roce;
using namespace roce::analysis;

constexpr std::size_t kMebibyte = std::size_t{1} << 20U;
constexpr Opcode kSendOnly{0x04};
constexpr Opcode kReadRequest{0x0C};
constexpr Opcode kReadMiddle{0x0E};
constexpr Opcode kAcknowledge{0x11};

Gid host(std::uint32_t number) {
  return Gid::from_ipv4({{10, static_cast<std::uint8_t>(number >> 16U), static_cast<std::uint8_t>(number >> 8U),
                          static_cast<std::uint8_t>(number)}});
}

/// Feeds a tracker as a program does that drains it from time to time.
class Feed {
 public:
  explicit Feed(const Limits& limits) : before_(test::heap_bytes()), tracker_({.limits = limits}) {
    test::reset_heap_peak();
    verdicts_.reserve(kEvery * 64);
  }

  Observation request(std::uint32_t pair, std::uint32_t qpn, std::uint32_t psn, Opcode opcode = kSendOnly) {
    Observation packet;
    packet.kind = PacketKind::roce;
    packet.version = RoceVersion::v2_ipv4;
    packet.source = host(2 * pair);
    packet.destination = host(2 * pair + 1);
    packet.dest_qp = Qpn{qpn};
    packet.psn = Psn{psn & 0xFF'FFFFU};
    packet.opcode = opcode;
    packet.is_whole = true;
    packet.has_icrc = true;
    packet.icrc = static_cast<std::uint32_t>(id_);
    packet.payload_length = 1024;
    packet.wire_length = 1098;
    return packet;
  }
  Observation response(std::uint32_t pair, std::uint32_t qpn, std::uint32_t psn, Opcode opcode = kAcknowledge,
                       AethSyndrome syndrome = AethSyndrome::ack()) {
    Observation packet = request(pair, qpn, psn, opcode);
    std::swap(packet.source, packet.destination);
    packet.has_aeth = true;
    packet.syndrome = syndrome;
    return packet;
  }
  Observation read(std::uint32_t pair, std::uint32_t qpn, std::uint32_t psn, std::uint32_t length) {
    Observation packet = request(pair, qpn, psn, kReadRequest);
    packet.has_reth = true;
    packet.dma_length = length;
    packet.payload_length = 0;
    return packet;
  }
  const PacketAnalysis& feed(Observation packet) {
    packet.id = {++id_, 0};
    packet.time = Time{std::chrono::milliseconds{id_}};
    if (id_ % kEvery == 0) drain();
    return tracker_.observe(packet);
  }
  void drain() {
    verdicts_.clear();
    messages_.clear();
    answers_.clear();
    tracker_.drain(verdicts_);
    tracker_.drain_messages(messages_);
    tracker_.drain_answers(answers_);
    closed_.clear();
    tracker_.drain_closed(closed_);
  }
  [[nodiscard]] Tracker& tracker() { return tracker_; }
  /// Returns the heap bytes in use.
  [[nodiscard]] std::size_t taken() const { return test::heap_bytes() - before_; }
  /// Returns the most heap bytes that were in use at any time, with those that the caller keeps between two drains.
  [[nodiscard]] std::size_t peak() const { return test::heap_peak() - before_; }

 private:
  static constexpr std::uint64_t kEvery = 1024;

  std::size_t before_;
  Tracker tracker_;
  std::uint64_t id_ = 0;
  std::vector<Verdict> verdicts_;
  std::vector<Message> messages_;
  std::vector<Answer> answers_;
  std::vector<StreamSummary> closed_;
};

constexpr std::uint32_t kScanned = 20'000;

/// Returns the heap bytes that each of `kScanned` streams takes; `scan` feeds the packets of one, given its number.
template <typename Scan>
std::size_t taken_for_each(Scan scan) {
  Feed feed{Limits{}};
  for (std::uint32_t i = 0; i < kScanned; ++i) scan(feed, i);
  feed.drain();
  EXPECT_EQ(feed.tracker().stream_count(), kScanned);
  return feed.taken() / kScanned;
}

constexpr std::size_t kMostForAStream = 2240;

constexpr Limits kSmall{.streams = 64, .requests_per_stream = 256, .responses_per_stream = 64, .max_gap = 1U << 16U};

// Feeds packets of 100,000 flows in random order: requests with losses, READs of 2 GiB, answers and NAKs.
void feed_many_flows(Feed& feed, unsigned packets) {
  sim::Random random{1};
  std::vector<std::uint32_t> psns(100'000);
  for (unsigned i = 0; i < packets; ++i) {
    const auto flow = static_cast<std::uint32_t>(random.below(psns.size()));
    const std::uint32_t pair = flow % 1000;
    const std::uint32_t qpn = 2 + flow / 1000;
    std::uint32_t& psn = psns[flow];
    switch (random.below(8)) {
      case 0:
        feed.feed(feed.response(pair, 1000 + qpn, psn - 1));
        break;
      case 1:
        feed.feed(
            feed.response(pair, 1000 + qpn, psn - 1, kAcknowledge, AethSyndrome::nak(NakCode::psn_sequence_error)));
        break;
      case 2:
        psn += 1 + static_cast<std::uint32_t>(random.below(1000));
        feed.feed(feed.request(pair, qpn, psn++));
        break;
      case 3:
        feed.feed(feed.read(pair, qpn, psn++, 0x8000'0000));
        break;
      default:
        feed.feed(feed.request(pair, qpn, psn++));
        break;
    }
  }
}

/// Returns the bytes that all streams may take with `limits`, including those that the caller keeps between two drains.
std::size_t bound_of(const Limits& limits) {
  constexpr std::size_t stream = 4 * 1024;     // with its summary, flows and unmatched answers
  constexpr std::size_t request = 2 * 96 * 2;  // a ring has up to twice as many slots, in both directions
  return 32 * kMebibyte + limits.streams * (stream + limits.requests_per_stream * request);
}

TEST(TrackerBounds, OfAStreamWithOneRequest) {
  EXPECT_LE(taken_for_each([](Feed& feed, std::uint32_t i) { feed.feed(feed.request(i / 1000, 2 + i, i * 7919)); }),
            kMostForAStream);
}

TEST(TrackerBounds, OfAStreamWithOneMarkedRead) {
  EXPECT_LE(taken_for_each([](Feed& feed, std::uint32_t i) {
              Observation read = feed.read(i / 1000, 2 + i, i * 7919, 4096);
              read.traffic_class = 3;
              feed.feed(read);
            }),
            kMostForAStream);
}

TEST(TrackerBounds, OfAStreamWithOneAnswer) {
  EXPECT_LE(taken_for_each([](Feed& feed, std::uint32_t i) { feed.feed(feed.response(i / 1000, 2 + i, i * 7919)); }),
            kMostForAStream);
}

TEST(TrackerBounds, OfAConnectionWithAnAnsweredRequest) {
  EXPECT_LE(taken_for_each([](Feed& feed, std::uint32_t i) {
              feed.feed(feed.request(i, 2 + i, i * 7919));
              feed.feed(feed.response(i, 0x10'0000 + i, i * 7919));
            }),
            kMostForAStream);
}

TEST(TrackerBounds, OfAConnectionThatIsRefused) {
  EXPECT_LE(taken_for_each([](Feed& feed, std::uint32_t i) {
              feed.feed(feed.request(i, 2 + i, i * 7919));
              feed.feed(feed.response(i, 0x10'0000 + i, i * 7919, kAcknowledge,
                                      AethSyndrome::nak(NakCode::remote_access_error)));
            }),
            kMostForAStream);
}

// The caller has to take the records of streams that ended.
TEST(TrackerBounds, OfManyFlows) {
  Feed feed{Limits{}};
  feed_many_flows(feed, 300'000);
  EXPECT_LT(feed.peak(), 600 * kMebibyte);
  EXPECT_GT(feed.tracker().evictions().streams, 30'000U);
  EXPECT_EQ(feed.tracker().stream_count(), Limits{}.streams);
}

TEST(TrackerBounds, OfManyFlowsAndSmallLimits) {
  Feed feed{kSmall};
  feed_many_flows(feed, 300'000);
  EXPECT_LT(feed.peak(), bound_of(kSmall));
  EXPECT_GT(feed.tracker().evictions().streams, 200'000U);
  EXPECT_EQ(feed.tracker().stream_count(), kSmall.streams);
}

TEST(TrackerBounds, OfJumpsOfThePsn) {
  Feed feed{kSmall};
  for (std::uint32_t i = 0; i < 300'000; ++i) feed.feed(feed.request(1, 2, i * 0x30'0000U));
  EXPECT_LT(feed.peak(), bound_of(kSmall));
  EXPECT_EQ(feed.tracker().stream_count(), 1U);
}

TEST(TrackerBounds, OfUnansweredRequests) {
  Feed feed{Limits{}};
  for (std::uint32_t i = 0; i < 3'000'000; ++i) feed.feed(feed.request(1, 2, i));
  EXPECT_LT(feed.peak(), 16 * kMebibyte);
  EXPECT_EQ(feed.tracker().evictions().requests, 3'000'000U - Limits{}.requests_per_stream);
}

TEST(TrackerBounds, OfGapsThatAreNeverFilled) {
  Feed feed{Limits{}};
  for (std::uint32_t i = 0; i < 100'000; ++i) feed.feed(feed.request(1, 2, 2 * i));
  EXPECT_LT(feed.peak(), 16 * kMebibyte);
}

TEST(TrackerBounds, OfGapsInAnAnswerThatAreNeverFilled) {
  Feed feed{Limits{}};
  feed.feed(feed.read(1, 2, 0, 0x8000'0000));
  for (std::uint32_t i = 0; i < 100'000; ++i) feed.feed(feed.response(1, 3, 2 * i, kReadMiddle));
  EXPECT_LT(feed.peak(), 16 * kMebibyte);
}

// Every second PSN of a huge gap comes, from its end on: each belongs before the packets seen so far.
TEST(TrackerBounds, OfAGapThatIsFilledBackwards) {
  Feed feed{kSmall};
  feed.feed(feed.request(1, 2, 0));
  feed.feed(feed.request(1, 2, 60'000));
  for (std::uint32_t psn = 59'998; psn > 0; psn -= 2) feed.feed(feed.request(1, 2, psn));
  EXPECT_LT(feed.peak(), 16 * kMebibyte);
}

// The requests take a way that the capture does not cover.
TEST(TrackerBounds, OfAnswersToUnseenRequests) {
  Feed feed{Limits{}};
  feed.feed(feed.request(1, 2, 0));
  for (std::uint32_t i = 0; i < 100'000; ++i) feed.feed(feed.response(1, 3, i));
  EXPECT_LT(feed.peak(), 16 * kMebibyte);
}

TEST(TrackerBounds, OfHugeReadsAnsweredInPart) {
  Feed feed{Limits{}};
  for (std::uint32_t round = 0; round < 4; ++round) {
    feed.feed(feed.read(1, 2, round << 22U, 0x8000'0000));
    for (std::uint32_t i = 0; i < 25'000; ++i) {
      feed.feed(feed.response(1, 3, (round << 22U) + 2 * i, kReadMiddle));
    }
  }
  EXPECT_LT(feed.peak(), 16 * kMebibyte);
}

TEST(TrackerBounds, OfReadsThatAreNeverAnswered) {
  Feed feed{Limits{}};
  for (std::uint32_t i = 0; i < 300'000; ++i) {
    feed.feed(feed.read(1, 2, i, 1));
    feed.feed(feed.response(1, 3, i));
  }
  EXPECT_LT(feed.peak(), 16 * kMebibyte);
}

// Nothing requests an answer, there are gaps, and each retransmission is one PSN further back.
TEST(TrackerBounds, OfRepetitionsWithoutAnEnd) {
  Feed feed{Limits{}};
  feed.feed(feed.request(1, 2, 0));
  feed.feed(feed.response(1, 3, 0));
  for (std::uint32_t i = 0; i < 1000; ++i) feed.feed(feed.request(1, 2, 2 * i + 2));
  for (std::uint32_t i = 0; i < 15'000; ++i) feed.feed(feed.request(1, 2, 2002 + i));
  for (std::uint32_t i = 0; i < 13'000; ++i) feed.feed(feed.request(1, 2, 16'000 - i));
  EXPECT_LT(feed.peak(), 16 * kMebibyte);
}

}  // namespace
