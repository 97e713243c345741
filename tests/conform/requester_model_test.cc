// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/requester_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "conform/language/functions.h"
#include "roce/wire/packet_spec.h"

namespace roce::conform::fuzz {
namespace {

using testing::Eq;
using testing::HasSubstr;
using testing::Optional;
using transport::Completion;
using transport::CompletionStatus;
using transport::WorkOpcode;

constexpr std::uint64_t kMemory = 0x10000;
constexpr std::uint32_t kMtu = 256;

class RequesterModelTest : public testing::Test {
 protected:
  /// Returns the frame of an opcode with a PSN, and further fields.
  static std::vector<std::byte> frame(Opcode opcode, std::uint32_t psn,
                                      const std::vector<std::pair<std::string, std::string>>& fields = {}) {
    PacketSpec spec = PacketSpec::for_opcode(opcode);
    EXPECT_TRUE(spec.set("bth.psn", std::to_string(psn)));
    EXPECT_TRUE(spec.set("bth.dest_qp", "17"));
    EXPECT_TRUE(spec.set("bth.ack_req", "true"));
    for (const auto& [name, value] : fields) EXPECT_TRUE(spec.set(name, value)) << name;
    return spec.build().value();
  }
  void respond(Opcode opcode, std::uint32_t psn, const std::vector<std::pair<std::string, std::string>>& fields = {}) {
    const auto bytes = frame(opcode, psn, fields);
    model_.take_response(parse_frame(bytes, LinkType::ethernet), Time{});
  }
  std::optional<std::string> complete(std::uint64_t wr_id, CompletionStatus status) {
    return model_.judge_completion(Completion{.wr_id = wr_id, .status = status});
  }
  std::optional<std::string> request(const std::vector<std::byte>& bytes) {
    return model_.judge_request(parse_frame(bytes, LinkType::ethernet), Time{});
  }

