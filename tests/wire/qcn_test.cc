// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/qcn.h"

#include <gtest/gtest.h>

#include "control_support.h"

namespace roce {
namespace {

using namespace control_test;

constexpr std::string_view kCnm = "002a 0102030405060708 ff38 0064 6000 020000000001 0004";

TEST(Qcn, EveryBitSurvivesAndEveryRowOwnsItsBits) {
  check_header<CnTag>();
  check_header<Cnm>();
}

TEST(Qcn, CnTag) {
  const auto tag = parse<CnTag>(from_hex("1234 22e7"));
  EXPECT_EQ(tag->flow_id, 0x1234);
  EXPECT_EQ(tag->ether_type, EtherType::cnm);
}

TEST(Qcn, Cnm) {
  const auto cnm = parse<Cnm>(from_hex(kCnm));
  ASSERT_TRUE(cnm);
  EXPECT_EQ(cnm->version, 0);
  EXPECT_EQ(cnm->reserved1, 0);
  EXPECT_EQ(cnm->quantized_feedback, 42);
  EXPECT_EQ(cnm->cpid, 0x0102030405060708U);
  EXPECT_EQ(cnm->q_offset, -200);
  EXPECT_EQ(cnm->q_delta, 100);
  EXPECT_EQ(cnm->encapsulated_priority, 3);
  EXPECT_EQ(cnm->reserved2, 0);
  EXPECT_EQ(cnm->encapsulated_destination, (MacAddress{{2, 0, 0, 0, 0, 1}}));
  EXPECT_EQ(cnm->msdu_length, 4);

  Cnm built = *cnm;
  built.version = 15;
  built.q_offset = -32768;
  built.q_delta = -1;
  EXPECT_EQ(to_hex(emitted(built)), "f02a01020304050607088000ffff60000200000000010004");
}

TEST(Qcn, TheMsduIsBehindTheCnm) {
  const auto with = [](std::string_view rest) { return from_hex(std::string(kCnm) + std::string(rest)); };
  const auto pdu = with("deadbeef 0000");
  const auto msdu = encapsulated_msdu(pdu);
  ASSERT_TRUE(msdu);
  EXPECT_EQ(to_hex(*msdu), "deadbeef");
  EXPECT_EQ(msdu->data(), pdu.data() + 24);
  EXPECT_EQ(encapsulated_msdu(with("deadbe")).error(), (ParseError{ParseReason::truncated, HeaderId::cnm, 24, 4, 3}));
  EXPECT_EQ(encapsulated_msdu(Bytes(pdu).first(23)).error(),
            (ParseError{ParseReason::truncated, HeaderId::cnm, 0, 24, 23}));

  std::vector<std::byte> longest(24 + 65);
  longest[23] = std::byte{64};
  EXPECT_EQ(encapsulated_msdu(longest)->size(), 64U);
  longest[23] = std::byte{65};
  EXPECT_EQ(encapsulated_msdu(longest).error(), (ParseError{ParseReason::bad_length, HeaderId::cnm, 24, 64, 65}));
}

}  // namespace
}  // namespace roce
