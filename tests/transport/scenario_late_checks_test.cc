// SPDX-License-Identifier: BSD-2-Clause
// Requests that nothing can carry, with a profile that finds it late: they fail in their turn, and those behind them
// are flushed.
#include <gmock/gmock.h>

#include "sim/endpoint.h"
#include "sim/matchers.h"

namespace roce::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using transport::CompletionStatus;
using transport::QpState;
using transport::QpType;
using transport::WorkOpcode;

[[nodiscard]] Pair::Options late(QpType type) {
  transport::Profile profile = transport::hardware_like_profile();
  profile.late_checks = true;
  Pair::Options options = Pair::with(profile);
  options.a_endpoint.type = type;
  return options;
}

/// Posts a wrong request between two good WRITEs, and expects that the first succeeds and the last is flushed.
void expect_failure(const Work& wrong, CompletionStatus status, std::size_t requests_of_it) {
  Pair pair{late(QpType::rc)};
  pair.network.keep_trace(Tap::sent);
  const std::uint64_t before = pair.a.post({.opcode = WorkOpcode::write, .length = 3000});
  const std::uint64_t id = pair.a.post(wrong);
  const std::uint64_t behind = pair.a.post({.opcode = WorkOpcode::write, .length = 1});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(),
              ElementsAre(Succeeded(before), Ended(id, status), Ended(behind, CompletionStatus::flushed)));
  EXPECT_EQ(pair.a.state(), QpState::err);
  EXPECT_EQ(std::ranges::count_if(pair.network.trace(),
                                  [](const TraceFrame& frame) {
                                    return testing::Matches(testing::AnyOf(IsOpcode(Opcode::rc_fetch_add),
                                                                           IsOpcode(Opcode::rc_compare_swap),
                                                                           IsOpcode(Opcode::rc_read_request)))(frame);
                                  }),
            requests_of_it);
}

TEST(LateChecks, AtomicsOfAnotherSizeFailWithoutAPacket) {
  expect_failure({.opcode = WorkOpcode::fetch_add, .length = 9}, CompletionStatus::local_length_error, 0);
  expect_failure({.opcode = WorkOpcode::compare_swap, .length = 4}, CompletionStatus::local_length_error, 0);
}

TEST(LateChecks, ReadsOfMorePacketsThanThereAreNumbersFail) {
  expect_failure({.opcode = WorkOpcode::read, .length = 0xC000'0000U}, CompletionStatus::local_length_error, 0);
}

TEST(LateChecks, AnAtomicAtAnUnalignedAddressIsRefusedByThePeer) {
  expect_failure({.opcode = WorkOpcode::fetch_add, .length = 8, .remote = 3}, CompletionStatus::remote_invalid_request,
                 1);
}

TEST(LateChecks, TheRequestBeforeAWrongOneAsksForItsAck) {
  Pair::Options options = late(QpType::rc);
  options.a_host.profile.messages_per_ack_request = 4;
  Pair pair{options};
  const std::uint64_t before = pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::fetch_add, .length = 9});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(before), Ended(id, CompletionStatus::local_length_error)));
  EXPECT_EQ(pair.a.counters().retransmitted_packets, 0U);
}

TEST(LateChecks, AWrongLocalRequestIsNotExecuted) {
  Pair pair{late(QpType::rc)};
  const std::uint64_t before = pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::local_invalidate, .length = 0xC000'0000U});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(before), Ended(id, CompletionStatus::local_length_error)));
}

TEST(LateChecks, AWrongRequestWaitsWhileTheQpDrains) {
  Pair pair{late(QpType::rc)};
  pair.a.modify({.state = QpState::sqd});
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::fetch_add, .length = 9});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), IsEmpty());
  pair.a.modify({.state = QpState::rts});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::local_length_error)));
}

TEST(LateChecks, OperationsThatDatagramsDoNotHaveFail) {
  for (const WorkOpcode opcode : {WorkOpcode::read, WorkOpcode::write, WorkOpcode::fetch_add}) {
    Pair::Options options = late(QpType::ud);
    Pair pair{options};
    const transport::DatagramAddress to{
        .ah = address_of(pair.a, pair.b_host, options.connection), .qpn = pair.b.qpn(), .q_key = kQKey};
    const std::uint64_t before = pair.a.post({.length = 8, .datagram = to});
    const std::uint64_t id = pair.a.post({.opcode = opcode, .length = 8, .datagram = to});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(before), Ended(id, CompletionStatus::local_qp_operation_error)));
    EXPECT_EQ(pair.a.state(), QpState::sqe);
  }
}

TEST(LateChecks, DatagramsToNobodyFail) {
  Pair::Options options = late(QpType::ud);
  Pair pair{options};
  const transport::Ah ah = address_of(pair.a, pair.b_host, options.connection);
  must(pair.a.device().destroy_ah(ah));
  const std::uint64_t id = pair.a.post({.length = 8, .datagram = {.ah = ah, .qpn = pair.b.qpn(), .q_key = kQKey}});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::local_qp_operation_error)));
}

TEST(LateChecks, OperationsThatUnreliableQpsDoNotHaveFail) {
  Pair pair{late(QpType::uc)};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::read, .length = 8});
  const std::uint64_t behind = pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::local_qp_operation_error),
                                         Ended(behind, CompletionStatus::flushed)));
}

}  // namespace
}  // namespace roce::sim
