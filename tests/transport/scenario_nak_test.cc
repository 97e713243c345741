// SPDX-License-Identifier: BSD-2-Clause
// Each reason for which a responder refuses a request with a NAK, and the requests that it refuses silently.
#include <gmock/gmock.h>

#include "forger.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using enum Opcode;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::Access;
using transport::CompletionStatus;
using transport::QpState;

constexpr std::uint32_t kPsn = 0x100;
constexpr std::uint8_t kSequence = 0x60;
constexpr std::uint8_t kInvalid = 0x61;
constexpr std::uint8_t kAccess = 0x62;

class NakScenario : public ScenarioTest {
 protected:
  void make(const Connection& connection = {}, const Endpoint::Options& b_endpoint = {}) {
    Pair::Options options = Pair::with(profile());
    options.connection = connection;
    options.b_endpoint = b_endpoint;
    pair_.emplace(options);
    forger_.emplace(pair_->a, pair_->b);
    pair_->network.keep_trace(Tap::sent);
    const auto bytes = pair_->b.memory();
    before_.assign(bytes.begin(), bytes.end());
  }

  /// Returns the frames that B sent in answer, without the injected frames.
  std::vector<TraceFrame> answers() {
    EXPECT_TRUE(pair_->network.run_until_idle());
    std::vector<TraceFrame> frames;
    for (const TraceFrame& frame : pair_->network.trace()) {
      if (frame.from == pair_->b_host.node()) frames.push_back(frame);
    }
    return frames;
  }

  /// Expects that the request is refused with this syndrome, nothing is written, and the QP is in ERR.
  void expect_refusal(std::uint8_t syndrome, Opcode opcode, Forger::Edits edits) {
    forger_->send(opcode, kPsn, edits);
    EXPECT_THAT(answers(), ElementsAre(testing::AllOf(IsBth(rc_acknowledge, kPsn), HasAeth(syndrome, 0))));
    EXPECT_EQ(pair_->b.state(), QpState::err);
    EXPECT_TRUE(std::ranges::equal(pair_->b.memory(), before_)) << "memory was written";
    EXPECT_EQ(pair_->b.counters().write_requests, 0U);
  }

  /// Expects the same refusal of an opcode whose first extension header is a RETH.
  void expect_refusal_at(std::uint8_t syndrome, Opcode opcode, std::uint64_t length, std::uint32_t payload,
                         std::uint64_t offset = 0) {
    expect_refusal(syndrome, opcode,
                   {{"reth.va", forger_->address(offset)},
                    {"reth.r_key", forger_->key()},
                    {"reth.dma_length", std::to_string(length)},
                    {"payload_length", std::to_string(payload)}});
  }

  void expect_silence() {
    EXPECT_THAT(answers(), IsEmpty());
    EXPECT_EQ(pair_->b.state(), QpState::rts);
    EXPECT_TRUE(std::ranges::equal(pair_->b.memory(), before_)) << "memory was written";
  }

  std::optional<Pair> pair_;
  std::optional<Forger> forger_;
  std::vector<std::byte> before_;
};

TEST_P(NakScenario, OneForAGapThenSilenceUntilTheMissingPacketCame) {
  make();
  for (int i = 0; i < 4; ++i) pair_->b.post_receive(0, 64);
  forger_->send(rc_send_only, kPsn + 1, {{"payload_length", "4"}});
  forger_->send(rc_send_only, kPsn + 2, {{"payload_length", "4"}});
  EXPECT_THAT(answers(), ElementsAre(testing::AllOf(IsBth(rc_acknowledge, kPsn), HasAeth(kSequence, 0))));
  EXPECT_EQ(pair_->b.state(), QpState::rts);
  pair_->network.clear_trace();
  forger_->send(rc_send_only, kPsn, {{"payload_length", "4"}});
  forger_->send(rc_send_only, kPsn + 2, {{"payload_length", "4"}});
  const auto frames = answers();
  ASSERT_EQ(frames.size(), 2U) << pair_->network.trace_text();
  EXPECT_THAT(frames[1], testing::AllOf(IsBth(rc_acknowledge, kPsn + 1), HasAeth(kSequence, 1)));
  EXPECT_EQ(pair_->b.counters().out_of_sequence, 3U);
}

