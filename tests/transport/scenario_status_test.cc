// SPDX-License-Identifier: BSD-2-Clause
// Each completion status that a work request can end with, caused as the specification describes it.
#include <gmock/gmock.h>

#include <functional>
#include <utility>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using transport::Access;
using transport::CompletionStatus;
using transport::EventType;
using transport::QpState;
using transport::WorkOpcode;

class StatusScenario : public ScenarioTest {
 protected:
  static Pair::Options options() { return Pair::with(profile()); }

  /// Expects that the request ends with `status`, a later one is flushed, and the QP is in ERR.
  static void expect(Pair& pair, const Work& work, CompletionStatus status) {
    const std::uint64_t id = pair.a.post(work);
    const std::uint64_t later = pair.a.post({.opcode = WorkOpcode::write, .length = 1, .fence = true});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, status), Ended(later, CompletionStatus::flushed)));
    EXPECT_EQ(pair.a.state(), QpState::err);
  }
};

TEST_P(StatusScenario, LocalProtectionErrorForAWrongLocalKey) {
  Pair pair{options()};
  expect(pair, {.opcode = WorkOpcode::write, .length = 8, .l_key = LKey{0x4711}},
         CompletionStatus::local_protection_error);
}

TEST_P(StatusScenario, LocalProtectionErrorForMemoryBeyondTheRegion) {
  Pair pair{options()};
  expect(pair, {.length = 8, .local = pair.a.memory().size() - 7}, CompletionStatus::local_protection_error);
}

TEST_P(StatusScenario, LocalProtectionErrorForAReadIntoMemoryThatMayNotBeWritten) {
  Pair::Options options = StatusScenario::options();
  options.b_endpoint = options.a_endpoint;
  options.a_endpoint.access = Access::none;
  Pair pair{options};
  expect(pair, {.opcode = WorkOpcode::read, .length = 8}, CompletionStatus::local_protection_error);
}

TEST_P(StatusScenario, LocalProtectionErrorForADeregisteredKey) {
  Pair pair{options()};
  must(pair.a.device().deregister_memory(pair.a.mr()));
  expect(pair, {.opcode = WorkOpcode::write, .length = 8}, CompletionStatus::local_protection_error);
}

TEST_P(StatusScenario, RemoteAccessErrorForAWrongRemoteKey) {
  Pair pair{options()};
  expect(pair, {.opcode = WorkOpcode::read, .length = 8, .r_key = RKey{0x4711}}, CompletionStatus::remote_access_error);
  EXPECT_EQ(pair.a.sent().front().syndrome, 0x62);
  EXPECT_EQ(pair.a.counters().remote_access_errors, 1U);
  EXPECT_EQ(pair.b.state(), QpState::err);
  EXPECT_EQ(pair.b_host.count_events(EventType::qp_access_error), 1U);
}

TEST_P(StatusScenario, RemoteInvalidRequestForAnOperationThatTheQpDoesNotAllow) {
  Pair::Options options = StatusScenario::options();
  options.connection.access = Access::remote_write;
  Pair pair{options};
  expect(pair, {.opcode = WorkOpcode::read, .length = 8}, CompletionStatus::remote_invalid_request);
  EXPECT_EQ(pair.a.sent().front().syndrome, 0x61);
  EXPECT_EQ(pair.b_host.count_events(EventType::qp_request_error), 1U);
}

TEST_P(StatusScenario, MwBindErrorForARegionThatMayNotBeBound) {
  Pair::Options options = StatusScenario::options();
  options.a_endpoint.access = Access::local_write;
  Pair pair{options};
  const auto mw = must(pair.a.device().create_mw(pair.a.pd(), transport::MwType::type2));
  const Work work{
      .opcode = WorkOpcode::bind_mw,
      .bind = {.mw = mw, .mr = pair.a.mr(), .address = pair.a.address(0), .length = 64, .access = Access::remote_read}};
  expect(pair, work, CompletionStatus::mw_bind_error);
}

TEST_P(StatusScenario, FlushedInOrderWhenTheQpIsMovedToErr) {
  Pair pair{options()};
  pair.a.post_receive(0, 10, 1);
  pair.a.post_receive(0, 10, 2);
  for (int i = 0; i < 3; ++i) pair.a.post({.opcode = WorkOpcode::write, .length = 8, .signaled = false});
  pair.a.fail();
  pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  pair.a.post_receive(0, 10, 3);
  ASSERT_TRUE(pair.network.run_until_idle());
  const auto flushed = [](std::uint64_t id) { return Ended(id, CompletionStatus::flushed); };
  EXPECT_THAT(pair.a.sent(), ElementsAre(flushed(1), flushed(2), flushed(3), flushed(4)));
  EXPECT_THAT(pair.a.received(), ElementsAre(flushed(1), flushed(2), flushed(3)));
}

