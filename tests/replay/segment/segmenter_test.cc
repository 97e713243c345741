// SPDX-License-Identifier: BSD-2-Clause
#include "replay/segment/segmenter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roce/wire/all_headers.h"
#include "support/source_tree.h"
#include "tests/replay/segment/segmented.h"

namespace roce::replay::test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

/// A connection between 10.0.0.1 (QP 0x11) and 10.0.0.2 (QP 0x22), packet by packet, a microsecond apart.
class Conversation {
 public:
  /// Adds a packet from 10.0.0.1: `RC_SEND_FIRST`, its PSN, its payload in bytes, and further lines of a `PacketSpec`.
  Conversation& ask(const std::string& opcode, std::uint32_t psn, std::size_t length = 0,
                    const std::string& more = "") {
    return add("ip.src: 10.0.0.1\nip.dst: 10.0.0.2\n", opcode, "0x22", psn, length, more);
  }
  /// Adds a packet from 10.0.0.2.
  Conversation& answer(const std::string& opcode, std::uint32_t psn, std::size_t length = 0,
                       const std::string& more = "") {
    return add("ip.src: 10.0.0.2\nip.dst: 10.0.0.1\n", opcode, "0x11", psn, length, more);
  }
  Conversation& ack(std::uint32_t psn) { return answer("RC_ACKNOWLEDGE", psn); }
  Conversation& nak(std::uint32_t psn) { return answer("RC_ACKNOWLEDGE", psn, 0, "aeth.syndrome: 0x60\n"); }
  Conversation& cut_to(std::size_t bytes) {
    trace_.back().bytes.resize(bytes);
    return *this;
  }
  [[nodiscard]] const Trace& trace() const { return trace_; }

 private:
  Conversation& add(const std::string& from, const std::string& opcode, const char* qp, std::uint32_t psn,
                    std::size_t length, const std::string& more) {
    const std::string text =
        fmt::format("headers: eth ip udp bth\n{}opcode: {}\nbth.dest_qp: {}\nbth.psn: {}\n{}payload_length: {}\n", from,
                    opcode, qp, psn, more, length);
    std::vector<std::byte> bytes = PacketSpec::from_text(text).value().build().value();
    const auto size = static_cast<std::uint32_t>(bytes.size());
    now_ += std::chrono::microseconds{1};
    trace_.push_back({std::move(bytes), now_, size});
    return *this;
  }

  Trace trace_;
  Time now_{};
};

/// Returns opcode, PSN and payload of each packet, with the bits `A` (AckReq) and `SE`: `RC_SEND_FIRST 5 256`.
std::vector<std::string> lines_of(const Trace& trace) {
  std::vector<std::string> lines;
  for (const TimedFrame& frame : trace) {
    const Packet packet = frame.parse();
    const Bth bth = packet.bth();
    lines.push_back(fmt::format("{} {} {}{}{}", packet.info().name, bth.psn.value(), packet.payload_length(),
                                bth.ack_req ? " A" : "", bth.solicited ? " SE" : ""));
    EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good);
  }
  return lines;
}

std::vector<std::string> become(const Conversation& conversation, std::uint32_t path_mtu) {
  return lines_of(segmented(conversation.trace(), path_mtu).trace);
}

/// Returns why a conversation stays as it is.
std::vector<Uncuttable> left(const Conversation& conversation, std::uint32_t path_mtu) {
  const Segmented after = segmented(conversation.trace(), path_mtu);
  EXPECT_EQ(after.trace, conversation.trace());
  std::vector<Uncuttable> reasons;
  reasons.reserve(after.plan->left.size());
  for (const LeftConnection& one : after.plan->left) reasons.push_back(one.reason);
  return reasons;
}

TEST(Cut, TheLastPieceHasWhatBelongsToTheEnd) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 5, 512)
      .ask("RC_SEND_LAST_IMM", 6, 300, "bth.ack_req: 1\nbth.se: 1\nimmdt.data: 7\n")
      .ack(6);
  talk.ask("RC_SEND_ONLY", 7, 10).ack(7);
  EXPECT_THAT(become(talk, 256), ElementsAre("RC_SEND_FIRST 5 256", "RC_SEND_MIDDLE 6 256", "RC_SEND_MIDDLE 7 256",
                                             "RC_SEND_LAST_IMM 8 44 A SE", "RC_ACKNOWLEDGE 8 0", "RC_SEND_ONLY 9 10",
                                             "RC_ACKNOWLEDGE 9 0"));
}

