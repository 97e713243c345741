// SPDX-License-Identifier: BSD-2-Clause
// Congestion: marks and notifications, paused priorities, the rate of a QP, and incast at a switch.
#include <gmock/gmock.h>

#include <memory>

#include "roce/wire/cnp.h"
#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::WorkOpcode;

class CongestionScenario : public ScenarioTest {
 protected:
  static Pair::Options options() {
    Pair::Options options = Pair::with(profile());
    options.a_host.profile.mark_ect = true;
    options.a_host.profile.send_cnps = true;
    return options;
  }

  static std::vector<TraceFrame> cnps(const SimNetwork& network) {
    std::vector<TraceFrame> frames;
    for (const TraceFrame& frame : network.trace()) {
      if (testing::Value(frame, IsOpcode(Opcode::cnp))) frames.push_back(frame);
    }
    return frames;
  }
};

TEST_P(CongestionScenario, ACnpAnswersMarksAtMostOnceInAnInterval) {
  for (const RoceVersion version : {RoceVersion::v2_ipv4, RoceVersion::v2_ipv6}) {
    Pair::Options options = CongestionScenario::options();
    options.connection.path.version = version;
    options.link.rate_bps = 10'000'000'000;
    options.link.impair = "mark_ce:dir=a_to_b";
    Pair pair{options};
    pair.network.keep_trace(Tap::sent);
    const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 200'000});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
    const std::vector<TraceFrame> frames = cnps(pair.network);
    ASSERT_GE(frames.size(), 3U) << pair.network.trace_text();
    for (std::size_t i = 1; i < frames.size(); ++i) EXPECT_GE(frames[i].time - frames[i - 1].time, 50us);
    for (const TraceFrame& frame : frames) {
      EXPECT_EQ(frame.from, pair.b_host.node());
      EXPECT_THAT(frame, HasGoodIcrc());
      const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
      const Bth bth = packet.bth();
      EXPECT_EQ(bth.dest_qp, pair.a.qpn());
      EXPECT_TRUE(bth.becn);
      EXPECT_FALSE(bth.fecn);
      EXPECT_FALSE(bth.ack_req);
      EXPECT_EQ(bth.psn, Psn{0});
      EXPECT_EQ(packet.net().traffic_class >> 2U, 48);
      EXPECT_TRUE(packet.get<CnpReserved>().has_value());
      EXPECT_EQ(packet.payload_length(), 0U);
    }
    EXPECT_EQ(pair.a.counters().cnps_handled, frames.size());
    EXPECT_EQ(pair.b.counters().cnps_sent, frames.size());
    EXPECT_GT(pair.b.counters().ce_received, frames.size());
  }
}