TEST_P(NakScenario, IsNotRepeatedWhenTheMissingPacketFoundNoRoomForItsAnswer) {
  make({.rd_atomic = 2});
  const auto fetch_add = [&](std::uint32_t psn) {
    return forger_->make(rc_fetch_add, psn,
                         {{"atomiceth.va", forger_->address(0)}, {"atomiceth.r_key", forger_->key()}});
  };
  const auto inject = [&](std::uint32_t psn) { pair_->network.inject(pair_->a_host.node(), fetch_add(psn)); };
  inject(kPsn);
  inject(kPsn + 2);
  EXPECT_THAT(answers(), ElementsAre(IsBth(rc_atomic_acknowledge, kPsn),
                                     testing::AllOf(IsBth(rc_acknowledge, kPsn + 1), HasAeth(kSequence, 1))));
  pair_->network.clear_trace();

  // Nothing is sent in between, so the answers to the repeated requests take all the room.
  const auto receive = [&](std::uint32_t psn) {
    const Frame frame = fetch_add(psn);
    pair_->b.device().receive(parse_frame(frame, LinkType::ethernet), pair_->network.now());
  };
  for (int i = 0; i < 64; ++i) receive(kPsn);
  receive(kPsn + 1);
  receive(kPsn + 2);
  EXPECT_EQ(pair_->b.counters().atomic_requests, 1U) << "there was room";
  inject(kPsn + 1);
  const auto frames = answers();
  ASSERT_FALSE(frames.empty());
  for (const TraceFrame& frame : frames) EXPECT_THAT(frame, testing::Not(HasAeth(kSequence, 1)));
  EXPECT_THAT(frames.back(), IsBth(rc_atomic_acknowledge, kPsn + 1)) << pair_->network.trace_text();
}

TEST_P(NakScenario, IsSentWhenTheAnswersBeforeItTakeAllTheRoom) {
  make({.rd_atomic = 2});
  constexpr std::uint32_t gaps = 100;
  for (std::uint32_t i = 0; i <= gaps; ++i) pair_->b.post_receive(0, 64);
  const auto packet = [&](std::uint32_t psn) { return forger_->make(rc_send_only, psn, {{"payload_length", "4"}}); };
  // Nothing is sent in between.
  const auto receive = [&](std::uint32_t psn) {
    const Frame frame = packet(psn);
    pair_->b.device().receive(parse_frame(frame, LinkType::ethernet), pair_->network.now());
  };
  for (std::uint32_t psn = kPsn; psn < kPsn + gaps; ++psn) {
    receive(psn + 1);
    receive(psn);
  }
  receive(kPsn + gaps + 1);
  pair_->network.inject(pair_->a_host.node(), packet(kPsn + gaps + 2));
  const auto frames = answers();
  ASSERT_FALSE(frames.empty());
  EXPECT_THAT(frames.back(), testing::AllOf(IsBth(rc_acknowledge, kPsn + gaps), HasAeth(kSequence, gaps)))
      << pair_->network.trace_text();
}

TEST_P(NakScenario, InvalidRequestForAMiddleWithoutFirst) {
  for (const Opcode opcode : {rc_send_middle, rc_send_last, rc_write_middle, rc_write_last, rc_write_last_imm}) {
    make();
    pair_->b.post_receive(0, 4096);
    expect_refusal(kInvalid, opcode, {{"payload_length", "1024"}});
  }
}

