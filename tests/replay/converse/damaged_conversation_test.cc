// SPDX-License-Identifier: BSD-2-Clause
// Captures in which packets state something false about themselves, or ask for more than there is.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <limits>

#include "replay/converse/captured_memory.h"
#include "replay/converse/conversation.h"
#include "replay/converse/played_end.h"
#include "replay/converse/player.h"
#include "roce/wire/packet_spec.h"
#include "tests/replay/converse/memory_end.h"

namespace roce::replay::test {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// A capture of packets between 10.0.0.1 and 10.0.0.2, a microsecond apart.
class Capture {
 public:
  explicit Capture(std::uint64_t memory = kUsualMemory) : reader_(memory) {}

  /// Adds a request from 10.0.0.1: its opcode, its PSN, its payload in bytes, and further lines of a `PacketSpec`.
  Capture& ask(const std::string& opcode, std::uint32_t psn, std::size_t length, const std::string& more = "") {
    return add("ip.src: 10.0.0.1\nip.dst: 10.0.0.2\n", opcode, qp_, psn, length, more);
  }
  Capture& answer(const std::string& opcode, std::uint32_t psn, std::size_t length = 0, const std::string& more = "") {
    return add("ip.src: 10.0.0.2\nip.dst: 10.0.0.1\n", opcode, qp_ + 1, psn, length, more);
  }
  Capture& ack(std::uint32_t psn) { return answer("RC_ACKNOWLEDGE", psn); }
  /// Adds a NAK: remote access error.
  Capture& refuse(std::uint32_t psn) { return answer("RC_ACKNOWLEDGE", psn, 0, "aeth.syndrome: 0x62\n"); }
  /// Makes the packets that follow those of another connection.
  Capture& next_connection() {
    qp_ += 2;
    return *this;
  }
  Capture& at(Time time) {
    now_ = time;
    return *this;
  }

  [[nodiscard]] std::vector<Conversation> read_all() { return reader_.finish(); }
  [[nodiscard]] Conversation read() {
    std::vector<Conversation> all = read_all();
    if (all.size() != 1) throw std::runtime_error(fmt::format("{} connections", all.size()));
    return std::move(all.front());
  }

 private:
  Capture& add(const std::string& from, const std::string& opcode, unsigned qp, std::uint32_t psn, std::size_t length,
               const std::string& more) {
    const std::string text = fmt::format("headers: eth ip udp bth\n{}opcode: {}\nbth.dest_qp: {}\nbth.psn: {}\n{}",
                                         from, opcode, qp, psn, more) +
                             (length != 0 ? fmt::format("payload_length: {}\n", length) : "");
    const std::vector<std::byte> bytes = PacketSpec::from_text(text).value().build().value();
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    reader_.observe(packet, check_icrc(packet), now_, {++frame_, 0});
    if (now_ != Time::max()) now_ += std::chrono::microseconds{1};
    return *this;
  }

