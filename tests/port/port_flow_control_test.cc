// SPDX-License-Identifier: BSD-2-Clause
// The two ends of a wire at a port: PAUSE and PFC that hold its device, and DCBX that agrees on them.
#include <gmock/gmock.h>

#include "port/port_rig.h"
#include "roce/port/dcbx_peer.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/mac_control.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;
using test::Host;
using test::kNow;
using test::must;
using test::run;
using test::ScriptedLink;
using testing::IsEmpty;
using testing::SizeIs;

/// Returns a PFC or PAUSE frame.
template <typename Parameters>
[[nodiscard]] std::vector<std::byte> control_frame(MacControlOpcode opcode, const Parameters& parameters,
                                                   const MacAddress& to = {{0x01, 0x80, 0xC2, 0, 0, 0x01}}) {
  std::vector<std::byte> frame(60);
  FrameBuilder builder{frame};
  builder.add(Ethernet{to, {{2, 0, 0, 0, 0, 9}}, EtherType::mac_control}).add(MacControl{opcode}).add(parameters);
  EXPECT_TRUE(builder.finish());
  return frame;
}

/// A paused host with a WRITE of priority 3 to send; 65535 quanta are 3.36 ms at 10 Gbit/s.
class PausedPort : public testing::Test {
 protected:
  PausedPort() {
    const Qpn qp = host_.make_qp();
    host_.connect(qp, Host{2}.gid, Qpn{77}, 3);
    EXPECT_EQ(must(host_.device.query_qp(qp)).service_level, 3);
    qp_ = qp;
  }

  void receive(const std::vector<std::byte>& frame, Time now) {
    link_.incoming.push_back({.bytes = frame, .wire_length = static_cast<std::uint32_t>(frame.size())});
    run(port_, now);
  }
  void write() { host_.write(qp_, 8, host_.keys); }

  Host host_{1};
  ScriptedLink link_{link::LinkKind::ethernet};
  Port port_{host_.device, link_, &host_.neighbours};
  Qpn qp_{};
};

TEST_F(PausedPort, PfcHoldsItsPriorityUntilItsTimerEnds) {
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, IsEmpty());
  const Time end = port_.next_timeout();
  EXPECT_EQ(end - kNow, 3355392ns);
  run(port_, end - 1ns);
  EXPECT_THAT(link_.sent, IsEmpty());
  run(port_, end);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, PfcOfAnotherPriorityHoldsNothing) {
  Pfc pfc;
  pfc.set(4, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, PfcOfAPriorityThatDcbxDidNotAgreeOnHoldsNothing) {
  DcbxConfig config;
  config.pfc = {.willing = true, .capability = 8};
  config.pfc.set(4, true);
  DcbxPeer dcbx{config, host_.device.config().mac, "eth0"};
  int changes = 0;
  port_.set_dcbx(&dcbx, [&changes] { ++changes; });
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1)) << "this end tells what it is set to";
  link_.sent.clear();
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1));
  // The other end is set to priority 3, and this one is willing.
  DcbxConfig other;
  other.pfc.set(3, true);
  DcbxPeer peer{other, {{2, 0, 0, 0, 0, 0x77}}, "eth1"};
  ASSERT_TRUE(peer.update(kNow));
  receive({peer.frame().begin(), peer.frame().end()}, kNow);
  EXPECT_EQ(changes, 1);
  link_.sent.clear();
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, IsEmpty());
  // It leaves: this end's own settings hold again.
  const Bytes goodbye = peer.goodbye();
  receive({goodbye.begin(), goodbye.end()}, kNow);
  EXPECT_EQ(changes, 2);
  run(port_, kNow + 1s);
  link_.sent.clear();
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow + 1s);
  write();
  run(port_, kNow + 1s);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, DividesTheLinkAsDcbxHasAgreed) {
  DcbxConfig config;
  config.ets.willing = true;
  DcbxPeer dcbx{config, host_.device.config().mac, "eth0"};
  port_.set_dcbx(&dcbx, {});
  DcbxEts shares;
  shares.set_traffic_class(3, 1);
  shares.set_share(0, 30);
  shares.set_share(1, 70);
  DcbxPeer peer{{.recommendation = recommendation_of(shares)}, {{2, 0, 0, 0, 0, 0x77}}, "eth1"};
  ASSERT_TRUE(peer.update(kNow));
  receive({peer.frame().begin(), peer.frame().end()}, kNow);
  const transport::TrafficClasses& classes = host_.device.config().traffic_classes;
  EXPECT_EQ(classes.class_of[3], 1);
  EXPECT_EQ(classes.percent[1], 70);
  EXPECT_EQ(classes.selection[1], transport::TransmissionSelection::ets);
}

TEST_F(PausedPort, PfcForAnotherPortHoldsNothing) {
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc, {{2, 0, 0, 0, 0, 0x77}}), kNow);
  receive(control_frame(MacControlOpcode::pfc, pfc, {{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}}), kNow);
  EXPECT_EQ(host_.device.counters().malformed, 2U);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1));
  receive(control_frame(MacControlOpcode::pfc, pfc, host_.device.config().mac), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1)) << "one that is sent to us alone counts";
}

TEST_F(PausedPort, PfcWithATagHoldsNothing) {
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  std::vector<std::byte> frame = control_frame(MacControlOpcode::pfc, pfc);
  constexpr std::array tag{std::byte{0x81}, std::byte{0}, std::byte{0x60}, std::byte{0}};
  frame.insert(frame.begin() + 12, tag.begin(), tag.end());
  receive(frame, kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, AZeroTimerResumesAtOnce) {
  Pfc pfc;
  pfc.set(3, 0xFFFF);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow);
  write();
  pfc.set(3, 0);
  receive(control_frame(MacControlOpcode::pfc, pfc), kNow + 1us);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, PauseHoldsAllPriorities) {
  receive(control_frame(MacControlOpcode::pause, Pause{100}), kNow);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, IsEmpty());
  EXPECT_EQ(port_.next_timeout() - kNow, 5120ns);
  run(port_, kNow + 5120ns);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

TEST_F(PausedPort, HoldsWhatAnotherPortOfTheInterfaceWasSent) {
  Host other{2};
  ScriptedLink link{link::LinkKind::ethernet};
  Port first{other.device, link, &other.neighbours};
  int handed_on = 0;
  first.set_on_pause([&](Bytes frame) {
    ++handed_on;
    port_.take_pause(frame, kNow);
  });
  const std::vector<std::byte> not_it(60);
  const std::vector<std::byte> pause = control_frame(MacControlOpcode::pause, Pause{100});
  for (const std::vector<std::byte>* frame : {&not_it, &pause}) {
    link.incoming.push_back({.bytes = *frame, .wire_length = static_cast<std::uint32_t>(frame->size())});
  }
  run(first, kNow);
  EXPECT_EQ(handed_on, 1);
  write();
  run(port_, kNow);
  EXPECT_THAT(link_.sent, IsEmpty());
  run(port_, kNow + 5120ns);
  EXPECT_THAT(link_.sent, SizeIs(1));
}

}  // namespace
}  // namespace roce::port
