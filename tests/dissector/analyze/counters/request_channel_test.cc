// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/request_channel.h"

#include <gtest/gtest.h>

namespace roce::analyze {
namespace {

using enum HostFact;

/// A channel with the facts that it counted.
struct Fixture {
  RequestChannel channel;
  FactCounts responder;
  FactCounts requester;

  void request(std::int64_t psn, bool arrives = false, bool starts = true) {
    channel.on_request({psn, 1, write_requests, starts, 100}, arrives, responder);
  }
  void expect(HostFact fact, std::int64_t certain, std::int64_t doubtful) const {
    EXPECT_EQ(responder[fact].certain, certain) << host_fact_info(fact).key;
    EXPECT_EQ(responder[fact].doubtful, doubtful) << host_fact_info(fact).key;
  }
};

TEST(RequestChannel, WhatANakLeavesOutWasDiscardedOutOfSequence) {
  Fixture f;
  for (const int psn : {0, 1, 2, 3}) f.request(psn);
  f.channel.on_sequence_nak(1, f.responder, f.requester);
  f.expect(requests_out_of_sequence, 2, 0);
  for (const int psn : {1, 2, 3}) f.request(psn);
  f.channel.on_ack(3, f.responder);
  f.expect(duplicate_requests, 0, 0);
  f.expect(write_requests, 4, 3);
  EXPECT_TRUE(f.channel.is_settled());
}

TEST(RequestChannel, AheadOfAGapIsOutOfSequenceUntilItIsFilled) {
  Fixture f;
  for (const int psn : {0, 2, 3, 1, 2, 3}) f.request(psn);
  f.expect(requests_out_of_sequence, 2, 0);
  f.expect(write_requests, 4, 2);
}

TEST(RequestChannel, AgainAfterItsAckIsADuplicate) {
  Fixture f;
  f.request(0);
  f.channel.on_ack(0, f.responder);
  f.request(0);
  f.expect(duplicate_requests, 1, 0);
}

TEST(RequestChannel, AgainAfterSilenceMayBeADuplicate) {
  Fixture f;
  f.request(0);
  f.request(0);
  f.expect(duplicate_requests, 0, 1);
}

TEST(RequestChannel, AgainAfterSilenceIsADuplicateAtTheResponder) {
  Fixture f;
  f.request(0, true);
  f.request(0, true);
  f.expect(duplicate_requests, 1, 0);
}

TEST(RequestChannel, BehindAnRnrNakNobodyKnows) {
  Fixture f;
  for (const int psn : {0, 1}) f.request(psn);
  f.channel.on_rnr_nak(0, f.responder);
  f.request(2);
  f.expect(requests_out_of_sequence, 0, 2);
  EXPECT_TRUE(f.channel.is_put_off());
  f.request(0);
  EXPECT_FALSE(f.channel.is_put_off());
}

TEST(RequestChannel, WhatWasNotExecutedWasNoDuplicateWhenItCameAgain) {
  Fixture f;
  f.request(0, true);
  f.request(0, true);
  f.channel.on_rnr_nak(0, f.responder);
  f.expect(duplicate_requests, 0, 0);
  f.channel.on_rnr_nak(0, f.responder);
  f.expect(duplicate_requests, 0, 0);
}

TEST(RequestChannel, BehindARefusedRequestNothingNeedBeTaken) {
  Fixture f;
  for (const int psn : {0, 1, 2}) f.request(psn);
  f.responder.add(packets_received, 3);
  f.channel.on_error_nak(0, f.responder);
  f.expect(packets_received, 1, 2);
}

TEST(RequestChannel, AReadTakesThePsnsOfItsAnswer) {
  Fixture f;
  f.channel.on_request({0, 4, read_requests, true, 100}, false, f.responder);
  f.request(4);
  f.expect(requests_out_of_sequence, 0, 0);
  f.request(2);
  f.expect(duplicate_requests, 0, 1);
}

TEST(RequestChannel, BehindAReadOfUnknownLengthNothingIsOutOfSequence) {
  Fixture f;
  f.channel.on_request({0, std::nullopt, read_requests, true, 100}, false, f.responder);
  f.request(4);
  f.request(6);
  f.expect(requests_out_of_sequence, 1, 0);
}

TEST(RequestChannel, ANakForWhatIsToBeAcknowledgedNextMakesNoProgress) {
  Fixture f;
  f.request(0);
  f.request(1, false, false);
  f.request(2, false, false);
  f.channel.on_ack(0, f.responder);
  f.channel.on_sequence_nak(1, f.responder, f.requester);
  EXPECT_EQ(f.requester[progress_naks_received].certain, 0);
  f.request(1, false, false);
  f.request(2, false, false);
  f.channel.on_sequence_nak(2, f.responder, f.requester);
  EXPECT_EQ(f.requester[progress_naks_received].certain, 1);
}

TEST(RequestChannel, OneGoBackHoweverManyPackets) {
  RequestChannel channel;
  EXPECT_FALSE(channel.goes_back(3, false));
  EXPECT_TRUE(channel.goes_back(1, true));
  EXPECT_FALSE(channel.goes_back(2, true));
  EXPECT_TRUE(channel.goes_back(2, true));
  EXPECT_FALSE(channel.goes_back(4, false));
  EXPECT_TRUE(channel.goes_back(4, true));
}

}  // namespace
}  // namespace roce::analyze
