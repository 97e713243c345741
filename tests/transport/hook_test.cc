// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/hook.h"

#include <gtest/gtest.h>

#include <array>

namespace roce::transport {
namespace {

TEST(MisbehaviourHook, WithoutOverridesBehaves) {
  MisbehaviourHook hook;
  std::array<std::byte, 4> packet{std::byte{1}, std::byte{2}, std::byte{3}, std::byte{4}};
  const std::array<std::byte, 4> before = packet;
  const TxVerdict verdict = hook.on_transmit(packet, Time{});
  EXPECT_EQ(verdict.fate, TxVerdict::Fate::send);
  EXPECT_FALSE(verdict.seal_again);
  EXPECT_EQ(packet, before);
  EXPECT_EQ(hook.on_request(parse_frame(packet, LinkType::ethernet), Time{}), std::nullopt);
}

}  // namespace
}  // namespace roce::transport