TEST_P(NakScenario, InvalidRequestForAnotherOperationInsideAMessage) {
  for (const Opcode opcode : {rc_write_middle, rc_write_only, rc_read_request, rc_send_first, rc_fetch_add}) {
    make();
    pair_->b.post_receive(0, 4096);
    forger_->send(rc_send_first, kPsn, {{"payload_length", "1024"}, {"bth.ack_req", "false"}});
    forger_->send(opcode, kPsn + 1);
    EXPECT_THAT(answers(), ElementsAre(testing::AllOf(IsBth(rc_acknowledge, kPsn + 1), HasAeth(kInvalid, 0))))
        << opcode_info(opcode).name;
    EXPECT_EQ(pair_->b.state(), QpState::err);
  }
}

TEST_P(NakScenario, InvalidRequestWhenTheQpDoesNotAllowTheOperation) {
  const auto without = [](Access access) {
    return static_cast<Access>(static_cast<std::uint32_t>(kAllAccess) & ~static_cast<std::uint32_t>(access));
  };
  make({.access = without(Access::remote_write)});
  expect_refusal_at(kInvalid, rc_write_only, 4, 4);
  make({.access = without(Access::remote_read)});
  expect_refusal_at(kInvalid, rc_read_request, 4, 0);
  make({.access = without(Access::remote_atomic)});
  expect_refusal(kInvalid, rc_fetch_add, {{"atomiceth.va", forger_->address(0)}, {"atomiceth.r_key", forger_->key()}});
  // A FLUSH for both placements needs both rights.
  for (const Access missing : {Access::flush_global, Access::flush_persistent}) {
    make({.access = without(missing)});
    expect_refusal(kInvalid, rc_flush,
                   {{"feth.visibility", "true"},
                    {"feth.persistence", "true"},
                    {"reth.va", forger_->address(0)},
                    {"reth.r_key", forger_->key()},
                    {"reth.dma_length", "8"}});
  }
}

TEST_P(NakScenario, InvalidRequestWithoutResourcesForReads) {
  make({.rd_atomic = 0});
  expect_refusal_at(kInvalid, rc_read_request, 4, 0);
}

TEST_P(NakScenario, InvalidRequestForAWrongLength) {
  const auto send = [&](Opcode opcode, const char* payload) {
    make();
    pair_->b.post_receive(0, 8192);
    expect_refusal(kInvalid, opcode, {{"payload_length", payload}});
  };
  send(rc_send_first, "1023");
  send(rc_send_first, "1028");
  send(rc_send_only, "1025");
  make();
  expect_refusal_at(kInvalid, rc_write_only, 1025, 1025);
  make();
  expect_refusal_at(kInvalid, rc_write_first, 2048, 512);
  make();
  expect_refusal_at(kInvalid, rc_write_only, 8, 4);
  make();
  expect_refusal_at(kInvalid, rc_write_only, 4, 8);
  make();
  expect_refusal_at(kInvalid, rc_read_request, 0x80000001, 0);
}

TEST_P(NakScenario, InvalidRequestForALastOfNothing) {
  make();
  pair_->b.post_receive(0, 8192);
  forger_->send(rc_send_first, kPsn, {{"payload_length", "1024"}, {"bth.ack_req", "false"}});
  forger_->send(rc_send_last, kPsn + 1, {{"payload_length", "0"}});
  EXPECT_THAT(answers(), ElementsAre(testing::AllOf(IsBth(rc_acknowledge, kPsn + 1), HasAeth(kInvalid, 0))));
}

TEST_P(NakScenario, InvalidRequestForAMisalignedAtomic) {
  make();
  expect_refusal(kInvalid, rc_fetch_add, {{"atomiceth.va", forger_->address(4)}, {"atomiceth.r_key", forger_->key()}});
}

