// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/lldp.h"

#include <gtest/gtest.h>

#include <vector>

#include "control_support.h"

namespace roce {
namespace {

using namespace control_test;

std::vector<std::byte> example() {
  return from_frame(kLldpFrame, kEthernetSize);
}

std::vector<LldpItem> items_of(LldpWalker& walker) {
  std::vector<LldpItem> items;
  for (LldpItem item; walker.next(item);) items.push_back(item);
  return items;
}

/// Returns the value of the `index`-th TLV of the example, from the OUI on.
std::vector<std::byte> example_value(std::size_t index) {
  const auto pdu = example();
  LldpWalker walker(pdu);
  const auto items = items_of(walker);
  const Bytes value = items.at(index).value;
  return {value.begin(), value.end()};
}

TEST(Lldp, EveryBitSurvivesAndEveryRowOwnsItsBits) {
  check_header<LldpTlv>();
  check_header<LldpOrg>();
  check_header<DcbxEts>();
  check_header<DcbxEtsRecommendation>();
  check_header<DcbxPfc>();
  check_header<DcbxApp>();
  check_header<DcbxAppEntry>();
}

TEST(LldpWalker, GivesEveryTlvOfTheExample) {
  const auto pdu = example();
  LldpWalker walker(pdu);
  const auto items = items_of(walker);
  using enum LldpType;
  const std::vector<std::tuple<LldpType, std::size_t, std::size_t>> expected{
      {chassis_id, 0, 7},     {port_id, 9, 7},       {time_to_live, 18, 2},  {organization, 22, 25},
      {organization, 49, 25}, {organization, 76, 6}, {organization, 84, 14}, {end, 100, 0}};
  ASSERT_EQ(items.size(), expected.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    const auto& [type, offset, length] = expected[i];
    EXPECT_EQ(items[i].header.type, type) << i;
    EXPECT_EQ(items[i].header.length, length) << i;
    EXPECT_EQ(items[i].offset, offset) << i;
    EXPECT_EQ(items[i].value.size(), length) << i;
    EXPECT_EQ(items[i].value.data(), pdu.data() + offset + 2) << i;
  }
  EXPECT_EQ(walker.problem(), ParseError{});
  EXPECT_EQ(walker.offset(), pdu.size());
}

TEST(LldpWalker, StopsAtTheEndTlvAndLeavesThePadding) {
  auto pdu = example();
  const std::size_t size = pdu.size();
  pdu.resize(size + 8, std::byte{0xEE});
  LldpWalker walker(pdu);
  EXPECT_EQ(items_of(walker).size(), 8U);
  EXPECT_EQ(walker.problem(), ParseError{});
  EXPECT_EQ(walker.offset(), size);
  LldpItem item;
  EXPECT_FALSE(walker.next(item));
}

TEST(LldpWalker, EveryTruncationGivesTheWholeTlvsAndThenTheProblem) {
  const auto pdu = example();
  const std::vector<std::size_t> starts{0, 9, 18, 22, 49, 76, 84, 100, 102};
  for (std::size_t size = 0; size < pdu.size(); ++size) {
    SCOPED_TRACE(size);
    // A copy of exactly this size, so that a sanitizer notices a read behind it.
    const std::vector<std::byte> cut(pdu.begin(), pdu.begin() + static_cast<std::ptrdiff_t>(size));
    LldpWalker walker(cut);
    const auto items = items_of(walker);
    std::size_t whole = 0;
    while (starts[whole + 1] <= size) ++whole;
    EXPECT_EQ(items.size(), whole);
    const std::size_t offset = starts[whole];
    const std::size_t left = size - offset;
    const std::size_t needed = left < 2 ? 2 : starts[whole + 1] - offset;
    EXPECT_EQ(walker.problem(),
              (ParseError{ParseReason::truncated, HeaderId::lldp_tlv, static_cast<std::uint32_t>(offset),
                          static_cast<std::uint32_t>(needed), static_cast<std::uint32_t>(left)}));
    EXPECT_EQ(walker.offset(), offset);
    LldpItem item;
    EXPECT_FALSE(walker.next(item));
  }
}

TEST(LldpWalker, AnEndTlvWithAValueIsAProblem) {
  const auto pdu = from_hex("0602 0078 0001 55");
  LldpWalker walker(pdu);
  EXPECT_EQ(items_of(walker).size(), 1U);
  EXPECT_EQ(walker.problem(), (ParseError{ParseReason::bad_length, HeaderId::lldp_tlv, 4, 0, 1}));
}

TEST(LldpWalker, ALengthOfNineBitsIsWhollyUsed) {
  auto pdu = from_hex("ffff");
  pdu.resize(2 + 511);
  LldpWalker walker(pdu);
  LldpItem item;
  ASSERT_TRUE(walker.next(item));
  EXPECT_EQ(item.header.type, LldpType::organization);
  EXPECT_EQ(item.value.size(), 511U);
}

TEST(Dcbx, EtsConfigurationOfTheExample) {
  const auto value = example_value(3);
  ASSERT_EQ(dcbx_header_id(Bytes(value)), HeaderId::dcbx_ets);
  const auto ets = parse<DcbxEts>(Bytes(value).subspan(kSize<LldpOrg>));
  ASSERT_TRUE(ets);
  EXPECT_TRUE(ets->willing);
  EXPECT_FALSE(ets->cbs);
  EXPECT_EQ(ets->max_tcs, 0);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(ets->traffic_class(i), i == 3 ? 1 : 0) << i;
    EXPECT_EQ(ets->bandwidth(i), i < 2 ? 50 : 0) << i;
    EXPECT_EQ(ets->tsa(i), i < 2 ? DcbxTsa::ets : DcbxTsa::strict_priority) << i;
  }
}

TEST(Dcbx, EtsFlagsAndTables) {
  const auto bytes = from_hex("c5 01234567 0001020304050607 00 01 02 ff 04 05 06 07");
  const auto ets = parse<DcbxEts>(bytes);
  ASSERT_TRUE(ets);
  EXPECT_TRUE(ets->willing);
  EXPECT_TRUE(ets->cbs);
  EXPECT_EQ(ets->reserved, 0);
  EXPECT_EQ(ets->max_tcs, 5);
  const auto recommendation = parse<DcbxEtsRecommendation>(bytes);
  ASSERT_TRUE(recommendation);
  EXPECT_EQ(recommendation->reserved, 0xC5);
  for (unsigned i = 0; i < 8; ++i) {
    EXPECT_EQ(ets->traffic_class(i), i);
    EXPECT_EQ(ets->bandwidth(i), i);
    EXPECT_EQ(ets->tsa(i), static_cast<DcbxTsa>(i == 3 ? 255 : i));
    EXPECT_EQ(recommendation->traffic_class(i), i);
    EXPECT_EQ(recommendation->bandwidth(i), i);
    EXPECT_EQ(recommendation->tsa(i), static_cast<DcbxTsa>(i == 3 ? 255 : i));
  }
}

TEST(Dcbx, EtsRecommendationOfTheExample) {
  const auto value = example_value(4);
  ASSERT_EQ(dcbx_header_id(Bytes(value)), HeaderId::dcbx_ets_recommendation);
  const auto ets = parse<DcbxEtsRecommendation>(Bytes(value).subspan(kSize<LldpOrg>));
  EXPECT_EQ(ets->traffic_class(3), 1);
  EXPECT_EQ(ets->bandwidth(1), 50);
  EXPECT_EQ(ets->tsa(1), DcbxTsa::ets);
}

TEST(Dcbx, PfcOfTheExample) {
  const auto value = example_value(5);
  ASSERT_EQ(dcbx_header_id(Bytes(value)), HeaderId::dcbx_pfc);
  const auto pfc = parse<DcbxPfc>(Bytes(value).subspan(kSize<LldpOrg>));
  ASSERT_TRUE(pfc);
  EXPECT_TRUE(pfc->willing);
  EXPECT_FALSE(pfc->mbc);
  EXPECT_EQ(pfc->capability, 8);
  for (unsigned i = 0; i < 8; ++i) EXPECT_EQ(pfc->enabled(i), i == 3) << i;
  for (unsigned i = 0; i < 8; ++i) {
    const std::vector<std::byte> one{std::byte{0x40}, static_cast<std::byte>(1U << i)};
    EXPECT_TRUE(parse<DcbxPfc>(one)->enabled(i)) << i;
    EXPECT_TRUE(parse<DcbxPfc>(one)->mbc);
  }
}

TEST(Dcbx, AppEntriesOfTheExample) {
  const auto value = example_value(6);
  ASSERT_EQ(dcbx_header_id(Bytes(value)), HeaderId::dcbx_app);
  const Bytes entries = dcbx_app_entries(value);
  ASSERT_EQ(entries.size(), 9U);
  EXPECT_EQ(read<DcbxAppEntry>(entries.data()),
            (DcbxAppEntry{.priority = 3, .selector = DcbxSelector::ether_type, .protocol = 0x8915}));
  EXPECT_EQ(read<DcbxAppEntry>(entries.data() + 3),
            (DcbxAppEntry{.priority = 3, .selector = DcbxSelector::udp_port, .protocol = 4791}));
  EXPECT_EQ(read<DcbxAppEntry>(entries.data() + 6),
            (DcbxAppEntry{.priority = 3, .selector = DcbxSelector::dscp, .protocol = 26}));
}

TEST(Dcbx, OtherOrganizationsAndSubtypesHoldNone) {
  EXPECT_EQ(dcbx_header_id(from_hex("0080c208")), HeaderId::none);
  EXPECT_EQ(dcbx_header_id(from_hex("0080c20d")), HeaderId::none);
  EXPECT_EQ(dcbx_header_id(from_hex("00120f09")), HeaderId::none);
  EXPECT_EQ(dcbx_header_id(LldpOrg{0x001B21, 11}), HeaderId::none);
  EXPECT_EQ(dcbx_header_id(LldpOrg{kOuiIeee8021, 11}), HeaderId::dcbx_pfc);
}

TEST(Dcbx, AWrongSizeIsNamed) {
  EXPECT_EQ(dcbx_header_id(from_hex("0080c2")).error(),
            (ParseError{ParseReason::truncated, HeaderId::lldp_org, 0, 4, 3}));
  EXPECT_EQ(dcbx_header_id(from_hex("0080c20b 88")).error(),
            (ParseError{ParseReason::truncated, HeaderId::dcbx_pfc, 4, 2, 1}));
  EXPECT_EQ(dcbx_header_id(from_hex("0080c20b 8808 00")).error(),
            (ParseError{ParseReason::bad_length, HeaderId::dcbx_pfc, 4, 2, 3}));
  EXPECT_EQ(dcbx_header_id(from_hex("0080c20c")).error(),
            (ParseError{ParseReason::truncated, HeaderId::dcbx_app, 4, 1, 0}));
  EXPECT_EQ(dcbx_header_id(from_hex("0080c20c 00")), HeaderId::dcbx_app);
  EXPECT_EQ(dcbx_header_id(from_hex("0080c20c 00 618915 63")).error(),
            (ParseError{ParseReason::bad_length, HeaderId::dcbx_app_entry, 8, 3, 1}));
  EXPECT_EQ(dcbx_header_id(from_hex("0080c209 00")).error(),
            (ParseError{ParseReason::truncated, HeaderId::dcbx_ets, 4, 21, 1}));
  EXPECT_EQ(dcbx_header_id(from_hex("0080c20a 00")).error(),
            (ParseError{ParseReason::truncated, HeaderId::dcbx_ets_recommendation, 4, 21, 1}));
}

TEST(Dcbx, AnIncompleteEntryIsLeftOut) {
  EXPECT_EQ(to_hex(dcbx_app_entries(from_hex("0080c20c 00 618915 6312"))), "618915");
  EXPECT_TRUE(dcbx_app_entries(from_hex("0080c20c 00")).empty());
  EXPECT_TRUE(dcbx_app_entries(from_hex("0080c2")).empty());
}

}  // namespace
}  // namespace roce