TEST_P(CongestionScenario, NoCnpWithoutAMarkNorWhenSwitchedOff) {
  Pair quiet{options()};
  quiet.network.keep_trace(Tap::sent);
  quiet.a.post({.opcode = WorkOpcode::write, .length = 50'000});
  ASSERT_TRUE(quiet.network.run_until_idle());
  EXPECT_THAT(cnps(quiet.network), IsEmpty());

  Pair::Options options = CongestionScenario::options();
  options.link.impair = "mark_ce:dir=a_to_b";
  options.a_host.adjust = [](transport::DeviceConfig& config) { config.cnp.enabled = false; };
  Pair off{options};
  off.network.keep_trace(Tap::sent);
  off.a.post({.opcode = WorkOpcode::write, .length = 50'000});
  ASSERT_TRUE(off.network.run_until_idle());
  EXPECT_THAT(cnps(off.network), IsEmpty());
}

TEST_P(CongestionScenario, EachFlowHasItsOwnInterval) {
  Pair::Options options = CongestionScenario::options();
  options.link.impair = "mark_ce:dir=a_to_b";
  Pair pair{options};
  Endpoint second_a{pair.a_host};
  Endpoint second_b{pair.b_host};
  connect(second_a, second_b);
  pair.network.keep_trace(Tap::sent);
  pair.a.post({.opcode = WorkOpcode::write, .length = 10});
  second_a.post({.opcode = WorkOpcode::write, .length = 10});
  ASSERT_TRUE(pair.network.run_until_idle());
  const std::vector<TraceFrame> frames = cnps(pair.network);
  ASSERT_EQ(frames.size(), 2U) << pair.network.trace_text();
  EXPECT_NE(parse_frame(frames[0].bytes, LinkType::ethernet).bth().dest_qp,
            parse_frame(frames[1].bytes, LinkType::ethernet).bth().dest_qp);
}

TEST_P(CongestionScenario, AProfileMayMarkNothingAndSendNoCnp) {
  Pair::Options options = Pair::with(profile());
  options.link.impair = "mark_ce:dir=a_to_b";
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  pair.a.post({.opcode = WorkOpcode::write, .length = 10});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(cnps(pair.network).size(), profile().send_cnps ? 1U : 0U);
  const Packet first = parse_frame(pair.network.trace().front().bytes, LinkType::ethernet);
  EXPECT_EQ(first.net().traffic_class & 3U, profile().mark_ect ? 2U : 0U);
}

/// Counts the notifications that arrive.
class CnpCounter : public congestion::CongestionControl {
 public:
  explicit CnpCounter(int& count) : count_(count) {}
  void start(const congestion::Path& /*path*/, Time /*now*/) override {}
  void on_cnp(Time /*now*/) override { ++count_; }
  [[nodiscard]] congestion::Output output(Time /*now*/) override { return {}; }
  [[nodiscard]] congestion::Reading reading(Time /*now*/) override { return {}; }

 private:
  int& count_;
};

TEST_P(CongestionScenario, NotificationsReachTheCongestionControl) {
  int count = 0;
  Pair::Options options = CongestionScenario::options();
  options.connection.rate_limit_bps = 40'000'000'000;
  options.link.impair = "mark_ce:dir=a_to_b";
  options.a_host.congestion = [&count](Qpn /*qp*/) { return std::make_unique<CnpCounter>(count); };
  Pair pair{options};
  pair.a.post({.opcode = WorkOpcode::write, .length = 10});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(count, 1);
}

TEST_P(CongestionScenario, APausedPriorityWaitsAndTheOthersGo) {
  Pair::Options options = CongestionScenario::options();
  options.connection.service_level = 3;
  Pair pair{options};
  Endpoint other_a{pair.a_host};
  Endpoint other_b{pair.b_host};
  connect(other_a, other_b, {.service_level = 5});
  const auto device = [&]() -> transport::Device& { return pair.a.device(); };
  must(device().set_paused(3, true));
  const std::uint64_t held = pair.a.post({.opcode = WorkOpcode::write, .length = 3000});
  const std::uint64_t gone = other_a.post({.opcode = WorkOpcode::write, .length = 3000});
  ASSERT_TRUE(pair.network.run_for(10ms));
  EXPECT_THAT(pair.a.sent(), IsEmpty());
  EXPECT_THAT(other_a.sent(), ElementsAre(Succeeded(gone)));
  EXPECT_FALSE(device().has_output());
  must(device().set_paused(3, false));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(held)));
  EXPECT_EQ(pair.a.counters().timeouts, 0U) << "what was never sent cannot time out";
  EXPECT_FALSE(device().set_paused(8, true));
}

TEST_P(CongestionScenario, ACnpWaitsWhileItsPriorityIsPaused) {
  Pair::Options options = CongestionScenario::options();
  options.link.impair = "mark_ce:dir=a_to_b";
  options.a_host.adjust = [](transport::DeviceConfig& config) { config.cnp.priority = 4; };
  Pair pair{options};
  pair.network.keep_trace(Tap::sent);
  must(pair.b.device().set_paused(4, true));
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 10});
  ASSERT_TRUE(pair.network.run_for(10ms));
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id))) << "the ACK is of another priority";
  EXPECT_THAT(cnps(pair.network), IsEmpty());
  must(pair.b.device().set_paused(4, false));
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_EQ(cnps(pair.network).size(), 1U);
}

TEST_P(CongestionScenario, AQpKeepsItsRate) {
  Pair::Options options = CongestionScenario::options();
  options.connection.rate_limit_bps = 1'000'000'000;
  Pair pair{options};
  constexpr std::uint32_t size = 250'000;  // 2 ms
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = size});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(id)));
  EXPECT_GE(pair.network.now().time_since_epoch(), 1900us);
  EXPECT_LE(pair.network.now().time_since_epoch(), 2500us);
}

TEST_P(CongestionScenario, IncastMarksDropsAndEndsWell) {
  SimNetwork network;
  const NodeId bridge = network.add_switch();
  Host::Options host_options;
  host_options.profile = profile();
  host_options.profile.mark_ect = true;
  host_options.profile.send_cnps = true;
  Host sink{network, host_options};
  const LinkConfig fast{.rate_bps = 10'000'000'000};
  LinkConfig narrow = fast;
  narrow.ecn_threshold_bytes = 20'000;
  narrow.queue_limit_bytes = 60'000;
  network.connect(sink.node(), bridge, fast, narrow);
  std::vector<std::unique_ptr<Host>> hosts;
  std::vector<std::unique_ptr<Endpoint>> ends;
  constexpr std::uint32_t size = 100'000;
  for (int i = 0; i < 4; ++i) {
    hosts.push_back(std::make_unique<Host>(network, host_options));
    network.connect(hosts.back()->node(), bridge, fast);
    ends.push_back(std::make_unique<Endpoint>(*hosts.back()));
    ends.push_back(std::make_unique<Endpoint>(sink));
    Endpoint& source = *ends[ends.size() - 2];
    Random{static_cast<std::uint64_t>(i)}.fill(source.memory());
    connect(source, *ends.back());
    source.post({.opcode = WorkOpcode::write, .length = size});
  }
  ASSERT_TRUE(network.run_until_idle());
  for (std::size_t i = 0; i < ends.size(); i += 2) {
    EXPECT_THAT(ends[i]->sent(), ElementsAre(Succeeded(1)));
    EXPECT_TRUE(std::ranges::equal(ends[i]->memory(0, size), ends[i + 1]->memory(0, size)));
  }
  const LinkStats& stats = network.link_stats(bridge, sink.node());
  EXPECT_GT(stats.marked, 0U);
  EXPECT_GT(stats.dropped, 0U);
  EXPECT_LE(stats.longest_queue_bytes, narrow.queue_limit_bytes);
  EXPECT_GT(sink.device().counters().cnps_sent, 0U);
}

ROCE_UNDER_EACH_PROFILE(CongestionScenario);

}  // namespace
}  // namespace roce::sim