TEST_P(StatusScenario, NothingIsLeftWhenTheQpIsReset) {
  Pair pair{options()};
  pair.a.post_receive(0, 10, 1);
  pair.a.post({.opcode = WorkOpcode::write, .length = 8});
  pair.a.modify({.state = QpState::reset});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), IsEmpty());
  EXPECT_THAT(pair.a.received(), IsEmpty());
}

TEST_P(StatusScenario, CompletionsThatNobodyHasTakenGoWithTheReset) {
  Pair pair{options()};
  pair.b.post_receive(0, 64, 1);
  pair.a.post({.length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  pair.a.modify({.state = QpState::reset});
  EXPECT_THAT(pair.a.sent(), IsEmpty());
  EXPECT_THAT(pair.b.received(), ElementsAre(Succeeded(1)));
}

/// Changes the answers of the peer that have one opcode.
class AnswerForger : public transport::MisbehaviourHook {
 public:
  AnswerForger(Opcode victim, std::function<void(std::span<std::byte>)> change)
      : victim_(victim), change_(std::move(change)) {}

  transport::TxVerdict on_transmit(std::span<std::byte> packet, Time /*now*/) override {
    transport::TxVerdict verdict;
    if (FieldOf<&Bth::opcode>::get(packet.data()) != victim_) return verdict;
    change_(packet);
    verdict.seal_again = true;
    return verdict;
  }

 private:
  Opcode victim_;
  std::function<void(std::span<std::byte>)> change_;
};

TEST_P(StatusScenario, BadResponseForAnAnswerOfTheWrongKind) {
  Pair pair{options()};
  AnswerForger forger{Opcode::rc_read_response_only, [](std::span<std::byte> packet) {
                        FieldOf<&Bth::opcode>::set(packet.data(), Opcode::rc_atomic_acknowledge);
                      }};
  must(pair.b.device().set_hook(pair.b.qpn(), &forger));
  expect(pair, {.opcode = WorkOpcode::read, .length = 8}, profile().bad_response_status);
}

TEST_P(StatusScenario, LocalLengthErrorForAnAnswerOfTheWrongLength) {
  Pair pair{options()};
  AnswerForger forger{Opcode::rc_read_response_only,
                      [](std::span<std::byte> packet) { FieldOf<&Bth::pad_count>::set(packet.data(), 3); }};
  must(pair.b.device().set_hook(pair.b.qpn(), &forger));
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::read, .length = 8});
  ASSERT_TRUE(pair.network.run_until_idle());
  ASSERT_EQ(pair.a.sent().size(), 1U);
  const transport::Completion completion = pair.a.sent().front();
  EXPECT_EQ(completion.wr_id, id);
  EXPECT_THAT(completion.status, testing::AnyOf(CompletionStatus::local_length_error, profile().bad_response_status));
  EXPECT_EQ(pair.a.state(), QpState::err);
}

/// Answers the next request with a NAK.
class NakForger : public transport::MisbehaviourHook {
 public:
  explicit NakForger(AethSyndrome syndrome) : syndrome_(syndrome) {}
  std::optional<AethSyndrome> on_request(const Packet& /*packet*/, Time /*now*/) override {
    return std::exchange(syndrome_, std::nullopt);
  }

 private:
  std::optional<AethSyndrome> syndrome_;
};

TEST_P(StatusScenario, OfEachNakThatEndsARequest) {
  const std::vector<std::pair<NakCode, CompletionStatus>> ends{
      {NakCode::invalid_request, CompletionStatus::remote_invalid_request},
      {NakCode::remote_access_error, CompletionStatus::remote_access_error},
      {NakCode::remote_operational_error, CompletionStatus::remote_operation_error}};
  for (const auto& [code, status] : ends) {
    Pair pair{options()};
    NakForger forger{AethSyndrome::nak(code)};
    must(pair.b.device().set_hook(pair.b.qpn(), &forger));
    expect(pair, {.opcode = WorkOpcode::write, .length = 8}, status);
    EXPECT_EQ(pair.a.sent().front().syndrome, AethSyndrome::nak(code).value());
  }
}

TEST_P(StatusScenario, InvalidationOfAKeyThatCannotBeInvalidated) {
  Pair pair{options()};
  pair.b.post_receive(0, 10, 6);
  pair.a.post({.opcode = WorkOpcode::send_with_invalidate, .length = 4, .invalidate = RKey{0x4711}});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.b.received(), ElementsAre(Ended(6, CompletionStatus::remote_invalid_request)));
  EXPECT_EQ(pair.b.state(), QpState::err);
  ASSERT_EQ(pair.a.sent().size(), 1U);
  EXPECT_EQ(pair.a.sent().front().status == CompletionStatus::success, profile().ack_failed_invalidate);
}

ROCE_UNDER_EACH_PROFILE(StatusScenario);

}  // namespace
}  // namespace roce::sim