  ConversationReader reader_;
  unsigned qp_ = 0x20;
  std::uint64_t frame_ = 0;
  Time now_{std::chrono::seconds{1}};
};

/// Returns the lines of a RETH.
[[nodiscard]] std::string reth(std::uint64_t address, std::uint64_t length) {
  return fmt::format("reth.va: 0x{:x}\nreth.r_key: 7\nreth.dma_length: {}\n", address, length);
}

TEST(DamagedConversation, WriteThatIsAsItSays) {
  const Conversation good = Capture{}.ask("RC_WRITE_ONLY", 5, 64, reth(0x1000, 64)).ack(5).read();
  EXPECT_THAT(good.obstacles, IsEmpty());
  EXPECT_THAT(memory_of(good, 1)->regions, SizeIs(1));
}

TEST(DamagedConversation, WriteWithMorePayloadThanItsRethSays) {
  const Conversation bad = Capture{}.ask("RC_WRITE_ONLY", 5, 1000, reth(0x1000, 8)).ack(5).read();
  EXPECT_THAT(bad.obstacles, Contains(HasSubstr("frame 1 has 1000 bytes of payload, its RETH says 8")));
  ASSERT_FALSE(memory_of(bad, 1));
  EXPECT_THAT(memory_of(bad, 1).error(), HasSubstr("its RETH says 8"));
}

TEST(DamagedConversation, WriteWithLessPayloadThanItsRethSays) {
  const Conversation bad = Capture{}.ask("RC_WRITE_ONLY", 5, 8, reth(0x1000, 1000)).ack(5).read();
  EXPECT_THAT(bad.obstacles, Contains(HasSubstr("has 8 bytes of payload, its RETH says 1000")));
}

TEST(DamagedConversation, WriteOfNothingWithPayload) {
  const Conversation bad = Capture{}.ask("RC_WRITE_ONLY", 5, 1000, reth(0x1000, 0)).ack(5).read();
  EXPECT_THAT(bad.obstacles, Contains(HasSubstr("has 1000 bytes of payload, its RETH says 0")));
  EXPECT_FALSE(memory_of(bad, 1));
}

TEST(DamagedConversation, RefusedWriteWithMorePayloadThanItsRethSays) {
  const Conversation bad = Capture{}.ask("RC_WRITE_ONLY", 5, 1000, reth(0x1000, 8)).refuse(5).read();
  EXPECT_THAT(bad.obstacles, Contains(HasSubstr("has 1000 bytes of payload, its RETH says 8")));
}

TEST(DamagedConversation, RefusedWriteOfGigabytesHoldsWhatWasSent) {
  const Conversation huge = Capture{}.ask("RC_WRITE_FIRST", 5, 1024, reth(0x1000, 0x8000'0000)).refuse(5).read();
  ASSERT_THAT(huge.operations, SizeIs(1));
  EXPECT_EQ(huge.operations.front().length, 0x8000'0000U);
  EXPECT_THAT(huge.operations.front().data, SizeIs(1024));
  // To be refused again, it needs a send buffer of its full length.
  ASSERT_FALSE(memory_needed(huge, 1024 * kMiB));
  EXPECT_THAT(memory_needed(huge, 1024 * kMiB).error(), HasSubstr("buffers of 2049 MiB"));
}

TEST(DamagedConversation, RequestsBeyondTheLastAddress) {
  // A second request at the other end of the addresses, so that the two together look like one extent.
  const std::string beyond = reth(0xFFFF'FFFF'FFFF'FFF8, 16);
  const std::vector<Conversation> conversations{
      Capture{}.ask("RC_WRITE_ONLY", 5, 64, reth(0, 64)).ack(5).ask("RC_WRITE_ONLY", 6, 16, beyond).ack(6).read(),
      Capture{}
          .ask("RC_WRITE_ONLY", 5, 64, reth(0, 64))
          .ack(5)
          .ask("RC_READ_REQUEST", 6, 0, beyond)
          .answer("RC_READ_RESPONSE_ONLY", 6, 16)
          .read(),
      Capture{}
          .ask("RC_WRITE_ONLY", 5, 64, reth(0, 64))
          .ack(5)
          .ask("RC_FETCH_ADD", 6, 0, "atomiceth.va: 0xfffffffffffffffc\natomiceth.r_key: 7\n")
          .answer("RC_ATOMIC_ACKNOWLEDGE", 6)
          .read(),
      Capture{}.ask("RC_WRITE_ONLY", 5, 64, reth(0, 64)).ack(5).ask("RC_FLUSH", 6, 0, beyond).ack(6).read(),
  };
  for (const Conversation& conversation : conversations) {
    EXPECT_THAT(conversation.obstacles, Contains(HasSubstr("beyond the last address that there is")))
        << conversation.operations.size();
    EXPECT_FALSE(memory_of(conversation, 1));
  }
}

TEST(DamagedConversation, RequestsUpToTheLastAddressAreGood) {
  const Conversation good = Capture{}.ask("RC_WRITE_ONLY", 5, 16, reth(0xFFFF'FFFF'FFFF'FFF0, 16)).ack(5).read();
  EXPECT_THAT(good.obstacles, IsEmpty());
  const auto memory = memory_of(good, 1);
  ASSERT_TRUE(memory);
  EXPECT_EQ(memory->regions.front().address, 0xFFFF'FFFF'FFFF'FFF0);
  EXPECT_EQ(memory->regions.front().after, good.operations.front().data);
}

TEST(DamagedConversation, AnswersOfOtherLengthsThanAskedFor) {
  const Conversation longer =
      Capture{}.ask("RC_READ_REQUEST", 5, 0, reth(0x1000, 8)).answer("RC_READ_RESPONSE_ONLY", 5, 1000).read();
  EXPECT_THAT(longer.obstacles, Contains(HasSubstr("the data that came back for the READ in frame 1")));
  const Conversation atomic = Capture{}
                                  .ask("RC_FETCH_ADD", 5, 0, "atomiceth.va: 0x1000\natomiceth.r_key: 7\n")
                                  .answer("RC_READ_RESPONSE_ONLY", 5, 1000)
                                  .read();
  EXPECT_THAT(atomic.obstacles, Not(IsEmpty()));
  EXPECT_FALSE(memory_of(atomic, 1));
}

TEST(DamagedConversation, ContradictionsOfAllOperations) {
  const auto with = [](Operation operation, std::uint32_t length, std::size_t data) {
    CapturedOperation made;
    made.operation = operation;
    made.length = length;
    made.end = analysis::MessageEnd::acknowledged;
    made.data.resize(data);
    return made;
  };
  for (const CapturedOperation& operation :
       {with(Operation::write, 8, 9), with(Operation::write, 8, 7), with(Operation::read_request, 8, 9),
        with(Operation::read_request, 8, 0), with(Operation::fetch_add, 8, 9), with(Operation::compare_swap, 8, 0),
        with(Operation::compare_swap, 4, 4), with(Operation::atomic_write, 16, 16), with(Operation::flush, 8, 1),
        with(Operation::resync, 0, 0)}) {
    EXPECT_NE(contradiction_in(operation), "") << static_cast<int>(operation.operation);
    Conversation conversation;
    conversation.operations = {operation};
    EXPECT_FALSE(memory_of(conversation, 1));
  }
  for (const CapturedOperation& operation :
       {with(Operation::write, 8, 8), with(Operation::write, 0, 0), with(Operation::read_request, 8, 8),
        with(Operation::fetch_add, 8, 8), with(Operation::atomic_write, 8, 8), with(Operation::flush, 8, 0),
        with(Operation::send, 5, 5)}) {
    EXPECT_EQ(contradiction_in(operation), "");
  }
}

TEST(ConversationMemory, IsBoundedOverAllConnections) {
  // As many connections as fit are read to their end.
  Capture capture{kMiB};
  for (unsigned i = 0; i < 200; ++i) {
    capture.ask("RC_SEND_ONLY", 5, 4096).ack(5).next_connection();
  }
  std::size_t whole = 0;
  for (const Conversation& conversation : capture.read_all()) {
    if (conversation.obstacles.empty()) {
      ++whole;
    } else {
      EXPECT_THAT(conversation.obstacles, Contains(HasSubstr("more than 1 MiB; raise --memory")));
    }
  }
  EXPECT_GT(whole, 50U);
  EXPECT_LT(whole, 128U);
}

TEST(ConversationMemory, IsKnownBeforeItIsTaken) {
  const Conversation spread = Capture{}
                                  .ask("RC_WRITE_ONLY", 5, 64, reth(0, 64))
                                  .ack(5)
                                  .ask("RC_WRITE_ONLY", 6, 64, reth(100 * kMiB, 64))
                                  .ack(6)
                                  .read();
  ASSERT_TRUE(memory_length(spread, 1, 200 * kMiB));
  EXPECT_EQ(*memory_length(spread, 1, 200 * kMiB), 100 * kMiB + 64);
  EXPECT_FALSE(memory_length(spread, 1, 100 * kMiB));
  EXPECT_FALSE(memory_of(spread, 1, 100 * kMiB));
  // The memory is needed three times: before, after and during the conversation.
  EXPECT_FALSE(memory_needed(spread, 300 * kMiB));
  ASSERT_TRUE(memory_needed(spread, 301 * kMiB));
  EXPECT_GE(*memory_needed(spread, 301 * kMiB), 300 * kMiB);
}

TEST(ConversationMemory, NeedsNoReceiveBuffersForWritesWithImmediate) {
  Capture capture;
  for (std::uint32_t psn = 0; psn < 40; ++psn) {
    capture.ask("RC_WRITE_ONLY_IMM", psn, 4096, reth(0x1000, 4096)).ack(psn);
  }
  const Conversation writes = capture.read();
  EXPECT_THAT(writes.obstacles, IsEmpty());
  EXPECT_EQ(plan_end(writes, 1).receives, 40U);
  EXPECT_EQ(plan_end(writes, 1).receive_bytes, 1U);
}

/// Returns two SENDs that are as far apart as times can be.
[[nodiscard]] Conversation with_a_wrong_clock() {
  Capture capture;
  capture.at(Time::min()).ask("RC_SEND_ONLY", 5, 8).ack(5);
  return capture.at(Time::max()).ask("RC_SEND_ONLY", 6, 8).ack(6).read();
}

TEST(ConversationTimes, AreNoHarmWhereTheClockIsWrong) {
  const Conversation odd = with_a_wrong_clock();
  ASSERT_THAT(odd.operations, SizeIs(2));
  for (const CapturedOperation& operation : odd.operations) EXPECT_GE(operation.think, Duration{});
}

/// Plays a conversation with both ends in memory, each step as late as the player asks for.
[[nodiscard]] PlayReport played(const Conversation& conversation, const PlayOptions& options) {
  std::array<CapturedMemory, 2> memories{memory_of(conversation, 0).value(), memory_of(conversation, 1).value()};
  MemoryEnd requester{conversation, memories[0]};
  MemoryEnd responder{conversation, memories[1]};
  requester.connect(responder);
  responder.connect(requester);
  Player player{conversation, {&requester, &responder}, {&memories[0], &memories[1]}, {}, options};
  Time now{};
  for (int i = 0; i < 1000 && !player.is_over(); ++i) {
    if (!player.step(now)) now = std::max(now, player.next_timeout());
  }
  EXPECT_TRUE(player.is_over());
  return player.report();
}

TEST(PlayerTimes, AreNoHarmWhereTheClockIsWrong) {
  const Conversation odd = with_a_wrong_clock();
  for (const double speed : {0.0, 1e-300, 1.0, 1e6}) {
    const PlayReport report = played(odd, {.speed = speed});
    EXPECT_EQ(report.completed + report.arrived, 4U) << speed << ": " << report.error;
  }
}

TEST(PlayerTimes, NeedNoClock) {
  Capture still;
  const Time noon{std::chrono::hours{12}};
  for (std::uint32_t psn = 0; psn < 5; ++psn) still.at(noon).ask("RC_SEND_ONLY", psn, 8).at(noon).ack(psn);
  const PlayReport report = played(still.read(), {});
  EXPECT_EQ(report.completed + report.arrived, 10U) << report.error;
}

TEST(PlayerMemory, IsAsCapturedInTheEnd) {
  const Conversation all = Capture{}
                               .ask("RC_WRITE_ONLY", 5, 64, reth(0x1000, 64))
                               .ack(5)
                               .ask("RC_READ_REQUEST", 6, 0, reth(0x1000, 32))
                               .answer("RC_READ_RESPONSE_ONLY", 6, 32)
                               .ask("RC_SEND_ONLY", 7, 100)
                               .ack(7)
                               .read();
  const PlayReport report = played(all, {});
  EXPECT_EQ(report.error, "");
  EXPECT_THAT(report.differences, IsEmpty());
  EXPECT_EQ(report.completed + report.arrived, 4U);
}

}  // namespace
}  // namespace roce::replay::test
