// SPDX-License-Identifier: BSD-2-Clause
#include "replay/survey/connection_sides.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "replay/rewrite/rewritten.h"
#include "roce/wire/deth.h"
#include "support/source_tree.h"

namespace roce::replay {
namespace {

using namespace std::chrono_literals;
using test::Frame;
using testing::HasSubstr;

const Gid kServer = Gid::from_ipv4({10, 77, 0, 2});
const Gid kClient = Gid::from_ipv4({10, 77, 0, 3});

[[nodiscard]] std::vector<Frame> capture(const std::string& name) {
  return test::frames_of(std::filesystem::path{roce::test::captures_folder()} / "softroce" / (name + ".tx.pcap"));
}

/// Returns the same conversation with the hosts exchanged: queue pairs and communication IDs stay.
[[nodiscard]] std::vector<Frame> exchanged(const std::vector<Frame>& frames) {
  Rewriter rewriter{test::rules_of({{read_ip_map, "10.77.0.2=10.77.0.3"}, {read_ip_map, "10.77.0.3=10.77.0.2"}})};
  std::vector<Frame> all;
  for (const Frame& frame : frames) {
    for (Frame& one : test::rewritten(rewriter, frame)) all.push_back(std::move(one));
  }
  return all;
}

/// A frame with its time and its sender.
struct Timed {
  Frame frame;
  Time time;
  bool is_by_client = false;
};

/// Appends RoCE frames a millisecond apart from `start` on. The host with address `client` is side 0.
void append(std::vector<Timed>& all, const std::vector<Frame>& frames, Time start, const Gid& client) {
  Time time = start;
  for (const Frame& frame : frames) {
    const Packet packet = frame.parse();
    if (packet.is_roce()) all.push_back({frame, time, packet.net().source == client});
    time += 1ms;
  }
}

/// Returns how many frames are on the side where they belong; each other one is a failure.
[[nodiscard]] std::size_t expect_sides(const SideEnds& ends, const std::vector<Timed>& frames) {
  SideSurvey survey{ends};
  for (const Timed& timed : frames) survey.learn(timed.frame.parse(), timed.time);
  const ReadResult<ConnectionSides> sides = survey.finish();
  EXPECT_TRUE(sides) << sides.error();
  if (!sides) return 0;
  std::size_t right = 0;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    const auto side = sides->side_of(frames[i].frame.parse(), frames[i].time);
    EXPECT_EQ(side, frames[i].is_by_client ? 0 : 1) << "frame " << i;
    if (side == (frames[i].is_by_client ? 0 : 1)) ++right;
  }
  return right;
}

[[nodiscard]] QpName qp(std::uint32_t number, std::optional<Gid> owner = std::nullopt) {
  return {Qpn{number}, owner};
}

TEST(ConnectionSides, ClientsAreThoseWhoAskedForTheConnection) {
  std::vector<Timed> frames;
  append(frames, capture("cm-rping"), Time{1s}, kClient);
  EXPECT_EQ(expect_sides({.clients = true}, frames), 65U);
}

TEST(ConnectionSides, AHostIsAClientInOneConnectionAndAServerInTheNext) {
  std::vector<Timed> frames;
  const std::vector<Frame> first = capture("cm-rping");
  append(frames, first, Time{1s}, kClient);
  append(frames, exchanged(first), Time{2s}, kServer);
  EXPECT_EQ(expect_sides({.clients = true}, frames), 130U);
}

TEST(ConnectionSides, AQueuePairIsOnASideWithWhatWasSentToItAndByIt) {
  std::vector<Timed> frames;
  append(frames, capture("rc-mix-v4"), Time{1s}, kClient);
  EXPECT_EQ(expect_sides({.qps = {qp(0x11, kClient)}}, frames), 195U);
  frames.clear();
  append(frames, capture("rc-mix-v4"), Time{1s}, kServer);
  EXPECT_EQ(expect_sides({.qps = {qp(0x11, kServer)}}, frames), 195U);
}

TEST(ConnectionSides, ManagementMessagesGoWithTheQueuePairThatTheyAreAbout) {
  std::vector<Timed> frames;
  append(frames, capture("cm-rping"), Time{1s}, kServer);
  EXPECT_EQ(expect_sides({.qps = {qp(0x36, kServer)}}, frames), 65U);
}

TEST(ConnectionSides, DatagramsNameBothOfTheirQueuePairs) {
  std::vector<Timed> frames;
  append(frames, capture("ud-mix"), Time{1s}, kClient);
  std::erase_if(frames, [](const Timed& timed) { return timed.frame.parse().version() != RoceVersion::v2_ipv4; });
  std::vector<QpName> of_client;
  for (const Timed& timed : frames) {
    if (timed.is_by_client) of_client.push_back(qp(timed.frame.parse().get<Deth>()->source_qp.value(), kClient));
  }
  EXPECT_EQ(expect_sides({.qps = of_client}, frames), 50U);
}

TEST(ConnectionSides, AFrameWithoutConnectionGoesWithItsSender) {
  SideSurvey survey{{.clients = true}};
  std::optional<Frame> of_client;
  for (const Frame& frame : capture("cm-rping")) {
    survey.learn(frame.parse(), Time{1s});
    if (frame.parse().net().source == kClient) of_client = frame;
  }
  ConnectionSides sides = survey.finish().value();
  const auto pause = PacketSpec::from_text("headers: eth mac_control pause\nmac_control.opcode: PAUSE\n")->build();
  Frame frame{.bytes = pause.value()};
  EXPECT_EQ(sides.side_of(frame.parse(), Time{1s}), std::nullopt);
  constexpr std::size_t address_bytes = 6;
  const auto source = of_client->bytes.begin() + address_bytes;
  std::copy(source, source + address_bytes, frame.bytes.begin() + address_bytes);
  EXPECT_EQ(sides.side_of(frame.parse(), Time{1s}), 0);
}

TEST(ConnectionSides, WhatIsNotInTheCaptureIsNamed) {
  SideSurvey without_cm{{.clients = true}};
  SideSurvey without_qp{{.qps = {qp(0x11), qp(0x123)}}};
  for (const Frame& frame : capture("rc-mix-v4")) {
    without_cm.learn(frame.parse(), Time{1s});
    without_qp.learn(frame.parse(), Time{1s});
  }
  EXPECT_THAT(without_cm.finish().error(), HasSubstr("no CM REQ"));
  EXPECT_THAT(without_qp.finish().error(), HasSubstr("qp=0x123"));
}

}  // namespace
}  // namespace roce::replay
