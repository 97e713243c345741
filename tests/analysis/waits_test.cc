// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/waits.h"

#include <gmock/gmock.h>

#include <array>
#include <vector>

namespace roce::analysis {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::uint32_t kStream = 5;

/// Keeps what a survey reports over time.
class Record final : public WaitTaker {
 public:
  void take(const WaitSpan& span) override { spans.push_back(span); }
  void take(const UnderWay& each) override { under_way.push_back(each); }

  [[nodiscard]] std::int64_t sum(WaitFor wait) const {
    std::int64_t all = 0;
    for (const WaitSpan& span : spans) all += span.wait == wait ? (span.end - span.begin).count() : 0;
    return all;
  }

  std::vector<WaitSpan> spans;
  std::vector<UnderWay> under_way;
};

/// A requester and what answers it, by times in nanoseconds.
class Wire {
 public:
  explicit Wire(std::size_t most = 100, WaitTaker* taker = nullptr) : survey_(0, most, taker) {}

  MacAddress source{{2, 0, 0, 0, 0, 1}};
  MacAddress destination{};

  void request(std::int64_t at, std::int64_t psn, Opcode opcode = Opcode::rc_write_middle) {
    packet(at, psn, PacketRole::request, {}, 0, opcode);
  }
  /// A request of the other end.
  void request_back(std::int64_t at, std::int64_t psn) { packet(at, psn, PacketRole::request, {}, 1); }
  void resend(std::int64_t at, std::int64_t psn, Cause cause) {
    packet(at, psn, PacketRole::request, {{.kind = VerdictKind::retransmission, .cause = cause}});
  }
  void copy(std::int64_t at, std::int64_t psn) {
    packet(at, psn, PacketRole::request, {{.kind = VerdictKind::duplicate}});
  }
  void ack(std::int64_t at, std::int64_t psn) { answer(at, psn, AethSyndrome::ack(), {}); }
  void ack_after_stall(std::int64_t at, std::int64_t psn) {
    answer(at, psn, AethSyndrome::ack_with_credits(5), {{.kind = VerdictKind::credit_stall}});
  }
  void refuse(std::int64_t at, std::int64_t psn, AethSyndrome why) { answer(at, psn, why, {}); }
  void cnp(std::int64_t at) { packet(at, 0, PacketRole::cnp, {}, 1); }
  void pause(std::int64_t at, std::uint16_t quanta) {
    Observation seen = base(at);
    seen.kind = PacketKind::pfc;
    seen.source_mac = MacAddress{{2, 0, 0, 0, 0, 9}};
    seen.pause_enabled = 1 << 3;
    seen.pause_quanta[3] = quanta;
    survey_.observe(seen, {});
  }
  /// Packets 1 us apart, from `at` on, so that the rate of the requester is known.
  void requests(std::int64_t at, std::int64_t psn, int packets) {
    for (int i = 0; i < packets; ++i) request(at + i * 1000, psn + i);
  }
  /// The same, and an answer to all of them.
  void warm_up(std::int64_t at, std::int64_t psn, int packets) {
    requests(at, psn, packets);
    ack(at + packets * 1000, psn + packets - 1);
  }

  void packet_of_another_sender(std::int64_t at) {
    Observation seen = base(at);
    seen.source_mac = MacAddress{{2, 0, 0, 0, 0, 3}};
    seen.destination_mac = destination;
    survey_.observe(seen, {});
  }

  [[nodiscard]] std::vector<WaitSummary> all() const { return survey_.summaries(); }
  [[nodiscard]] WaitSummary one() const { return survey_.summaries().at(0); }
  [[nodiscard]] std::int64_t of(WaitFor wait) const { return one().of(wait).count(); }
  [[nodiscard]] WaitSurvey& survey() { return survey_; }

  [[nodiscard]] static Observation base(std::int64_t at) {
    Observation seen;
    seen.time = Time{Duration{at}};
    seen.kind = PacketKind::roce;
    seen.opcode = Opcode::rc_write_middle;
    seen.wire_length = 1000;
    seen.payload_length = 900;
    seen.source_mac = MacAddress{{2, 0, 0, 0, 0, 1}};
    return seen;
  }

