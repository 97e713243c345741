// SPDX-License-Identifier: BSD-2-Clause
#include <gtest/gtest.h>

#include <algorithm>

#include "roce/wire/icrc.h"
#include "support/frame_stack.h"
#include "support/hex.h"

namespace roce {
namespace {

using Mistakes = std::set<IcrcMistake>;
using test::Carrier;
using test::FrameStack;
using test::NetworkKind;

/// True if a packet carried in this way has the field that the mistake is about.
bool applies(IcrcMistake mistake, NetworkKind network) {
  switch (mistake) {
    case IcrcMistake::flow_label_not_masked:
      return network != NetworkKind::ipv4;
    case IcrcMistake::ip_checksum_not_masked:
    case IcrcMistake::other_ip_id:
      return network == NetworkKind::ipv4;
    case IcrcMistake::udp_checksum_not_masked:
      return network != NetworkKind::grh;
    default:
      return true;
  }
}

/// Returns a packet with pad, without a masked field that is all ones, whose ICRC was computed with these mistakes.
FrameStack make_frame(const Carrier& carrier, const Mistakes& mistakes, std::mt19937& random) {
  FrameStack stack{random};
  auto bth = test::random_header<Bth>(random);
  bth.opcode = Opcode::rc_send_only;
  bth.pad_count = 3;
  bth.fecn = false;
  stack.put(bth).payload(test::random_bytes(41, random), 3);
  carrier.wrap(stack);
  stack.seal(carrier.network, mistakes).ethernet(carrier.ether_type);
  return stack;
}

Mistakes found(const IcrcExplanation& explanation) {
  return {explanation.found().begin(), explanation.found().end()};
}

class IcrcExplanationOf : public testing::TestWithParam<Carrier> {};

TEST_P(IcrcExplanationOf, EachMistakeAndEachPairOfThem) {
  std::mt19937 random(40);
  const NetworkKind network = GetParam().network;
  constexpr auto kCount = static_cast<unsigned>(IcrcMistake::other_ip_id);
  for (unsigned i = 0; i < kCount; ++i) {
    for (unsigned j = i; j < kCount; ++j) {
      const Mistakes mistakes{static_cast<IcrcMistake>(i), static_cast<IcrcMistake>(j)};
      const bool possible = std::ranges::all_of(mistakes, [&](IcrcMistake m) { return applies(m, network); });
      if (!possible) continue;
      FrameStack stack = make_frame(GetParam(), mistakes, random);
      const Packet packet = parse_frame(stack.bytes(), LinkType::ethernet);
      ASSERT_EQ(check_icrc(packet).status, IcrcStatus::bad) << i << ' ' << j;
      const IcrcExplanation explanation = explain_icrc(packet);
      EXPECT_EQ(found(explanation), mistakes) << i << ' ' << j << ": " << to_string(explanation, packet);
      EXPECT_EQ(explanation.damaged_bits, 0);
      for (const IcrcMistake mistake : mistakes) {
        EXPECT_NE(to_string(explanation, packet).find(to_string(mistake)), std::string::npos);
      }
    }
  }
}

class IcrcExplanationOfIpv4 : public IcrcExplanationOf {};

TEST_P(IcrcExplanationOfIpv4, AnotherIpId) {
  std::mt19937 random(41);
  for (int round = 0; round < 100; ++round) {
    FrameStack stack = make_frame(GetParam(), {}, random);
    const auto ip_id = FieldOf<&Ipv4::identification>::get(stack.bytes().data() + stack.network_offset());
    const auto other = static_cast<std::uint16_t>(ip_id + 1 + random() % 0xFFFF);
    FieldOf<&Ipv4::identification>::set(stack.bytes().data() + stack.network_offset(), other);
    const Packet packet = parse_frame(stack.bytes(), LinkType::ethernet);
    const IcrcExplanation explanation = explain_icrc(packet);
    EXPECT_EQ(found(explanation), Mistakes{IcrcMistake::other_ip_id});
    EXPECT_EQ(explanation.ip_id, ip_id);
    EXPECT_NE(to_string(explanation, packet).find("(" + std::to_string(ip_id) + ")"), std::string::npos);
  }
}

TEST_P(IcrcExplanationOf, OneDamagedByteAnywhere) {
  std::mt19937 random(42);
  FrameStack stack = make_frame(GetParam(), {}, random);
  const std::size_t network = stack.network_offset();
  const bool is_ipv4 = GetParam().network == NetworkKind::ipv4;
  for (std::size_t offset = network; offset < stack.size(); ++offset) {
    auto frame = stack.bytes();
    const auto bits = static_cast<std::byte>(1 + random() % 255);
    frame[offset] ^= bits;
    const Packet packet = parse_frame(frame, LinkType::ethernet);
    // A byte that changes the structure makes another packet, and one that is not covered changes nothing.
    if (!packet.has_icrc() || packet.icrc_offset() != frame.size() - 4 || packet.bth_offset() != stack.bth_offset() ||
        check_icrc(packet).status == IcrcStatus::good) {
      continue;
    }
    const IcrcExplanation explanation = explain_icrc(packet);
    if (is_ipv4 && (offset == network + 4 || offset == network + 5)) {
      EXPECT_EQ(found(explanation), Mistakes{IcrcMistake::other_ip_id});
      continue;
    }
    // A damaged pad count moves the pad, so the mistake of leaving the pad out does not fit either.
    ASSERT_TRUE(explanation.found().empty()) << offset << ": " << to_string(explanation, packet);
    EXPECT_EQ(explanation.damaged_offset, offset);
    // In a half-masked byte only the covered bits can show.
    EXPECT_EQ(explanation.damaged_bits & ~std::to_integer<unsigned>(bits), 0U);
    EXPECT_NE(explanation.damaged_bits, 0);
    EXPECT_NE(to_string(explanation, packet).find("one damaged byte at offset " + std::to_string(offset)),
              std::string::npos);
  }
}

TEST_P(IcrcExplanationOf, NothingWhenNothingFits) {
  std::mt19937 random(43);
  for (int round = 0; round < 100; ++round) {
    FrameStack stack = make_frame(GetParam(), {}, random);
    const auto icrc = test::random_bytes(4, random);
    std::ranges::copy(icrc, stack.bytes().end() - 4);
    const Packet packet = parse_frame(stack.bytes(), LinkType::ethernet);
    const IcrcExplanation explanation = explain_icrc(packet);
    EXPECT_TRUE(explanation.found().empty()) << to_string(explanation, packet);
    EXPECT_EQ(explanation.damaged_bits, 0);
    EXPECT_EQ(to_string(explanation, packet), "no common mistake and no single damaged byte gives this ICRC");
  }
}

TEST_P(IcrcExplanationOf, NothingOfAGoodOne) {
  std::mt19937 random(44);
  FrameStack stack = make_frame(GetParam(), {}, random);
  const IcrcExplanation explanation = explain_icrc(parse_frame(stack.bytes(), LinkType::ethernet));
  EXPECT_TRUE(explanation.found().empty());
  EXPECT_EQ(explanation.damaged_bits, 0);
}

INSTANTIATE_TEST_SUITE_P(All, IcrcExplanationOf, testing::ValuesIn(test::kCarriers),
                         [](const auto& carrier) { return std::string{carrier.param.name}; });

INSTANTIATE_TEST_SUITE_P(All, IcrcExplanationOfIpv4, testing::Values(test::kCarriers[1], test::kCarriers[2]),
                         [](const auto& carrier) { return std::string{carrier.param.name}; });

TEST(IcrcMistakeText, IsThereForEach) {
  std::set<std::string_view> texts;
  for (unsigned i = 0; i < static_cast<unsigned>(IcrcMistake::count); ++i) {
    EXPECT_FALSE(to_string(static_cast<IcrcMistake>(i)).empty());
    EXPECT_TRUE(texts.insert(to_string(static_cast<IcrcMistake>(i))).second) << i;
  }
}

}  // namespace
}  // namespace roce
