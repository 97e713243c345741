// SPDX-License-Identifier: BSD-2-Clause
// The conclusions of both sides from the parameters of a connection.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "roce/cm/timers.h"
#include "two_managers.h"

namespace roce::cm::test {
namespace {

TEST(CmAgreement, TurnsTheStartingPsnsRound) {
  TwoManagers pair;
  pair.reply.rnr_retry_count = 3;
  const CommId connection = pair.connect();
  pair.run(pair.now + std::chrono::seconds{1});
  const Agreement a = pair.a.find(connection)->agreement();
  const Agreement b = pair.b.find(pair.of_b)->agreement();
  // The starting PSN of a REQ or REP is the one that its sender wants to receive first.
  EXPECT_EQ(a.rq_psn, Psn{0xABCDEF});
  EXPECT_EQ(b.sq_psn, Psn{0xABCDEF});
  EXPECT_EQ(b.rq_psn, Psn{0x123456});
  EXPECT_EQ(a.sq_psn, Psn{0x123456});
  EXPECT_EQ(a.dest_qp, Qpn{0x12});
  EXPECT_EQ(b.dest_qp, Qpn{0x11});
  EXPECT_EQ(a.rnr_retry, 3) << "what the passive side says";
  EXPECT_EQ(b.rnr_retry, 7) << "what the active side says";
  EXPECT_EQ(a.retry_count, 7);
  EXPECT_EQ(b.path_mtu, PathMtu::mtu_1024);
  EXPECT_EQ(b.timeout, 17) << "as Soft-RoCE's: lifetime 16, ACK delay 15";
}

TEST(CmAgreement, TakesNoMoreReadsThanBothWant) {
  TwoManagers pair;
  pair.accepts = false;
  ConnectRequest request = pair.request();
  request.initiator_depth = 8;
  request.responder_resources = 4;
  const CommId connection = pair.a.connect(request, pair.now).value();
  pair.run(pair.now + std::chrono::seconds{1});
  pair.reply.responder_resources = 6;
  pair.reply.initiator_depth = 2;
  ASSERT_TRUE(pair.b.accept(pair.of_b, pair.reply, pair.now));
  pair.run(pair.now + std::chrono::seconds{1});
  const Agreement a = pair.a.find(connection)->agreement();
  const Agreement b = pair.b.find(pair.of_b)->agreement();
  EXPECT_EQ(a.max_rd_atomic, 6);
  EXPECT_EQ(b.max_dest_rd_atomic, 6);
  EXPECT_EQ(a.max_dest_rd_atomic, 2);
  EXPECT_EQ(b.max_rd_atomic, 2);
}

TEST(CmAgreement, GrantsMoreThanWasAskedForToNobody) {
  Connection connection;
  connection.is_active = true;
  connection.request.initiator_depth = 2;
  connection.request.responder_resources = 3;
  connection.reply.responder_resources = 16;
  connection.reply.initiator_depth = 16;
  EXPECT_EQ(connection.agreement().max_rd_atomic, 2);
  EXPECT_EQ(connection.agreement().max_dest_rd_atomic, 3);
}

TEST(CmTimers, AreThoseOfLinux) {
  EXPECT_EQ(time_of(0), std::chrono::milliseconds{1});
  EXPECT_EQ(time_of(8), std::chrono::milliseconds{1});
  EXPECT_EQ(time_of(20), std::chrono::milliseconds{4096});
  EXPECT_EQ(time_of(24), std::chrono::milliseconds{65'536});
  EXPECT_EQ(ack_timeout_of(16, 15), 17);
  EXPECT_EQ(ack_timeout_of(18, 15), 19);
  EXPECT_EQ(ack_timeout_of(14, 20), 20);
  EXPECT_EQ(ack_timeout_of(31, 31), 31);
}

}  // namespace
}  // namespace roce::cm::test