 private:
  void packet(std::int64_t at, std::int64_t psn, PacketRole role, const std::vector<Verdict>& verdicts,
              std::uint8_t direction = 0, Opcode opcode = Opcode::rc_write_middle) {
    Observation seen = base(at);
    seen.opcode = opcode;
    seen.source_mac = source;
    seen.destination_mac = destination;
    PacketAnalysis analysis;
    analysis.stream = kStream;
    analysis.direction = direction;
    analysis.role = role;
    analysis.relative_psn = psn;
    analysis.verdicts = verdicts;
    survey_.observe(seen, analysis);
  }
  void answer(std::int64_t at, std::int64_t psn, AethSyndrome syndrome, const std::vector<Verdict>& verdicts) {
    Observation seen = base(at);
    seen.opcode = Opcode::rc_acknowledge;
    seen.has_aeth = true;
    seen.syndrome = syndrome;
    PacketAnalysis analysis;
    analysis.stream = kStream;
    analysis.direction = 1;
    analysis.role = PacketRole::response;
    analysis.relative_psn = psn;
    analysis.verdicts = verdicts;
    survey_.observe(seen, analysis);
  }

  WaitSurvey survey_;
};

TEST(Waits, AddUpToTheTimeFromTheFirstRequestToTheLastAnswer) {
  Wire wire;
  wire.warm_up(1, 0, 20);
  wire.request(100'000, 20);
  wire.ack(130'001, 20);
  EXPECT_EQ(wire.one().all(), Duration{130'000});
  EXPECT_EQ(wire.one().requests, 21U);
  EXPECT_EQ(wire.one().payload, 21U * 900);
}

TEST(Waits, AreForTheApplicationWhenEverythingIsAnswered) {
  Wire wire;
  wire.warm_up(1, 0, 20);
  wire.request(1'020'001, 20);
  EXPECT_EQ(wire.of(WaitFor::application), 1'000'000);
  EXPECT_EQ(wire.of(WaitFor::nothing), 19'000);
}

TEST(Waits, AreForAnswersWhenAnAnswerMakesItSend) {
  Wire wire;
  wire.requests(1, 0, 20);
  wire.ack(100'001, 9);
  wire.request(100'501, 20);
  EXPECT_EQ(wire.of(WaitFor::answers), 81'500);
  EXPECT_EQ(wire.one().most_under_way, 20U);
}

TEST(Waits, AreOfTheHostWhenNothingKeepsItFromSending) {
  Wire wire;
  wire.requests(1, 0, 20);
  wire.request(119'001, 20);
  EXPECT_EQ(wire.of(WaitFor::host), 100'000);
}

TEST(Waits, AreOfTheRateAfterCnps) {
  Wire wire;
  wire.requests(1, 0, 20);
  wire.cnp(20'000);
  wire.request(119'001, 20);
  // As fast as before.
  wire.requests(120'001, 21, 64);
  wire.request(283'001, 85);
  EXPECT_EQ(wire.of(WaitFor::rate), 100'000);
  EXPECT_EQ(wire.of(WaitFor::host), 100'000);
}

TEST(Waits, ForWhatIsLostBeginWithTheLastProgressAndEndWhenAllIsAnswered) {
  Wire wire;
  wire.requests(1, 0, 20);
  wire.ack(20'001, 9);
  wire.refuse(60'001, 10, AethSyndrome::nak(NakCode::psn_sequence_error));
  for (int i = 10; i < 20; ++i) wire.resend(70'001 + i * 1000, i, Cause::nak);
  wire.ack(99'001, 15);
  wire.ack(100'001, 19);
  wire.request(101'001, 20);
  EXPECT_EQ(wire.of(WaitFor::losses), 70'000);
  EXPECT_EQ(wire.one().resent, 10U);
  EXPECT_EQ(wire.one().all(), Duration{101'000});
}

TEST(Waits, AreForTheReceiverAfterRnrNaks) {
  Wire wire;
  wire.warm_up(1, 0, 20);
  wire.request(21'001, 20);
  wire.refuse(23'001, 20, AethSyndrome::rnr_nak(14));
  wire.resend(1'023'001, 20, Cause::rnr);
  wire.ack(1'025'001, 20);
  EXPECT_EQ(wire.of(WaitFor::losses), 0);
  EXPECT_EQ(wire.of(WaitFor::receiver), 1'002'000);
}

TEST(Waits, AreForCreditsWhenAnAnswerGrantsThemAtLast) {
  Wire wire;
  wire.requests(1, 0, 20);
  wire.ack_after_stall(500'001, 19);
  wire.request(500'501, 20);
  EXPECT_EQ(wire.of(WaitFor::credits), 500);
  EXPECT_EQ(wire.of(WaitFor::answers), 481'000);
}

TEST(Waits, ArePausesOfTheLinkPartner) {
  Wire wire;
  wire.requests(1, 0, 20);
  // 20,000 times 512 bits at 100 Gbit/s take 102 us.
  wire.pause(19'500, 20'000);
  wire.request(119'001, 20);
  EXPECT_EQ(wire.of(WaitFor::pauses), 100'000);
  // Over at once.
  wire.pause(119'500, 20'000);
  wire.pause(119'600, 0);
  wire.request(219'001, 21);
  EXPECT_EQ(wire.of(WaitFor::pauses), 100'000);
}

TEST(Waits, ArePausesOfTheReceiverOnItsOwnLink) {
  Wire wire;
  wire.destination = MacAddress{{2, 0, 0, 0, 0, 9}};
  wire.requests(1, 0, 20);
  // The packets of another host come to the receiver, too: this is its link and not that of one of them.
  wire.packet_of_another_sender(19'200);
  wire.cnp(19'300);
  wire.pause(19'500, 20'000);
  wire.request(119'001, 20);
  EXPECT_EQ(wire.of(WaitFor::pauses), 100'000);
  EXPECT_EQ(wire.of(WaitFor::rate), 0);
}

TEST(Waits, AreNotPausesOfAStationThatIsNotOfTheSendersLink) {
  Wire wire;
  wire.destination = MacAddress{{2, 0, 0, 0, 0, 8}};
  wire.requests(1, 0, 20);
  wire.packet_of_another_sender(19'200);
  wire.pause(19'500, 20'000);
  wire.request(119'001, 20);
  EXPECT_EQ(wire.of(WaitFor::pauses), 0);
}

TEST(Waits, ArePausesUntilTheXonWhereTheSpeedIsUnknown) {
  Wire wire;
  wire.requests(1, 0, 20);
  wire.pause(19'500, 100);
  wire.pause(118'500, 0);
  wire.request(119'001, 20);
  EXPECT_EQ(wire.of(WaitFor::pauses), 100'000);
}

TEST(Waits, AreForTheLinkWhileItsHostSendsOtherPackets) {
  Wire wire;
  wire.requests(1, 0, 20);
  for (int i = 0; i < 9; ++i) {
    Observation other = Wire::base(20'001 + i * 1000);
    wire.survey().observe(other, {});
  }
  wire.request(29'001, 20);
  EXPECT_EQ(wire.of(WaitFor::link), 10'000);
}

TEST(Waits, TakeAnApplicationsPaceForNoBurst) {
  Wire wire;
  for (int i = 0; i < 40; ++i) {
    wire.request(1 + i * 50'000, i, Opcode::rc_send_only);
    wire.ack(5'001 + i * 50'000, i);
  }
  EXPECT_EQ(wire.of(WaitFor::application), 39 * 45'000);
  EXPECT_EQ(wire.of(WaitFor::answers), 40 * 5'000);
}

TEST(Waits, LeaveUnreliableConnectionsOut) {
  Wire wire;
  wire.request(1, 0, Opcode::uc_send_only);
  EXPECT_THAT(wire.all(), IsEmpty());
}

TEST(Waits, KeepACnpThatComesBeforeTheStreamsAreJoined) {
  Wire wire;
  wire.requests(1, 0, 20);
  PacketAnalysis early;
  early.stream = 9;
  early.role = PacketRole::cnp;
  wire.survey().observe(Wire::base(19'500), early);
  PacketAnalysis joins;
  joins.stream = kStream;
  joins.absorbed = 9;
  joins.direction = 1;
  joins.role = PacketRole::response;
  joins.relative_psn = 0;
  wire.survey().observe(Wire::base(20'001), joins);
  wire.request(119'001, 20);
  EXPECT_EQ(wire.of(WaitFor::rate), 100'000);
}

TEST(Waits, LeaveCopiesAndDamagedPacketsOut) {
  Wire wire;
  wire.warm_up(1, 0, 20);
  wire.copy(30'001, 19);
  EXPECT_EQ(wire.one().requests, 20U);
  EXPECT_EQ(wire.one().all(), Duration{20'000});
}

TEST(Waits, BearClocksThatGoBackAndConnectionsThatBeginAnew) {
  Wire wire;
  wire.warm_up(1'000'001, 0, 20);
  wire.request(500'001, 20);
  wire.request(1'050'001, 3);
  wire.ack(1'060'001, 3);
  EXPECT_EQ(wire.one().all(), Duration{60'000});
  EXPECT_LE(wire.one().most_under_way, 20U);
}

TEST(Waits, BearTimesThatAreFarApart) {
  constexpr std::int64_t kFar = (std::int64_t{1} << 62U) - 1;
  Wire wire;
  for (int i = 0; i < 8; ++i) wire.request(-kFar + i, i);
  wire.request(kFar - 1, 8);
  wire.ack(kFar - 1, 8);
  wire.request(kFar, 9);
  EXPECT_EQ(wire.one().all(), Duration{kFar} + Duration{kFar});
}

TEST(Waits, GoWithAStreamThatIsAbsorbed) {
  Wire wire;
  wire.warm_up(1, 0, 20);
  PacketAnalysis analysis;
  analysis.stream = 2;
  analysis.absorbed = kStream;
  analysis.role = PacketRole::response;
  analysis.relative_psn = 19;
  wire.survey().observe(Wire::base(30'000), analysis);
  ASSERT_THAT(wire.all(), SizeIs(1));
  EXPECT_EQ(wire.one().stream, 2U);
  EXPECT_EQ(wire.one().direction, 1U);
}

WaitSpan span(WaitFor wait, std::int64_t begin, std::int64_t end) {
  return {kStream, 0, wait, Time{Duration{begin}}, Time{Duration{end}}};
}

/// A loss in the middle of other waits.
void lose_and_recover(Wire& wire) {
  wire.requests(1, 0, 20);
  wire.ack(20'001, 9);
  wire.request(519'001, 20);
  wire.refuse(560'001, 10, AethSyndrome::nak(NakCode::psn_sequence_error));
  for (int i = 10; i <= 20; ++i) wire.resend(570'001 + i * 1000, i, Cause::nak);
  wire.ack(600'001, 20);
  wire.request(900'001, 21, Opcode::rc_write_first);
}

TEST(WaitSpans, AreWhereTheTimeWent) {
  Record record;
  Wire wire{100, &record};
  wire.warm_up(1, 0, 20);
  wire.request(1'020'001, 20, Opcode::rc_write_first);
  wire.ack(1'050'001, 20);
  wire.survey().finish();
  EXPECT_EQ(record.spans,
            (std::vector{span(WaitFor::nothing, 1, 19'001), span(WaitFor::answers, 19'001, 20'001),
                         span(WaitFor::application, 20'001, 1'020'001), span(WaitFor::answers, 1'020'001, 1'050'001)}));
}

TEST(WaitSpans, BecomeLossesWhereTheyWere) {
  Record record;
  Wire wire{100, &record};
  lose_and_recover(wire);
  wire.survey().finish();
  // From the last progress on it was a wait for the loss, which nobody knew yet.
  EXPECT_EQ(record.spans,
            (std::vector{span(WaitFor::nothing, 1, 19'001), span(WaitFor::losses, 19'001, 590'001),
                         span(WaitFor::answers, 590'001, 600'001), span(WaitFor::application, 600'001, 900'001)}));
}

TEST(WaitSpans, AddUpToTheTimesAndFollowEachOther) {
  for (const bool is_many : {false, true}) {
    SCOPED_TRACE(is_many);
    Record record;
    Wire wire{100, &record};
    if (is_many) {
      // Without an answer: each wait is another one than the one before.
      wire.requests(1, 0, 20);
      for (int i = 0; i < 500; ++i) wire.request(20'001 + i * 10'000 + i % 2 * 9'000, 20 + i);
      wire.resend(6'000'001, 0, Cause::timeout);
    } else {
      lose_and_recover(wire);
    }
    wire.survey().finish();
    const WaitSummary all = wire.one();
    for (std::size_t wait = 0; wait < kWaits; ++wait) {
      EXPECT_EQ(record.sum(static_cast<WaitFor>(wait)), all.times[wait].count()) << wait;
    }
    EXPECT_EQ(all.all(), Duration{is_many ? 6'000'000 : 900'000});
    EXPECT_EQ(record.spans.back().end - record.spans.front().begin, all.all());
    if (is_many) {
      EXPECT_GE(record.sum(WaitFor::nothing), 250 * 1'000);
    }
    for (std::size_t i = 1; i < record.spans.size(); ++i) {
      EXPECT_EQ(record.spans[i].begin, record.spans[i - 1].end);
      EXPECT_LT(record.spans[i].begin, record.spans[i].end);
    }
    EXPECT_LT(record.spans.size(), 20U);
  }
}

TEST(WaitSpans, SayWhatIsUnderWay) {
  Record record;
  Wire wire{100, &record};
  wire.requests(1, 0, 3);
  wire.ack(10'001, 1);
  wire.survey().give_up(kStream, 0, Time{Duration{20'001}});
  std::vector<std::uint64_t> seen;
  for (const UnderWay& each : record.under_way) {
    EXPECT_EQ(each.all, each.psns);
    EXPECT_EQ(each.stream, kStream);
    seen.push_back(each.psns);
  }
  EXPECT_EQ(seen, (std::vector<std::uint64_t>{1, 2, 3, 1, 0}));
}

TEST(WaitSpans, GiveUpWhatOneRequesterHasSent) {
  Record record;
  Wire wire{100, &record};
  wire.requests(1, 0, 3);
  wire.request_back(5'001, 0);
  wire.survey().give_up(kStream, 0, Time{Duration{20'001}});
  EXPECT_EQ(record.under_way.back(), (UnderWay{kStream, 0, Time{Duration{20'001}}, 0, 1}));
  // The next packet does not bring it back; one that is sent again does, with what follows it.
  wire.request(30'001, 3);
  EXPECT_EQ(record.under_way.back(), (UnderWay{kStream, 0, Time{Duration{30'001}}, 1, 2}));
  wire.resend(40'001, 1, Cause::timeout);
  EXPECT_EQ(record.under_way.back(), (UnderWay{kStream, 0, Time{Duration{40'001}}, 3, 4}));
  wire.ack(50'001, 3);
  EXPECT_EQ(record.under_way.back(), (UnderWay{kStream, 0, Time{Duration{50'001}}, 0, 1}));
  EXPECT_EQ(wire.all().front().most_under_way, 4U);
}

TEST(Waits, AreBounded) {
  Wire wire{0};
  wire.request(1, 0);
  EXPECT_THAT(wire.all(), IsEmpty());
  EXPECT_EQ(wire.survey().uncounted_packets(), 1U);
}

}  // namespace
}  // namespace roce::analysis