TEST(Cut, OnlyTheFirstPieceOfAWriteSaysWhere) {
  Conversation talk;
  talk.ask("RC_WRITE_ONLY", 5, 700, "reth.va: 0x1000\nreth.r_key: 9\nreth.dma_length: 700\n").ack(5);
  const Trace trace = segmented(talk.trace(), 256).trace;
  EXPECT_THAT(lines_of(trace), ElementsAre("RC_WRITE_FIRST 5 256", "RC_WRITE_MIDDLE 6 256", "RC_WRITE_LAST 7 188",
                                           "RC_ACKNOWLEDGE 7 0"));
  EXPECT_EQ(trace[0].parse().get<Reth>()->dma_length, 700U);
  EXPECT_EQ(trace[0].parse().get<Reth>()->virtual_address, 0x1000U);
  EXPECT_FALSE(trace[1].parse().get<Reth>());
  // All pieces have the time of the packet that was cut.
  EXPECT_EQ(trace[2].time, talk.trace()[0].time);
}

TEST(Cut, AnAnswerTakesAsManyPsnsAsItHasPackets) {
  Conversation talk;
  talk.ask("RC_READ_REQUEST", 5, 0, "reth.dma_length: 1100\n");
  talk.answer("RC_READ_RESPONSE_FIRST", 5, 1024, "aeth.msn: 1\n")
      .answer("RC_READ_RESPONSE_LAST", 6, 76, "aeth.msn: 1\n");
  talk.ask("RC_FETCH_ADD", 7).answer("RC_ATOMIC_ACKNOWLEDGE", 7);
  const Trace trace = segmented(talk.trace(), 512).trace;
  EXPECT_THAT(lines_of(trace),
              ElementsAre("RC_READ_REQUEST 5 0", "RC_READ_RESPONSE_FIRST 5 512", "RC_READ_RESPONSE_MIDDLE 6 512",
                          "RC_READ_RESPONSE_LAST 7 76", "RC_FETCH_ADD 8 0", "RC_ATOMIC_ACKNOWLEDGE 8 0"));
  EXPECT_EQ(trace[3].parse().get<Aeth>()->msn, Msn{1});
}

TEST(Cut, RepetitionsStayRepetitions) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 5, 512).ask("RC_SEND_MIDDLE", 6, 512).ask("RC_SEND_LAST", 7, 1);
  talk.nak(6).ask("RC_SEND_MIDDLE", 6, 512).ask("RC_SEND_LAST", 7, 1).ack(7);
  EXPECT_THAT(become(talk, 256),
              ElementsAre("RC_SEND_FIRST 5 256", "RC_SEND_MIDDLE 6 256", "RC_SEND_MIDDLE 7 256", "RC_SEND_MIDDLE 8 256",
                          "RC_SEND_LAST 9 1", "RC_ACKNOWLEDGE 7 0", "RC_SEND_MIDDLE 7 256", "RC_SEND_MIDDLE 8 256",
                          "RC_SEND_LAST 9 1", "RC_ACKNOWLEDGE 9 0"));
}

TEST(Cut, WhatWasLostBeforeTheCaptureKeepsItsPlace) {
  Conversation talk;
  talk.ask("RC_WRITE_FIRST", 5, 512, "reth.dma_length: 2048\n").ask("RC_WRITE_LAST", 8, 512);
  talk.ask("RC_SEND_ONLY", 9, 1).ack(9);
  EXPECT_THAT(become(talk, 256), ElementsAre("RC_WRITE_FIRST 5 256", "RC_WRITE_MIDDLE 6 256", "RC_WRITE_MIDDLE 11 256",
                                             "RC_WRITE_LAST 12 256", "RC_SEND_ONLY 13 1", "RC_ACKNOWLEDGE 13 0"));
}

TEST(Cut, PsnsWrap) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 0xFFFFFF, 512).ask("RC_SEND_LAST", 0, 512).ack(0);
  EXPECT_THAT(become(talk, 256), ElementsAre("RC_SEND_FIRST 16777215 256", "RC_SEND_MIDDLE 0 256",
                                             "RC_SEND_MIDDLE 1 256", "RC_SEND_LAST 2 256", "RC_ACKNOWLEDGE 2 0"));
}

