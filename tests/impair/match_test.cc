// SPDX-License-Identifier: BSD-2-Clause
// The packets that a rule matches.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "impair/support.h"

namespace roce::impair {
namespace {

using test::engine_of;
using test::frame_of;
using test::middle;
using test::pass;
using test::passed;
using testing::ElementsAre;

bool drops(std::string_view rule, const test::Frame& frame, Direction direction = Direction::a_to_b) {
  Engine engine = engine_of(rule);
  return pass(engine, frame, direction).empty();
}

TEST(ImpairMatch, NothingWithoutRules) {
  Engine engine{RuleSet{}};
  EXPECT_THAT(passed(engine, {middle(1), middle(2)}), ElementsAre(1, 2));
}

TEST(ImpairMatch, ByDirection) {
  EXPECT_TRUE(drops("drop:dir=a_to_b", middle(1), Direction::a_to_b));
  EXPECT_FALSE(drops("drop:dir=a_to_b", middle(1), Direction::b_to_a));
  EXPECT_TRUE(drops("drop:dir=b_to_a", middle(1), Direction::b_to_a));
  EXPECT_FALSE(drops("drop:dir=b_to_a", middle(1), Direction::a_to_b));
  EXPECT_TRUE(drops("drop:dir=both", middle(1), Direction::b_to_a));
}

TEST(ImpairMatch, ByQp) {
  EXPECT_TRUE(drops("drop:qp=0x11", middle(1)));
  EXPECT_TRUE(drops("drop:qp=17", middle(1)));
  EXPECT_FALSE(drops("drop:qp=0x12", middle(1)));
}

struct OpcodeCase {
  std::string_view op;
  Opcode opcode;
  std::string_view syndrome;  ///< not checked if empty
  bool matches;
};

TEST(ImpairMatch, ByOpcodeAndClass) {
  const std::vector<OpcodeCase> cases{
      {"send", Opcode::rc_send_middle, "", true},
      {"send", Opcode::uc_send_only, "", true},
      {"send", Opcode::rc_send_only_invalidate, "", true},
      {"send", Opcode::rc_write_middle, "", false},
      {"write", Opcode::rc_write_only_imm, "", true},
      {"write", Opcode::rc_atomic_write, "", false},
      {"atomic_write", Opcode::rc_atomic_write, "", true},
      {"flush", Opcode::rc_flush, "", true},
      {"read_request", Opcode::rc_read_request, "", true},
      {"read_request", Opcode::rc_read_response_only, "", false},
      {"read_response", Opcode::rc_read_response_middle, "", true},
      {"ack", Opcode::rc_acknowledge, "0x1f", true},
      {"ack", Opcode::rc_acknowledge, "0x05", true},
      {"ack", Opcode::rc_acknowledge, "0x60", false},
      {"ack", Opcode::rc_read_response_only, "0x1f", false},
      {"nak", Opcode::rc_acknowledge, "0x60", true},
      {"nack", Opcode::rc_acknowledge, "0x62", true},
      {"nak", Opcode::rc_acknowledge, "0x2a", false},
      {"nak", Opcode::rc_acknowledge, "0x1f", false},
      {"rnr_nak", Opcode::rc_acknowledge, "0x2a", true},
      {"rnr_nak", Opcode::rc_acknowledge, "0x60", false},
      {"other", Opcode::rc_acknowledge, "0x40", true},
      {"atomic", Opcode::rc_compare_swap, "", true},
      {"atomic", Opcode::rc_fetch_add, "", true},
      {"atomic", Opcode::rc_atomic_acknowledge, "", false},
      {"atomic_ack", Opcode::rc_atomic_acknowledge, "", true},
      {"cnp", Opcode::cnp, "", true},
      {"cnp", Opcode::rc_send_only, "", false},
      {"request", Opcode::rc_fetch_add, "", true},
      {"request", Opcode::rc_acknowledge, "", false},
      {"request", Opcode::cnp, "", false},
      {"response", Opcode::rc_acknowledge, "0x60", true},
      {"response", Opcode::rc_read_response_last, "", true},
      {"response", Opcode::rc_send_last, "", false},
      {"first", Opcode::rc_read_response_first, "", true},
      {"first", Opcode::rc_write_first, "", true},
      {"first", Opcode::rc_write_middle, "", false},
      {"last", Opcode::rc_send_last_imm, "", true},
      {"only", Opcode::rc_send_only, "", true},
      {"only", Opcode::rc_acknowledge, "", false},
      {"only", Opcode::rc_read_request, "", false},
      {"write_middle", Opcode::rc_write_middle, "", true},
      {"write_middle", Opcode::rc_write_last, "", false},
      {"write_middle", Opcode::rc_send_middle, "", false},
      {"read_response_last", Opcode::rc_read_response_last, "", true},
      {"RC_SEND_ONLY", Opcode::rc_send_only, "", true},
      {"rc_send_only", Opcode::rc_send_only_imm, "", false},
      {"0x07", Opcode::rc_write_middle, "", true},
      {"0x07", Opcode::rc_write_first, "", false},
      {"send/cnp", Opcode::cnp, "", true},
      {"send/cnp", Opcode::rc_send_only, "", true},
      {"send/cnp", Opcode::rc_write_only, "", false},
      {"any", Opcode::rc_write_only, "", true},
  };
  for (const OpcodeCase& one : cases) {
    test::Values values;
    if (!one.syndrome.empty()) values.emplace_back("aeth.syndrome", one.syndrome);
    EXPECT_EQ(drops("drop:op=" + std::string{one.op}, frame_of(one.opcode, values)), one.matches)
        << one.op << " and " << opcode_info(one.opcode).name << " " << one.syndrome;
  }
}

TEST(ImpairMatch, ByRelativePsn) {
  Engine engine = engine_of("drop:psn=2");
  EXPECT_THAT(passed(engine, {middle(1000), middle(1001), middle(1002), middle(1003)}), ElementsAre(1, 2, 4));
}

TEST(ImpairMatch, ByRangesOfRelativePsnsThroughZero) {
  Engine engine = engine_of("drop:psn=1..2");
  EXPECT_THAT(passed(engine, {middle(0xFFFFFE), middle(0xFFFFFF), middle(0), middle(1)}), ElementsAre(1, 4));
  Engine before = engine_of("drop:psn=-5..-1");
  EXPECT_THAT(passed(before, {middle(2), middle(1), middle(0xFFFFFE), middle(0xFFFFFC)}), ElementsAre(1, 4));
  Engine open = engine_of("drop:psn=1..");
  EXPECT_THAT(passed(open, {middle(7), middle(8), middle(9000), middle(6)}), ElementsAre(1, 4));
}

TEST(ImpairMatch, FlowsCountTheirPsnsApart) {
  Engine engine = engine_of("drop:psn=1");
  const auto to = [](const char* qp, const char* destination, const char* psn) {
    return frame_of(Opcode::rc_send_only, {{"bth.dest_qp", qp}, {"ip.dst", destination}, {"bth.psn", psn}});
  };
  EXPECT_THAT(passed(engine, {to("1", "192.0.2.2", "10"), to("2", "192.0.2.2", "11"), to("1", "192.0.2.3", "11"),
                              to("1", "192.0.2.2", "11")}),
              ElementsAre(1, 2, 3));
  // The same addresses and QP in the other direction are another flow.
  EXPECT_EQ(pass(engine, to("2", "192.0.2.2", "12"), Direction::b_to_a).size(), 1U);
  EXPECT_EQ(pass(engine, to("2", "192.0.2.2", "12")).size(), 0U);
}

TEST(ImpairMatch, RequestsAndResponsesOfAFlowCountTheirPsnsApart) {
  Engine engine = engine_of("drop:psn=1");
  const auto ack = [](const char* psn) { return frame_of(Opcode::rc_acknowledge, {{"bth.psn", psn}}); };
  EXPECT_THAT(passed(engine, {middle(100), ack("5000"), ack("5001"), middle(101)}), ElementsAre(1, 2));
}

TEST(ImpairMatch, CnpsHaveNoPsn) {
  Engine engine = engine_of("drop:psn=0..");
  EXPECT_THAT(passed(engine, {frame_of(Opcode::cnp), middle(100)}), ElementsAre(1));
  Engine other = engine_of("drop:psn=0");
  EXPECT_THAT(passed(other, {frame_of(Opcode::cnp), middle(100)}), ElementsAre(1))
      << "the PSN of a CNP must not become the flow's first";
}

TEST(ImpairMatch, ByPsnAsItStandsThere) {
  Engine engine = engine_of("drop:abs_psn=1001");
  EXPECT_THAT(passed(engine, {middle(1000), middle(1001)}), ElementsAre(1));
  Engine wrapping = engine_of("drop:abs_psn=16777214..1");
  EXPECT_THAT(passed(wrapping, {middle(0xFFFFFD), middle(0xFFFFFE), middle(0), middle(1), middle(2)}),
              ElementsAre(1, 5));
}

TEST(ImpairMatch, ByTransmissionOfThePsn) {
  Engine first = engine_of("drop:tx=1,psn=1");
  EXPECT_THAT(passed(first, {middle(8), middle(9), middle(9), middle(9)}), ElementsAre(1, 3, 4));
  Engine second = engine_of("drop:tx=2");
  EXPECT_THAT(passed(second, {middle(8), middle(9), middle(9), middle(8), middle(9)}), ElementsAre(1, 2, 5));
  Engine later = engine_of("drop:tx=2..");
  EXPECT_THAT(passed(later, {middle(8), middle(8), middle(8)}), ElementsAre(1));
}

TEST(ImpairMatch, TransmissionsOfResponsesCountByClass) {
  Engine engine = engine_of("drop:tx=2");
  const auto ack = [](const char* syndrome) {
    return frame_of(Opcode::rc_acknowledge, {{"bth.psn", "9"}, {"aeth.syndrome", syndrome}});
  };
  EXPECT_THAT(passed(engine, {ack("0x1f"), ack("0x60"), ack("0x60"), ack("0x1e"), middle(9), middle(9)}),
              ElementsAre(1, 2, 5));
  Engine third = engine_of("drop:tx=2");
  EXPECT_THAT(passed(third, {middle(9), ack("0x1f"), ack("0x60"), ack("0x1f"), middle(9)}), ElementsAre(1, 2, 3, 5))
      << "of three classes with one PSN, the one that was silent longest begins anew";
}

TEST(ImpairMatch, BySkipAndCount) {
  Engine engine = engine_of("drop:op=write,skip=1,count=2");
  EXPECT_THAT(passed(engine, {middle(1), frame_of(Opcode::rc_send_only), middle(2), middle(3), middle(4)}),
              ElementsAre(1, 2, 5));
  Engine nth = engine_of("drop:nth=3");
  EXPECT_THAT(passed(nth, {middle(1), middle(1), middle(1), middle(1)}), ElementsAre(1, 2, 4));
  Engine never = engine_of("drop:count=0");
  EXPECT_THAT(passed(never, {middle(1)}), ElementsAre(1));
}

TEST(ImpairMatch, ByProbability) {
  Engine engine = engine_of("drop:probability=0.1", 3);
  const std::size_t left = passed(engine, std::vector<test::Frame>(10'000, middle(1))).size();
  // The limits are six standard deviations of 30 away on both sides.
  EXPECT_GT(left, 8820U);
  EXPECT_LT(left, 9180U);
  Engine never = engine_of("drop:probability=0");
  EXPECT_EQ(passed(never, std::vector<test::Frame>(100, middle(1))).size(), 100U);
}

TEST(ImpairMatch, OtherFramesOnlyWhenTheRuleSaysSo) {
  const test::Frame arp(60);
  EXPECT_FALSE(drops("drop", arp));
  EXPECT_TRUE(drops("drop:any_frame=true", arp));
  EXPECT_TRUE(drops("drop:any_frame=true", middle(1)));
  EXPECT_FALSE(drops("drop:any_frame=true,dir=b_to_a", arp));
  EXPECT_FALSE(drops("drop", test::Frame{}));
}

TEST(ImpairMatch, WorksOnEveryEncapsulation) {
  for (const RoceVersion version : {RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    Engine engine = engine_of("drop:op=send,psn=1,tx=1,qp=0x11");
    const auto send = [&](const char* psn) { return frame_of(Opcode::rc_send_only, {{"bth.psn", psn}}, version); };
    EXPECT_THAT(passed(engine, {send("5"), send("6"), send("6")}), ElementsAre(1, 3)) << to_string(version);
  }
}

TEST(ImpairMatch, OnOtherLinkTypes) {
  test::Frame frame = middle(1);
  frame.erase(frame.begin(), frame.begin() + 14);
  Engine engine{test::rules_of("drop:op=write"), 1, {}, LinkType::raw_ip};
  EXPECT_TRUE(pass(engine, frame).empty());
}

}  // namespace
}  // namespace roce::impair
