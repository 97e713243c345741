// SPDX-License-Identifier: BSD-2-Clause
// The frames that craft sends, and their times: rules, packets, schedules, packet files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "gen/frames/frame_command.h"
#include "gen/frames/frame_feed.h"
#include "gen/frames/frame_source.h"
#include "gen/frames/packet_file.h"
#include "gen/frames/pause_packets.h"
#include "gen/frames/send_schedule.h"
#include "gen/frames/value_rule.h"
#include "roce/wire/icrc.h"
#include "roce/wire/mac_control.h"
#include "support/temporary_folder.h"

namespace roce::gen {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using namespace std::chrono_literals;
using Values = std::vector<std::pair<std::string, std::string>>;

constexpr Time kBegin{100s};

FrameSource source_of(const Values& values, std::uint64_t seed = 1) {
  SpecResult<VaryingPacket> packet = read_packet(values);
  EXPECT_TRUE(packet.has_value()) << packet.error().message;
  SpecResult<FrameSource> source = FrameSource::make({*packet}, seed);
  EXPECT_TRUE(source.has_value()) << source.error().message;
  return std::move(*source);
}

/// Returns a value of `count` frames in a row as text; the ICRC of each frame has to be right.
std::vector<std::string> shown(const Values& values, const std::string& name, int count, std::uint64_t seed = 1) {
  FrameSource source = source_of(values, seed);
  std::vector<std::string> texts;
  for (int i = 0; i < count; ++i) {
    const SpecResult<Bytes> frame = source.next();
    EXPECT_TRUE(frame.has_value()) << frame.error().message;
    const Packet packet = parse_frame(*frame, LinkType::ethernet);
    EXPECT_EQ(check_icrc(packet).status, IcrcStatus::good) << name << ' ' << i;
    texts.push_back(PacketSpec::from_packet(packet).get(name).value_or("none"));
  }
  return texts;
}

std::string error_of(const Values& values) {
  const SpecResult<VaryingPacket> packet = read_packet(values);
  return packet ? "" : packet.error().message;
}

TEST(ValueRule, CountsOnFromAStartOrFromWhatIsThere) {
  EXPECT_THAT(shown({{"bth.psn", "5+1"}}, "bth.psn", 3), ElementsAre("5", "6", "7"));
  EXPECT_THAT(shown({{"bth.psn", "+16"}}, "bth.psn", 3), ElementsAre("0", "16", "32"));
  EXPECT_THAT(shown({{"bth.psn", "1+-1"}}, "bth.psn", 3), ElementsAre("1", "0", "16777215"));
  EXPECT_THAT(shown({{"bth.psn", "0xfffffe+1"}}, "bth.psn", 3), ElementsAre("16777214", "16777215", "0"));
  EXPECT_THAT(shown({{"eth.src", "02:00:00:00:00:fe+1"}}, "eth.src", 3),
              ElementsAre("02:00:00:00:00:fe", "02:00:00:00:00:ff", "02:00:00:00:01:00"));
  EXPECT_THAT(shown({{"version", "v2_ipv6"}, {"ipv6.src", "fd00::ffff+1"}}, "ipv6.src", 2),
              ElementsAre("fd00::ffff", "fd00::1:0"));
}

TEST(ValueRule, CountsWithinARange) {
  EXPECT_THAT(shown({{"bth.dest_qp", "0x10..0x12"}}, "bth.dest_qp", 5),
              ElementsAre("0x000010", "0x000011", "0x000012", "0x000010", "0x000011"));
  EXPECT_THAT(shown({{"bth.psn", "0..10+4"}}, "bth.psn", 4), ElementsAre("0", "4", "8", "0"));
  EXPECT_THAT(shown({{"ip.src", "10.0.0.254..10.0.1.1"}}, "ip.src", 5),
              ElementsAre("10.0.0.254", "10.0.0.255", "10.0.1.0", "10.0.1.1", "10.0.0.254"));
  EXPECT_THAT(shown({{"payload_length", "0..8+3"}}, "payload_length", 4), ElementsAre("0", "3", "6", "0"));
  EXPECT_THAT(
      shown({{"reth.va", "0..0xffffffffffffffff+0x8000000000000000"}, {"opcode", "RC_WRITE_ONLY"}}, "reth.va", 3),
      ElementsAre("0x0000000000000000", "0x8000000000000000", "0x0000000000000000"));
}

TEST(ValueRule, TakesListsInTurn) {
  EXPECT_THAT(shown({{"bth.psn", "7/3/5"}}, "bth.psn", 4), ElementsAre("7", "3", "5", "7"));
  EXPECT_THAT(shown({{"ip.dst", "10.0.0.1/10.0.0.9"}}, "ip.dst", 3), ElementsAre("10.0.0.1", "10.0.0.9", "10.0.0.1"));
  EXPECT_THAT(shown({{"opcode", "RC_SEND_ONLY/RC_WRITE_ONLY"}}, "headers", 3),
              ElementsAre("eth ip udp bth", "eth ip udp bth reth", "eth ip udp bth"));
  EXPECT_THAT(shown({{"ip.total_length", "auto/auto"}}, "ip.total_length", 2), ElementsAre("auto", "auto"));
}

TEST(ValueRule, IsRandomButTheSameForASeed) {
  const Values values{{"bth.psn", "rand"}, {"udp.srcport", "rand:49152..65535"}};
  const std::vector<std::string> psns = shown(values, "bth.psn", 100);
  EXPECT_EQ(psns, shown(values, "bth.psn", 100));
  EXPECT_NE(psns, shown(values, "bth.psn", 100, 2));
  EXPECT_GT(std::set<std::string>(psns.begin(), psns.end()).size(), 90U);
  std::set<int> ports;
  for (const std::string& port : shown(values, "udp.srcport", 1000)) ports.insert(std::stoi(port));
  EXPECT_GE(*ports.begin(), 49152);
  EXPECT_LT(*ports.begin(), 49152 + 1000);
  EXPECT_GT(*ports.rbegin(), 65535 - 1000);
  std::map<std::string, int> ends;
  for (const std::string& psn : shown({{"bth.psn", "rand:3..4"}}, "bth.psn", 200)) ++ends[psn];
  EXPECT_EQ(ends.size(), 2U);
  EXPECT_GT(ends["3"], 50);
  EXPECT_GT(ends["4"], 50);
}

TEST(ValueRule, SaysWhatIsWrong) {
  EXPECT_THAT(error_of({{"bth.nope", "1"}}), HasSubstr("the BTH has no such field; it has opcode"));
  EXPECT_THAT(error_of({{"nope.psn", "+1"}}), HasSubstr("there is no header of this name"));
  EXPECT_THAT(error_of({{"reth.va", "5"}}), HasSubstr("the packet has no such header; it has eth ip udp bth"));
  EXPECT_THAT(error_of({{"bth.psn", "0x1000000"}}), HasSubstr("expected 0 … 16777215, found '0x1000000'; or a rule"));
  EXPECT_THAT(error_of({{"bth.psn", "0x1000000+1"}}), HasSubstr("expected 0 … 16777215"));
  EXPECT_THAT(error_of({{"bth.psn", ""}}), HasSubstr("bth.psn: expected"));
  EXPECT_THAT(error_of({{"bth.psn", "1//2"}}), HasSubstr("a value of the list '1//2' is empty"));
  EXPECT_THAT(error_of({{"bth.psn", "1/x"}}), HasSubstr("found 'x'"));
  EXPECT_THAT(error_of({{"bth.psn", "9..5"}}), HasSubstr("begins above its end"));
  EXPECT_THAT(error_of({{"bth.psn", "5+0"}}), HasSubstr("expected a step such as +1"));
  EXPECT_THAT(error_of({{"bth.psn", "5..9+-1"}}), HasSubstr("a range has no negative step"));
  EXPECT_THAT(error_of({{"bth.psn", "rand:5"}}), HasSubstr("expected LO..HI, found '5'"));
  EXPECT_THAT(error_of({{"icrc", "rand"}}), HasSubstr("only fields that are numbers or addresses"));
  EXPECT_THAT(error_of({{"icrc", "rigth"}}), HasSubstr("expected auto, wrong, none"));
  EXPECT_THAT(error_of({{"version", "v3"}}), HasSubstr("expected v1, v2_ipv4 or v2_ipv6, found 'v3'"));
  EXPECT_THAT(error_of({{"opcode", "RC_NOPE"}}), HasSubstr("expected a name such as RC_SEND_ONLY"));
  EXPECT_THAT(error_of({{"headers", "eth nope"}}), HasSubstr("there is no header 'nope'"));
  EXPECT_THAT(error_of({{"version", "v1"}, {"headers", "eth"}}), HasSubstr("headers say it already"));
  EXPECT_THAT(error_of({{"version", "v2_ipv6"}, {"ipv6.src", "rand:fd00::1..fd01::1"}}),
              HasSubstr("may differ in their last 8 bytes only"));
}

TEST(FrameSource, GivesWhatTheSpecificationBuilds) {
  FrameSource source = source_of({{"opcode", "RC_WRITE_ONLY"},
                                  {"bth.psn", "+3"},
                                  {"reth.va", "rand"},
                                  {"ip.dscp", "0..63"},
                                  {"ip.src", "10.0.0.1+1"},
                                  {"payload_length", "37"}});
  for (int i = 0; i < 200; ++i) {
    const SpecResult<Bytes> frame = source.next();
    ASSERT_TRUE(frame.has_value());
    const PacketSpec spec = PacketSpec::from_packet(parse_frame(*frame, LinkType::ethernet));
    EXPECT_EQ(spec.get("ip.checksum"), "auto") << "it is right";
    EXPECT_EQ(spec.get("icrc"), "auto");
    EXPECT_EQ(spec.get("bth.psn"), std::to_string(3 * i));
    EXPECT_EQ(spec.build().value(), std::vector(frame->begin(), frame->end()));
  }
}

TEST(FrameSource, TakesPacketsInTurn) {
  std::vector<VaryingPacket> packets{*read_packet({{"bth.psn", "1+1"}}), *read_packet({{"bth.psn", "100"}})};
  packets[0].repeat = 2;
  SpecResult<FrameSource> source = FrameSource::make(packets, 1);
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(source->round(), 3U);
  std::vector<std::string> psns;
  for (int i = 0; i < 6; ++i) {
    psns.push_back(*PacketSpec::from_packet(parse_frame(*source->next(), LinkType::ethernet)).get("bth.psn"));
  }
  EXPECT_THAT(psns, ElementsAre("1", "2", "100", "3", "4", "100"));
}

TEST(FrameSource, HoldsItsFrames) {
  for (const auto& [repeats, size] : std::vector<std::pair<std::vector<std::uint64_t>, const char*>>{
           {{1}, "64"}, {{1, 1, 1}, "64"}, {{1, 20, 3}, "64"}, {{100, 1}, "64"}, {{1, 1}, "8..64+8"}}) {
    std::vector<VaryingPacket> packets;
    for (const std::uint64_t repeat : repeats) {
      packets.push_back(*read_packet({{"bth.psn", "+1"}, {"payload_length", size}}));
      packets.back().repeat = repeat;
    }
    FrameSource source = *FrameSource::make(packets, 1);
    std::vector<Bytes> given;
    std::vector<std::vector<std::byte>> kept;
    for (std::size_t i = 0; i < 10 * FrameSource::kHeld; ++i) {
      given.push_back(source.next().value());
      kept.emplace_back(given.back().begin(), given.back().end());
      for (std::size_t k = i - std::min(i, FrameSource::kHeld - 1); k <= i; ++k) {
        ASSERT_TRUE(std::equal(kept[k].begin(), kept[k].end(), given[k].begin())) << size << ' ' << k << " at " << i;
      }
    }
  }
}

TEST(FrameSource, GivesTheSameFramesHoweverManyItHolds) {
  std::vector<VaryingPacket> packets;
  for (const char* size : {"64", "64", "8..64+8"}) {
    packets.push_back(*read_packet({{"bth.psn", "+1"}, {"ip.id", "rand"}, {"payload_length", size}}));
  }
  packets[1].repeat = 3;
  FrameSource many = *FrameSource::make(packets, 1);
  FrameSource one = *FrameSource::make(packets, 1, 1);
  std::map<const FrameKind*, std::vector<std::byte>> first;
  for (std::size_t i = 0; i < 10 * FrameSource::kHeld; ++i) {
    const Bytes wanted = many.next().value();
    const Bytes given = one.next().value();
    ASSERT_TRUE(std::ranges::equal(given, wanted)) << i;
    const FrameKind* const kind = one.kind();
    ASSERT_EQ(kind == nullptr, i % 5 == 4) << "a packet that is built anew each time is of no kind";
    if (kind == nullptr) continue;
    const auto& other = first.try_emplace(kind, given.begin(), given.end()).first->second;
    ASSERT_EQ(given.size(), other.size());
    for (std::size_t at = 0; at < given.size(); ++at) {
      if (given[at] == other[at]) continue;
      ASSERT_TRUE(std::ranges::binary_search(kind->varying, at)) << "byte " << at << " of frame " << i;
    }
  }
  EXPECT_EQ(first.size(), 2U);
}

TEST(FrameSource, KnowsItsLongestFrame) {
  EXPECT_EQ(source_of({{"payload_length", "0..1000+8"}}).longest(), 14U + 20 + 8 + 12 + 1000 + 4);
  EXPECT_EQ(source_of({{"payload_length", "4/400/40"}}).longest(), 14U + 20 + 8 + 12 + 400 + 4);
}

/// Returns the times at which frames go in the first `span` when each goes as early as it may.
std::vector<Duration> times_of(const SendSchedule::Options& options, Duration span, std::size_t bytes = 100) {
  SendSchedule schedule{options, kBegin};
  std::vector<Duration> times;
  for (Time time = schedule.next(kBegin); time < kBegin + span; time = schedule.next(time)) {
    times.push_back(time - kBegin);
    schedule.sent(bytes, time);
  }
  return times;
}

TEST(SendSchedule, KeepsRates) {
  EXPECT_THAT(times_of({.rate = {.bps = 0, .pps = 1000}}, 3ms), ElementsAre(0ms, 1ms, 2ms));
  EXPECT_THAT(times_of({.rate = {.bps = 800'000, .pps = 0}}, 3ms), ElementsAre(0ms, 1ms, 2ms));
  EXPECT_THAT(times_of({.rate = {.bps = 0, .pps = 1000}, .burst = 2}, 5ms), ElementsAre(0ms, 0ms, 2ms, 2ms, 4ms, 4ms));
}

TEST(SendSchedule, MakesUpForLateness) {
  SendSchedule schedule{{.rate = {.bps = 0, .pps = 1000}}, kBegin};
  schedule.sent(100, kBegin);
  const Time late = kBegin + 10ms;
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(schedule.next(late), late) << i;
    schedule.sent(100, late);
  }
  EXPECT_EQ(schedule.next(late), kBegin + 11ms);
}

TEST(SendSchedule, HasPauses) {
  EXPECT_THAT(times_of({.rate = {.bps = 0, .pps = 1000}, .burst = 1, .on = 2ms, .off = 8ms}, 22ms),
              ElementsAre(0ms, 1ms, 10ms, 11ms, 20ms, 21ms));
}

/// Returns all that a feed hands out: the time and the PSN of each frame.
std::vector<std::pair<Duration, std::string>> fed(SendPlan plan) {
  FrameFeed feed{std::move(plan), kBegin};
  std::vector<std::pair<Duration, std::string>> frames;
  for (Time time = kBegin; time != kNever; time = feed.next_time(time)) {
    while (const std::optional<Bytes> frame = feed.next(time).value()) {
      frames.emplace_back(time - kBegin,
                          *PacketSpec::from_packet(parse_frame(*frame, LinkType::ethernet)).get("bth.psn"));
    }
  }
  EXPECT_TRUE(feed.is_over());
  return frames;
}

TEST(FrameFeed, EndsAfterACountOrATime) {
  SendPlan plan{.frames = source_of({{"bth.psn", "+1"}})};
  plan.schedule.rate.pps = 1000;
  plan.count = 2;
  EXPECT_THAT(fed(plan), ElementsAre(std::pair(0ms, "0"), std::pair(1ms, "1")));
  plan.count = 0;
  plan.duration = 3ms;
  EXPECT_THAT(fed(plan), ElementsAre(std::pair(0ms, "0"), std::pair(1ms, "1"), std::pair(2ms, "2")));
}

TEST(FrameFeed, ClosesEachPeriodAndTheEnd) {
  SendPlan plan{.frames = source_of({{"bth.psn", "+1"}}), .closing = source_of({{"bth.psn", "99"}})};
  plan.schedule = {.rate = {.bps = 0, .pps = 1000}, .burst = 1, .on = 2ms, .off = 8ms};
  plan.duration = 11ms;
  EXPECT_THAT(fed(plan), ElementsAre(std::pair(0ms, "0"), std::pair(1ms, "1"), std::pair(2ms, "99"),
                                     std::pair(10ms, "2"), std::pair(11ms, "99")));
  plan.schedule.off = 0ms;
  plan.duration = 0ms;
  plan.count = 2;
  EXPECT_THAT(fed(plan), ElementsAre(std::pair(0ms, "0"), std::pair(1ms, "1"), std::pair(2ms, "99")));
}

TEST(FrameFeed, ClosesWhenItIsStopped) {
  SendPlan plan{.frames = source_of({{"bth.psn", "1"}}), .closing = source_of({{"bth.psn", "99"}})};
  FrameFeed feed{plan, kBegin};
  EXPECT_TRUE(feed.next(kBegin).value().has_value());
  feed.stop();
  EXPECT_TRUE(feed.next(kBegin).value().has_value());
  EXPECT_TRUE(feed.is_over());
  EXPECT_FALSE(feed.next(kBegin).value().has_value());
}

class PacketFiles : public roce::test::FolderTest {
 protected:
  [[nodiscard]] Outcome<std::vector<VaryingPacket>> read(const std::string& content, const Values& values = {}) const {
    return read_packet_file(save("packets.yaml", content), values);
  }
  /// Returns the error message for a file, without the file's name.
  [[nodiscard]] std::string error_of(const std::string& content) const {
    const auto packets = read(content);
    return packets ? "" : packets.error().message.substr(path("packets.yaml").size());
  }
};

TEST_F(PacketFiles, HoldPacketsWithRules) {
  const auto packets = read(
      "- opcode: RC_WRITE_ONLY   # a comment\n"
      "  bth: {psn: +1, dest_qp: 0x11}\n"
      "  reth.va: [0x1000, 0x2000]\n"
      "  repeat: 3\n"
      "- headers: [eth, mac_control, pfc]\n"
      "  mac_control.opcode: PFC\n"
      "  pfc.enable3: true\n");
  ASSERT_TRUE(packets.has_value()) << packets.error().message;
  ASSERT_EQ(packets->size(), 2U);
  EXPECT_EQ((*packets)[0].spec.get("bth.dest_qp"), "0x000011");
  EXPECT_EQ((*packets)[0].repeat, 3U);
  EXPECT_EQ((*packets)[0].rules.size(), 2U);
  EXPECT_EQ((*packets)[1].spec.get("headers"), "eth mac_control pfc");
}

TEST_F(PacketFiles, HoldWhatASpecificationWrites) {
  PacketSpec spec = PacketSpec::for_opcode(Opcode::rc_write_only_imm, RoceVersion::v2_ipv6);
  ASSERT_TRUE(spec.set("ipv6.src", "fd00::1").has_value());
  ASSERT_TRUE(spec.set("eth.src", "02:00:00:00:00:01").has_value());
  ASSERT_TRUE(spec.set("payload", "0011").has_value());
  const auto packets = read(spec.to_text());
  ASSERT_TRUE(packets.has_value()) << packets.error().message;
  EXPECT_EQ((*packets)[0].spec.build().value(), spec.build().value());
}

TEST_F(PacketFiles, GiveWayToTheCommandLine) {
  const auto packets = read("opcode: RC_SEND_ONLY\nbth.psn: 5\n", {{"bth.psn", "6"}, {"bth.dest_qp", "7"}});
  ASSERT_TRUE(packets.has_value()) << packets.error().message;
  EXPECT_EQ((*packets)[0].spec.get("bth.psn"), "6");
  EXPECT_EQ((*packets)[0].spec.get("bth.dest_qp"), "0x000007");
}

TEST_F(PacketFiles, SayWhereTheyAreWrong) {
  EXPECT_THAT(error_of("opcode: RC_SEND_ONLY\nbth.nope: 1\n"),
              HasSubstr(", line 2, column 11: bth.nope: the BTH has no"));
  EXPECT_THAT(error_of("- opcode: RC_SEND_ONLY\n- bth: {psn: 1,\n        dest_qp: 0x1000000}\n"),
              HasSubstr(", line 3, column 18: bth.dest_qp: expected"));
  EXPECT_THAT(error_of("bth.psn: []\n"), HasSubstr(", line 1, column 10: bth.psn: the list is empty"));
  EXPECT_THAT(error_of("bth.psn: [1, [2]]\n"), HasSubstr(", line 1, column 14: bth.psn: expected a value"));
  EXPECT_THAT(error_of("bth.psn: 1\nbth: {psn: 2}\n"), HasSubstr(", line 2, column 7: bth.psn: it is there twice"));
  EXPECT_THAT(error_of("bth: {psn: 2\n"), HasSubstr("this is no YAML"));
  EXPECT_THAT(error_of("bth: {psn: 2\n"), HasSubstr(", line "));
  EXPECT_THAT(error_of("repeat: 0\n"), HasSubstr("line 1, column 9: repeat: expected 1 …"));
  EXPECT_THAT(error_of("just words\n"), HasSubstr("line 1, column 1: expected a packet"));
  EXPECT_THAT(error_of("[]\n"), HasSubstr("there is no packet in it"));
  EXPECT_THAT(error_of(""), HasSubstr("expected a packet"));
  EXPECT_THAT(read_packet_file("/nowhere/packets.yaml", {}).error().message, HasSubstr("cannot read the packets in"));
}

TEST_F(PacketFiles, AreReadWithinBounds) {
  EXPECT_THAT(error_of(std::string(100'000, '[')), HasSubstr(": lists and maps are more than 16 deep"));
  EXPECT_THAT(error_of("opcode: &a [*a]\n"), HasSubstr("an alias stands inside of what it stands for"));
  EXPECT_THAT(read_packet_file("/dev/zero", {}).error().message, HasSubstr("/dev/zero: it is longer than"));
}

TEST(PausePackets, EnableWhatIsAskedFor) {
  PauseWish wish;
  wish.quanta = *read_priorities("3,5-6=100", "65535");
  const VaryingPacket packet = *pause_packet(wish);
  const std::vector<std::byte> bytes = packet.spec.build().value();
  EXPECT_EQ(bytes.size(), 60U);
  const Pfc pfc = parse_frame(bytes, LinkType::ethernet).get<Pfc>().value();
  for (unsigned priority = 0; priority < 8; ++priority) {
    const std::uint16_t quanta = priority == 3 ? 65535 : priority == 5 || priority == 6 ? 100 : 0;
    EXPECT_EQ(pfc.enabled(priority), quanta != 0) << priority;
    EXPECT_EQ(pfc.timer(priority), quanta) << priority;
  }
  const std::vector<std::byte> resumed = resume_packet(wish)->spec.build().value();
  const Pfc none = parse_frame(resumed, LinkType::ethernet).get<Pfc>().value();
  EXPECT_TRUE(none.enabled(3) && none.enabled(5) && none.enabled(6) && !none.enabled(0));
  EXPECT_EQ(none.timer(3) + none.timer(5) + none.timer(6), 0);
  // 512 bit times at 10 Gbit/s are 51.2 ns.
  EXPECT_EQ(shortest_pause(packet, 10'000'000'000), 5120ns);
  wish.quanta = *read_priorities("all", "0..65535+100");
  EXPECT_EQ(shortest_pause(*pause_packet(wish), 10'000'000'000), 5120ns);
  wish.quanta = *read_priorities("0", "0");
  EXPECT_EQ(shortest_pause(*pause_packet(wish), 10'000'000'000), std::nullopt);
}

TEST(PausePackets, RefuseWhatIsNoPriority) {
  for (const char* text : {"", "8", "3,", "3-", "5-3", "x", "3=", "-1"}) {
    EXPECT_FALSE(read_priorities(text, "1").has_value()) << text;
  }
  EXPECT_THAT(read_priorities("3,2-4", "1").error().message, HasSubstr("priority 3 is there twice"));
  PauseWish wish;
  wish.quanta = *read_priorities("3=65536", "1");
  EXPECT_THAT(pause_packet(wish).error().message, HasSubstr("pfc.timer3: expected 0 … 65535"));
}

TEST(FrameOptions, ReadDutyCycles) {
  EXPECT_EQ(parse_duty("10ms/90ms").value(), std::pair(Duration{10ms}, Duration{90ms}));
  EXPECT_EQ(parse_duty("1.5s/20us").value(), std::pair(Duration{1500ms}, Duration{20us}));
  for (const char* text : {"", "10ms", "10/90", "0ms/1ms", "1ms/0ms", "-1ms/1ms", "1ms/1m"}) {
    EXPECT_FALSE(parse_duty(text).has_value()) << text;
  }
}

}  // namespace
}  // namespace roce::gen
