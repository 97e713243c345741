// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/mac_control.h"

#include <gtest/gtest.h>

#include "control_support.h"

namespace roce {
namespace {

using namespace control_test;

TEST(MacControl, EveryBitSurvivesAndEveryRowOwnsItsBits) {
  check_header<MacControl>();
  check_header<Pfc>();
  check_header<Pause>();
}

TEST(MacControl, PfcFramePausesPriority3AndResumesPriority4) {
  const auto bytes = from_frame(kPfcFrame, kEthernetSize);
  EXPECT_EQ(parse<MacControl>(bytes)->opcode, MacControlOpcode::pfc);
  const auto pfc = parse<Pfc>(Bytes(bytes).subspan(2));
  ASSERT_TRUE(pfc);
  for (unsigned priority = 0; priority < 8; ++priority) {
    EXPECT_EQ(pfc->enabled(priority), priority == 3 || priority == 4) << priority;
    EXPECT_EQ(pfc->timer(priority), priority == 3 ? 0xFFFF : 0) << priority;
  }

  Pfc built;
  built.set(3, 0xFFFF);
  built.set(4, 0);
  EXPECT_EQ(built, *pfc);
  EXPECT_EQ(to_hex(emitted(MacControl{MacControlOpcode::pfc})) + to_hex(emitted(built)),
            to_hex(Bytes(bytes).first(20)));
}

TEST(MacControl, PfcBitNAndTimerNBelongToPriorityN) {
  for (unsigned priority = 0; priority < 8; ++priority) {
    Pfc pfc;
    pfc.set(priority, 0x1234);
    std::vector<std::byte> expected(18);
    expected[1] = static_cast<std::byte>(1U << priority);
    expected[2 + 2 * priority] = std::byte{0x12};
    expected[3 + 2 * priority] = std::byte{0x34};
    EXPECT_EQ(to_hex(emitted(pfc)), to_hex(expected));
  }
}

TEST(MacControl, Pause) {
  const auto bytes = from_hex("0001 1234");
  EXPECT_EQ(parse<MacControl>(bytes)->opcode, MacControlOpcode::pause);
  EXPECT_EQ(parse<Pause>(Bytes(bytes).subspan(2))->quanta, 0x1234);
}

TEST(MacControl, AQuantumLasts512BitTimes) {
  EXPECT_EQ(pause_picoseconds(0, 25'000'000'000), 0U);
  EXPECT_EQ(pause_picoseconds(1, 1'000'000'000), 512'000U);
  EXPECT_EQ(pause_picoseconds(1, 100'000'000'000), 5'120U);
  EXPECT_EQ(pause_picoseconds(0xFFFF, 25'000'000'000), 1'342'156'800U);
  EXPECT_EQ(pause_picoseconds(0xFFFF, 100'000'000'000), 335'539'200U);
  EXPECT_EQ(pause_picoseconds(0xFFFF, 1'000), 33'553'920'000'000'000U);
  EXPECT_EQ(pause_picoseconds(0xFFFF, 10'000'000'000'000), 3'355'392U);
  EXPECT_EQ(pause_picoseconds(1, 3'000'000'000), 170'666U);
}

}  // namespace
}  // namespace roce