TEST(Join, TheLastPacketBringsTheWhole) {
  Conversation talk;
  talk.ask("RC_WRITE_FIRST", 5, 256, "reth.va: 0x1000\nreth.dma_length: 600\n").ask("RC_WRITE_MIDDLE", 6, 256);
  talk.ask("RC_WRITE_LAST_IMM", 7, 88, "bth.ack_req: 1\nbth.se: 1\nimmdt.data: 7\n")
      .ack(7)
      .ask("RC_SEND_ONLY", 8, 1)
      .ack(8);
  const Trace trace = segmented(talk.trace(), 1024).trace;
  EXPECT_THAT(lines_of(trace), ElementsAre("RC_WRITE_ONLY_IMM 5 600 A SE", "RC_ACKNOWLEDGE 5 0", "RC_SEND_ONLY 6 1",
                                           "RC_ACKNOWLEDGE 6 0"));
  EXPECT_EQ(trace[0].time, talk.trace()[2].time);
  EXPECT_EQ(trace[0].parse().get<Reth>()->virtual_address, 0x1000U);
  EXPECT_EQ(trace[0].parse().get<ImmDt>()->data, 7U);
}

TEST(Join, WhoGoesBackIntoAPacketSendsAllOfItAgain) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 5, 256).ask("RC_SEND_MIDDLE", 6, 256).ask("RC_SEND_LAST", 7, 1);
  talk.nak(6).ask("RC_SEND_MIDDLE", 6, 256).ask("RC_SEND_LAST", 7, 1).ack(7);
  EXPECT_THAT(become(talk, 512), ElementsAre("RC_SEND_FIRST 5 512", "RC_SEND_LAST 6 1", "RC_ACKNOWLEDGE 5 0",
                                             "RC_SEND_FIRST 5 512", "RC_SEND_LAST 6 1", "RC_ACKNOWLEDGE 6 0"));
}

TEST(Join, WhatDidNotComeWholeComesWithItsRepetition) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 5, 256).ask("RC_SEND_MIDDLE", 7, 256).ask("RC_SEND_LAST", 8, 1);
  talk.nak(6).ask("RC_SEND_MIDDLE", 6, 256).ask("RC_SEND_MIDDLE", 7, 256).ask("RC_SEND_LAST", 8, 1).ack(8);
  EXPECT_THAT(become(talk, 512), ElementsAre("RC_SEND_LAST 6 257", "RC_ACKNOWLEDGE 5 0", "RC_SEND_FIRST 5 512",
                                             "RC_SEND_LAST 6 257", "RC_ACKNOWLEDGE 6 0"));
}

TEST(Join, AnAnswerThatBeginsAgainInTheMiddleOfAPacketBeginsWithIt) {
  Conversation talk;
  talk.ask("RC_READ_REQUEST", 5, 0, "reth.va: 0x1000\nreth.dma_length: 1024\n");
  talk.answer("RC_READ_RESPONSE_FIRST", 5, 256).answer("RC_READ_RESPONSE_MIDDLE", 6, 256);
  talk.answer("RC_READ_RESPONSE_MIDDLE", 7, 256);
  talk.ask("RC_READ_REQUEST", 8, 0, "reth.va: 0x1300\nreth.dma_length: 256\n").answer("RC_READ_RESPONSE_ONLY", 8, 256);
  const Trace trace = segmented(talk.trace(), 512).trace;
  EXPECT_THAT(lines_of(trace), ElementsAre("RC_READ_REQUEST 5 0", "RC_READ_RESPONSE_FIRST 5 512", "RC_READ_REQUEST 6 0",
                                           "RC_READ_RESPONSE_ONLY 6 512"));
  EXPECT_EQ(trace[2].parse().get<Reth>()->virtual_address, 0x1200U);
  EXPECT_EQ(trace[2].parse().get<Reth>()->dma_length, 512U);
}

TEST(Join, AnAnswerToAnEarlierPsnGoesOnThroughOneThatBeganThere) {
  Conversation talk;
  talk.ask("RC_READ_REQUEST", 5, 0, "reth.dma_length: 1024\n").ask("RC_READ_REQUEST", 7, 0, "reth.dma_length: 512\n");
  talk.answer("RC_READ_RESPONSE_FIRST", 7, 256).answer("RC_READ_RESPONSE_LAST", 8, 256);
  talk.ask("RC_READ_REQUEST", 5, 0, "reth.dma_length: 1024\n");
  talk.answer("RC_READ_RESPONSE_FIRST", 5, 256).answer("RC_READ_RESPONSE_MIDDLE", 6, 256);
  talk.answer("RC_READ_RESPONSE_LAST", 8, 256);
  EXPECT_THAT(become(talk, 512),
              ElementsAre("RC_READ_REQUEST 5 0", "RC_READ_REQUEST 6 0", "RC_READ_RESPONSE_ONLY 6 512",
                          "RC_READ_REQUEST 5 0", "RC_READ_RESPONSE_FIRST 5 512", "RC_READ_RESPONSE_LAST 6 512"));
}