TEST_P(NakScenario, AccessErrorForAWrongKeyAddressOrRight) {
  make();
  expect_refusal(
      kAccess, rc_write_only,
      {{"reth.va", forger_->address(0)}, {"reth.r_key", "12345"}, {"reth.dma_length", "4"}, {"payload_length", "4"}});
  const auto beyond = static_cast<std::uint32_t>(pair_->b.memory().size());
  make();
  expect_refusal_at(kAccess, rc_write_only, 4, 4, beyond - 3);
  make();
  expect_refusal_at(kAccess, rc_read_request, 4, 0, beyond - 3);
  make();
  expect_refusal_at(kAccess, rc_read_request, 1, 0, ~std::uint64_t{0});
  make({}, {.access = Access::local_write | Access::remote_read});
  expect_refusal_at(kAccess, rc_write_only, 4, 4);
  make({}, {.access = Access::local_write | Access::remote_write});
  expect_refusal_at(kAccess, rc_read_request, 4, 0);
  make({}, {.access = Access::local_write | Access::remote_write | Access::remote_read});
  expect_refusal(kAccess, rc_compare_swap,
                 {{"atomiceth.va", forger_->address(0)}, {"atomiceth.r_key", forger_->key()}});
}

TEST_P(NakScenario, AccessErrorForMemoryOfAnotherProtectionDomain) {
  make();
  const auto other = must(pair_->b.device().create_pd());
  const auto mr = must(
      pair_->b.device().register_memory(other, {.memory = pair_->b.memory(), .access = kAllAccess, .address = 0x1000}));
  const RKey key = must(pair_->b.device().query_mr(mr)).r_key;
  expect_refusal(kAccess, rc_write_only,
                 {{"reth.va", "4096"},
                  {"reth.r_key", std::to_string(key.value())},
                  {"reth.dma_length", "4"},
                  {"payload_length", "4"}});
}

TEST_P(NakScenario, NothingForAZeroLengthAccessWithAWrongKey) {
  make();
  forger_->send(rc_write_only, kPsn, {{"reth.va", "1"}, {"reth.r_key", "12345"}});
  EXPECT_THAT(answers(), ElementsAre(testing::AllOf(IsBth(rc_acknowledge, kPsn), IsAck())));
  EXPECT_EQ(pair_->b.state(), QpState::rts);
}

TEST_P(NakScenario, ShortOrWrongReceiveBuffer) {
  make();
  pair_->b.post_receive(0, 10);
  const std::uint64_t id = pair_->a.post({.length = 11});
  answers();
  const bool is_invalid = profile().short_receive_nak == NakCode::invalid_request;
  EXPECT_THAT(pair_->a.sent(), ElementsAre(Ended(id, is_invalid ? CompletionStatus::remote_invalid_request
                                                                : CompletionStatus::remote_operation_error)));
  EXPECT_THAT(pair_->b.received(), ElementsAre(Ended(1001, profile().short_receive_status)));

  make();
  must(pair_->b.try_receive(0, 100, 5, LKey{0x777}));
  const std::uint64_t second = pair_->a.post({.length = 11});
  answers();
  EXPECT_THAT(pair_->a.sent(), ElementsAre(Ended(second, CompletionStatus::remote_operation_error)));
  EXPECT_EQ(pair_->a.sent().front().syndrome, 0x63);
  EXPECT_THAT(pair_->b.received(), ElementsAre(Ended(5, profile().bad_receive_key_status)));
}

TEST_P(NakScenario, SilenceForWhatIsNotForTheQp) {
  using Text = std::string;
  const std::vector<std::pair<std::string_view, Text>> edits{
      {"bth.tver", "1"},       {"bth.dest_qp", "0"},    {"bth.dest_qp", "0xabcdef"}, {"ip.src", "10.0.0.99"},
      {"bth.p_key", "0x1234"}, {"bth.p_key", "0x8001"}, {"bth.opcode", "0x30"},      {"icrc", "wrong"},
      {"bth.opcode", "0x64"},  {"udp.dstport", "4790"}, {"bth.opcode", "0x24"}};
  for (const auto& edit : edits) {
    SCOPED_TRACE(testing::Message() << edit.first << " = " << edit.second);
    make();
    pair_->b.post_receive(0, 64);
    forger_->send(rc_send_only, kPsn, {{"payload_length", "16"}, edit});
    expect_silence();
    EXPECT_THAT(pair_->b.received(), IsEmpty());
  }
}

ROCE_UNDER_EACH_PROFILE(NakScenario);

}  // namespace
}  // namespace roce::sim