  MemoryModel memory_{kMemory, bytes_of_seed(1, 4096)};
  RequesterModel model_{{.peer = Qpn{17}, .path_mtu = kMtu, .first_psn = Psn{0xFF'FFFF}}, memory_};
};

TEST_F(RequesterModelTest, RequestsAreAsTheyWerePostedAlsoWhenTheyComeAgain) {
  model_.post({.wr_id = 1, .opcode = WorkOpcode::send, .local = kMemory, .length = 8});
  const auto right = frame(Opcode::rc_send_only, 0xFF'FFFF, {{"payload", "0f8e0d8c0b8a0988"}});
  const auto data = memory_.read(kMemory, 8);
  std::string hex;
  for (const std::byte byte : data) {
    constexpr std::string_view digits = "0123456789abcdef";
    hex += digits[std::to_integer<unsigned>(byte) >> 4U];
    hex += digits[std::to_integer<unsigned>(byte) & 15U];
  }
  EXPECT_THAT(request(frame(Opcode::rc_send_only, 0xFF'FFFF, {{"payload", hex}})), Eq(std::nullopt));
  EXPECT_THAT(request(frame(Opcode::rc_send_only, 0xFF'FFFF, {{"payload", hex}})), Eq(std::nullopt));
  EXPECT_THAT(request(right), Optional(HasSubstr("other data")));
  EXPECT_THAT(request(frame(Opcode::rc_send_only, 0)), Optional(HasSubstr("no open request has PSN 0")));
  EXPECT_THAT(request(frame(Opcode::rc_send_first, 0xFF'FFFF)), Optional(HasSubstr("expected RC_SEND_ONLY")));
  EXPECT_THAT(request(frame(Opcode::rc_acknowledge, 0xFF'FFFF)), Optional(HasSubstr("nobody asked")));
}

TEST_F(RequesterModelTest, AReadIsAskedForAgainFromAnyOfItsPackets) {
  model_.post({.wr_id = 1, .opcode = WorkOpcode::read, .local = kMemory, .length = 600, .remote = 0x500});
  EXPECT_EQ(model_.next(), Psn{2});
  EXPECT_THAT(request(frame(Opcode::rc_read_request, 0, {{"reth.va", "0x600"}, {"reth.dma_length", "344"}})),
              Eq(std::nullopt));
  EXPECT_THAT(request(frame(Opcode::rc_read_request, 0, {{"reth.va", "0x500"}, {"reth.dma_length", "600"}})),
              Optional(HasSubstr("expected address 0x600")));
}

TEST_F(RequesterModelTest, NothingSucceedsWithoutItsAnswer) {
  model_.post({.wr_id = 1, .opcode = WorkOpcode::send, .local = kMemory, .length = 300});
  respond(Opcode::rc_acknowledge, 0xFF'FFFF, {{"aeth.syndrome", "0x1f"}});
  EXPECT_THAT(complete(1, CompletionStatus::success), Optional(HasSubstr("nothing answered it")));

  model_.post({.wr_id = 2, .opcode = WorkOpcode::read, .local = kMemory, .length = 4});
  respond(Opcode::rc_acknowledge, 1, {{"aeth.syndrome", "0x1f"}});
  EXPECT_THAT(complete(2, CompletionStatus::success), Optional(HasSubstr("nothing answered it")));

  model_.post({.wr_id = 3, .opcode = WorkOpcode::write, .local = kMemory, .length = 4});
  respond(Opcode::rc_acknowledge, 2, {{"aeth.syndrome", "0x1f"}, {"icrc", "wrong"}});
  respond(Opcode::rc_acknowledge, 2, {{"aeth.syndrome", "0x61"}});
  EXPECT_THAT(complete(3, CompletionStatus::success), Optional(HasSubstr("nothing answered it")));
}

TEST_F(RequesterModelTest, ARightAnswerCompletesAndLeavesItsData) {
  model_.post({.wr_id = 1, .opcode = WorkOpcode::send, .local = kMemory, .length = 4});
  model_.post({.wr_id = 2, .opcode = WorkOpcode::read, .local = kMemory + 512, .length = 4});
  EXPECT_THAT(model_.find_missing(), Eq(std::nullopt));
  respond(Opcode::rc_read_response_only, 0, {{"aeth.syndrome", "0x1f"}, {"payload", "01020304"}});
  EXPECT_THAT(model_.find_missing(), Optional(HasSubstr("request 1 is answered")));
  EXPECT_THAT(complete(1, CompletionStatus::success), Eq(std::nullopt));
  EXPECT_THAT(complete(2, CompletionStatus::success), Eq(std::nullopt));
  EXPECT_EQ(memory_.read(kMemory + 512, 4)[3], std::byte{4});
  EXPECT_TRUE(model_.is_clean());
}

TEST_F(RequesterModelTest, NothingFailsWhileEachResponseIsRight) {
  model_.post({.wr_id = 1, .opcode = WorkOpcode::send, .local = kMemory, .length = 4});
  model_.post({.wr_id = 2, .opcode = WorkOpcode::send, .local = kMemory, .length = 4});
  EXPECT_THAT(complete(1, CompletionStatus::retry_exceeded), Optional(HasSubstr("there are retries left")));
  EXPECT_THAT(complete(2, CompletionStatus::remote_access_error), Optional(HasSubstr("each response was right")));
}

TEST(RetryModel, CountsWhatIsSentAgainAfterATimeout) {
  RetryModel retries{2};
  retries.use_one();
  EXPECT_TRUE(retries.may_send_again());
  EXPECT_FALSE(retries.may_give_up());
  retries.use_one();
  EXPECT_FALSE(retries.may_send_again());
  EXPECT_TRUE(retries.may_give_up());
  retries.refill(false);
  EXPECT_TRUE(retries.may_send_again());
  EXPECT_TRUE(retries.may_give_up());
  retries.refill(true);
  EXPECT_FALSE(retries.may_give_up());
}

TEST(RetryModel, TakesSevenForSevenOrForEndless) {
  RetryModel retries{7};
  for (int i = 0; i < 20; ++i) retries.use_one();
  EXPECT_TRUE(retries.may_send_again());
  EXPECT_TRUE(retries.may_give_up());
}

TEST_F(RequesterModelTest, AfterAnErrorAllElseIsFlushedInOrder) {
  for (const std::uint64_t wr_id : {1U, 2U, 3U}) {
    model_.post({.wr_id = wr_id, .opcode = WorkOpcode::send, .local = kMemory, .length = 4});
  }
  respond(Opcode::rc_acknowledge, 0, {{"aeth.syndrome", "0x62"}});
  EXPECT_THAT(complete(1, CompletionStatus::success), Eq(std::nullopt));
  EXPECT_THAT(complete(2, CompletionStatus::remote_access_error), Eq(std::nullopt));
  EXPECT_THAT(model_.find_missing(), Optional(HasSubstr("request 3 of a QP in ERR")));
  EXPECT_THAT(complete(3, CompletionStatus::success), Optional(HasSubstr("a request before it failed")));
}

TEST_F(RequesterModelTest, AnAnswerOfTheWrongLengthIsNone) {
  model_.post({.wr_id = 1, .opcode = WorkOpcode::read, .local = kMemory, .length = 300});
  respond(Opcode::rc_read_response_first, 0xFF'FFFF, {{"aeth.syndrome", "0x1f"}, {"payload_length", "255"}});
  EXPECT_FALSE(model_.is_clean());
  EXPECT_EQ(model_.open().front().answered, 0U);
  respond(Opcode::rc_read_response_first, 0xFF'FFFF, {{"aeth.syndrome", "0x1f"}, {"payload_length", "256"}});
  respond(Opcode::rc_read_response_last, 0, {{"aeth.syndrome", "0x1f"}, {"payload_length", "44"}});
  EXPECT_THAT(complete(1, CompletionStatus::success), Eq(std::nullopt));
}

TEST_F(RequesterModelTest, AnAnswerInTheWrongPlaceMayBeTakenOrNot) {
  for (const CompletionStatus status : {CompletionStatus::success, CompletionStatus::bad_response}) {
    RequesterModel model{{.peer = Qpn{17}, .path_mtu = kMtu, .first_psn = Psn{1}}, memory_};
    model.post({.wr_id = 1, .opcode = WorkOpcode::read, .local = kMemory, .length = 4});
    const auto last = frame(Opcode::rc_read_response_last, 1, {{"aeth.syndrome", "0x1f"}, {"payload_length", "4"}});
    model.take_response(parse_frame(last, LinkType::ethernet), Time{});
    EXPECT_THAT(model.judge_completion(Completion{.wr_id = 1, .status = status}), Eq(std::nullopt));
  }
}

}  // namespace
}  // namespace roce::conform::fuzz