TEST(Join, NobodyAcknowledgesAPartOfAPacket) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 5, 256, "bth.ack_req: 1\n").ack(5).nak(6).ask("RC_SEND_MIDDLE", 6, 256);
  talk.ask("RC_SEND_LAST", 7, 256).ack(6).ack(7);
  const Segmented after = segmented(talk.trace(), 4096);
  EXPECT_THAT(lines_of(after.trace), ElementsAre("RC_SEND_ONLY 5 768 A", "RC_ACKNOWLEDGE 5 0"));
  EXPECT_EQ(after.counts.answers_left_out, 3U);
}

TEST(Join, WhatNeverCameWholeIsJoinedAsFarAsItCame) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 5, 256).ask("RC_SEND_MIDDLE", 6, 256).ask("RC_SEND_MIDDLE", 7, 256);
  const Segmented after = segmented(talk.trace(), 512);
  EXPECT_EQ(after.counts.incomplete, 0U);
  EXPECT_THAT(lines_of(after.trace), ElementsAre("RC_SEND_FIRST 5 512", "RC_SEND_MIDDLE 6 256"));
}

TEST(Left, AJoinNeedsTheBeginning) {
  Conversation talk;
  talk.ask("RC_SEND_MIDDLE", 5, 256).ask("RC_SEND_LAST", 6, 256).ack(6);
  EXPECT_THAT(left(talk, 1024), ElementsAre(Uncuttable::began_before));
}

TEST(Left, ACutDoesNot) {
  Conversation talk;
  talk.ask("RC_SEND_MIDDLE", 5, 512).ask("RC_SEND_LAST", 6, 256).ack(6);
  EXPECT_THAT(become(talk, 256),
              ElementsAre("RC_SEND_MIDDLE 5 256", "RC_SEND_MIDDLE 6 256", "RC_SEND_LAST 7 256", "RC_ACKNOWLEDGE 7 0"));
}

TEST(Left, PacketsThatMayHaveBeenAnything) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 5, 512).ask("RC_SEND_LAST", 9, 10).ack(9);
  EXPECT_THAT(left(talk, 256), ElementsAre(Uncuttable::packets_missing));
  Conversation between;
  between.ask("RC_SEND_ONLY", 5, 512).ask("RC_SEND_ONLY", 7, 10).ack(7);
  EXPECT_THAT(left(between, 256), ElementsAre(Uncuttable::packets_missing));
  // If nothing is to be cut, nothing depends on them.
  EXPECT_THAT(left(between, 512), IsEmpty());
}

TEST(Left, MorePacketsThanTheMessageHas) {
  Conversation talk;
  talk.ask("RC_WRITE_FIRST", 5, 512, "reth.dma_length: 1024\n").ask("RC_WRITE_LAST", 8, 512).ack(8);
  EXPECT_THAT(left(talk, 256), ElementsAre(Uncuttable::packets_missing));
  Conversation open;
  open.ask("RC_WRITE_FIRST", 5, 512, "reth.dma_length: 1024\n").ask("RC_SEND_ONLY", 8, 1).ack(8);
  EXPECT_THAT(left(open, 256), ElementsAre(Uncuttable::packets_missing));
  Conversation fits;
  fits.ask("RC_WRITE_FIRST", 5, 512, "reth.dma_length: 1024\n").ask("RC_SEND_ONLY", 7, 1).ack(7);
  EXPECT_THAT(become(fits, 256),
              ElementsAre("RC_WRITE_FIRST 5 256", "RC_WRITE_MIDDLE 6 256", "RC_SEND_ONLY 9 1", "RC_ACKNOWLEDGE 9 0"));
}

TEST(Left, PayloadThatWasNotCaptured) {
  Conversation talk;
  talk.ask("RC_SEND_ONLY", 5, 512).cut_to(128).ack(5);
  EXPECT_THAT(left(talk, 256), ElementsAre(Uncuttable::payload_cut));
}

TEST(Left, PacketsThatContradictOneAnother) {
  Conversation talk;
  talk.ask("RC_SEND_FIRST", 5, 512).ask("RC_SEND_LAST", 6, 10).ask("RC_SEND_LAST", 6, 11).ack(6);
  EXPECT_THAT(left(talk, 256), ElementsAre(Uncuttable::contradiction));
  Conversation odd;
  odd.ask("RC_SEND_FIRST", 5, 500).ask("RC_SEND_LAST", 6, 10).ack(6);
  EXPECT_THAT(left(odd, 256), ElementsAre(Uncuttable::path_mtu_odd));
}

