// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/profile.h"

#include <gtest/gtest.h>

namespace roce::transport {
namespace {

TEST(Profile, IsFoundByItsName) {
  for (const std::string_view name : {"rxe", "hardware_like", "strict"}) EXPECT_EQ(profile_of(name).name, name);
  EXPECT_TRUE(profile_of("hardware").name.empty());
  EXPECT_TRUE(profile_of("").name.empty());
}

TEST(Profile, OfSoftRoceIsWhatItsCapturesShow) {
  const Profile p = rxe_profile();
  EXPECT_FALSE(p.mig_req);
  EXPECT_FALSE(p.mark_ect);
  EXPECT_FALSE(p.send_credits);
  EXPECT_EQ(p.ack_coalesce_packets, 1U);
  EXPECT_TRUE(p.nak_behind_rnr);
  EXPECT_TRUE(p.duplicate_acks_always);
  EXPECT_TRUE(p.read_resumes_in_middle);
  EXPECT_EQ(AethSyndrome::nak(p.short_receive_nak).value(), 0x63);
  EXPECT_EQ(p.short_receive_status, CompletionStatus::local_qp_operation_error);
  EXPECT_EQ(p.bad_receive_key_status, CompletionStatus::local_qp_operation_error);
  EXPECT_EQ(p.ack_request_interval, 66U);
  EXPECT_EQ(p.window, 128U);
}

TEST(Profile, OfHardwareAcknowledgesSeveralRequestsAtOnceAndSoon) {
  const Profile p = hardware_like_profile();
  EXPECT_EQ(p.ack_coalesce_packets, 16U);
  EXPECT_EQ(p.ack_coalesce_delay, std::chrono::microseconds{10});
  EXPECT_EQ(p.messages_per_ack_request, 1U);
  EXPECT_TRUE(p.mig_req);
  EXPECT_TRUE(p.mark_ect);
  EXPECT_TRUE(p.send_credits);
  EXPECT_EQ(AethSyndrome::nak(p.short_receive_nak).value(), 0x61);
}

TEST(Profile, OfTheSpecificationHoldsNothingBack) {
  const Profile p = strict_profile();
  EXPECT_EQ(p.ack_coalesce_packets, 1U);
  EXPECT_EQ(p.ack_coalesce_delay, Duration{0});
  EXPECT_EQ(p.window, 1U << 22);
  EXPECT_TRUE(p.mark_ect);
  EXPECT_TRUE(p.send_credits);
  EXPECT_TRUE(p.honour_credits);
  EXPECT_FALSE(p.retry_count_7_is_infinite);
  EXPECT_FALSE(p.duplicate_acks_always);
  EXPECT_EQ(p.bad_response_status, CompletionStatus::bad_response);
}

TEST(Profile, WindowsStayBelowHalfOfThePsns) {
  for (const Profile& p : {rxe_profile(), hardware_like_profile(), strict_profile()}) {
    EXPECT_GT(p.window, 0U) << p.name;
    EXPECT_LT(p.window, 1U << 23) << p.name;
    EXPECT_GT(p.ack_request_interval, 0U) << p.name;
    EXPECT_GT(p.ack_coalesce_packets, 0U) << p.name;
    EXPECT_TRUE(p.ack_coalesce_packets == 1 || p.ack_coalesce_delay > Duration{0}) << p.name;
  }
}

}  // namespace
}  // namespace roce::transport
