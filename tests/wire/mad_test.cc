// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/mad.h"

#include <gtest/gtest.h>

#include "control_support.h"

namespace roce {
namespace {

using namespace control_test;

TEST(Mad, EveryBitSurvivesAndEveryRowOwnsItsBits) {
  check_header<Mad>();
}

TEST(Mad, HeaderOfARecordedStyleReq) {
  const auto mad = parse<Mad>(from_frame(kReqFrame, kMadOffset));
  ASSERT_TRUE(mad);
  EXPECT_EQ(mad->base_version, 1);
  EXPECT_EQ(mad->mgmt_class, MgmtClass::communication);
  EXPECT_EQ(mad->class_version, 2);
  EXPECT_EQ(mad->method, MadMethod::send);
  EXPECT_EQ(mad->status, 0);
  EXPECT_EQ(mad->class_specific, 0);
  EXPECT_EQ(mad->transaction_id, 0x0000000911223344U);
  EXPECT_EQ(mad->attribute_id, MadAttribute::cm_req);
  EXPECT_EQ(mad->attribute_modifier, 0U);
}

TEST(Mad, ANewHeaderIsThatOfACmMessage) {
  Mad mad;
  mad.transaction_id = 0x0000000911223344;
  mad.attribute_id = MadAttribute::cm_rtu;
  EXPECT_EQ(to_hex(emitted(mad)), "010702030000000000000009112233440014000000000000");
}

TEST(Mad, FieldsLieWhereTheSpecificationPutsThem) {
  const auto mad = parse<Mad>(from_hex("018103 81 1234 5678 0102030405060708 abcd 9876 fedcba98"));
  ASSERT_TRUE(mad);
  EXPECT_EQ(mad->base_version, 1);
  EXPECT_EQ(mad->mgmt_class, MgmtClass::subnet_directed_route);
  EXPECT_EQ(mad->class_version, 3);
  EXPECT_EQ(mad->method, MadMethod::get_response);
  EXPECT_EQ(mad->status, 0x1234);
  EXPECT_EQ(mad->class_specific, 0x5678);
  EXPECT_EQ(mad->transaction_id, 0x0102030405060708U);
  EXPECT_EQ(static_cast<unsigned>(mad->attribute_id), 0xABCDU);
  EXPECT_EQ(mad->reserved, 0x9876);
  EXPECT_EQ(mad->attribute_modifier, 0xFEDCBA98U);
}

}  // namespace
}  // namespace roce