TEST(Left, AReadOfUnknownLength) {
  Conversation talk;
  talk.ask("RC_READ_REQUEST", 5, 0, "reth.dma_length: 2000\n").ask("RC_SEND_ONLY", 7, 10).ack(7);
  EXPECT_THAT(left(talk, 256), ElementsAre(Uncuttable::path_mtu_unknown));
}

TEST(Left, AnswersThatMayBelongToSeveral) {
  const std::string other = "bth.dest_qp: 0x23\n";
  Conversation talk;
  talk.ask("RC_SEND_ONLY", 5, 512).ask("RC_SEND_ONLY", 5, 512, other).ack(5);
  EXPECT_THAT(left(talk, 256), ElementsAre(Uncuttable::not_joined, Uncuttable::not_joined));
}

TEST(Connections, OneDirectionAloneIsCut) {
  Conversation talk;
  talk.ask("RC_SEND_ONLY", 5, 512).ask("RC_SEND_ONLY", 6, 10);
  EXPECT_THAT(become(talk, 256), ElementsAre("RC_SEND_FIRST 5 256", "RC_SEND_LAST 6 256", "RC_SEND_ONLY 7 10"));
}

TEST(Connections, ThatUseTheSameQpsOneAfterTheOtherCountAnew) {
  Conversation talk;
  talk.ask("RC_SEND_ONLY", 5, 512).ack(5).ask("RC_SEND_ONLY", 6, 512).ack(6);
  talk.ask("RC_SEND_ONLY", 9000000, 512).ack(9000000).ask("RC_SEND_ONLY", 9000001, 1).ack(9000001);
  EXPECT_THAT(
      become(talk, 256),
      ElementsAre("RC_SEND_FIRST 5 256", "RC_SEND_LAST 6 256", "RC_ACKNOWLEDGE 6 0", "RC_SEND_FIRST 7 256",
                  "RC_SEND_LAST 8 256", "RC_ACKNOWLEDGE 8 0", "RC_SEND_FIRST 9000000 256", "RC_SEND_LAST 9000001 256",
                  "RC_ACKNOWLEDGE 9000001 0", "RC_SEND_ONLY 9000002 1", "RC_ACKNOWLEDGE 9000002 0"));
}

TEST(Connections, BothDirectionsAreNumberedByThemselves) {
  Conversation talk;
  talk.ask("RC_SEND_ONLY", 5, 512).ack(5).answer("RC_SEND_ONLY", 100, 512).ask("RC_ACKNOWLEDGE", 100);
  talk.ask("RC_SEND_ONLY", 6, 1).ack(6).answer("RC_SEND_ONLY", 101, 1).ask("RC_ACKNOWLEDGE", 101);
  EXPECT_THAT(become(talk, 256),
              ElementsAre("RC_SEND_FIRST 5 256", "RC_SEND_LAST 6 256", "RC_ACKNOWLEDGE 6 0", "RC_SEND_FIRST 100 256",
                          "RC_SEND_LAST 101 256", "RC_ACKNOWLEDGE 101 0", "RC_SEND_ONLY 7 1", "RC_ACKNOWLEDGE 7 0",
                          "RC_SEND_ONLY 102 1", "RC_ACKNOWLEDGE 102 0"));
}

TEST(Connections, ARequestOfTheCommunicationManagerSaysTheNewPathMtu) {
  const Trace trace = trace_of(std::filesystem::path{roce::test::captures_folder()} / "softroce" / "cm-rping.tx.pcap");
  const Segmented after = segmented(trace, 256);
  std::size_t requests = 0;
  for (const TimedFrame& frame : after.trace) {
    const auto req = frame.parse().get<CmReq>();
    if (!req) continue;
    ++requests;
    EXPECT_EQ(req->path_mtu, PathMtu::mtu_256);
    EXPECT_EQ(check_icrc(frame.parse()).status, IcrcStatus::good);
  }
  EXPECT_GT(requests, 0U);
}

TEST(Connections, OtherFramesPass) {
  Conversation talk;
  talk.ask("UD_SEND_ONLY", 5, 2000, "deth.src_qp: 7\n");
  EXPECT_EQ(segmented(talk.trace(), 256).trace, talk.trace());
}

}  // namespace
}  // namespace roce::replay::test
