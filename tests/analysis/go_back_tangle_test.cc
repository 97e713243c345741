// SPDX-License-Identifier: BSD-2-Clause
// Go-backs that follow each other closely, and connections that look alike: what fresh seeds of the simulation showed.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;

std::vector<std::uint32_t> streams_of(const Findings& found) {
  std::vector<std::uint32_t> streams;
  for (const PacketAnalysis& packet : found.packets) streams.push_back(packet.stream);
  return streams;
}

// A-CON-3 (a response has a PSN of the requests it answers)
TEST(SimilarConnections, AResponseIsNotToRequestsOfUc) {
  const Findings found = analyse(R"(
     0  A>B  UC_SEND_ONLY  100  v1  qp=0x22
     1  A>B  UC_SEND_ONLY  101  v1  qp=0x22
     2  A>B  SEND_ONLY     102  v1  qp=0x23  ar
    10  B>A  ACK           101  v1  qp=0x13)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 0, 1, 2));
}

TEST(SimilarConnections, TheAnswerToADuplicateStaysWithItsOwn) {
  const Findings found = analyse(R"(
       0  A>B  SEND_ONLY  100  v1  qp=0x22  ar
       1  A>B  SEND_ONLY  101  v1  qp=0x22  ar
      10  B>A  ACK        100  v1  qp=0x12
    1000  A>B  SEND_ONLY  100  v1  qp=0x22  ar
    1001  A>B  SEND_ONLY  101  v1  qp=0x22  ar
    1010  B>A  ACK        101  v1  qp=0x12
    1011  A>B  SEND_ONLY  100  v1  qp=0x23  ar
    1012  A>B  SEND_ONLY  101  v1  qp=0x23  ar
    1013  B>A  ACK        101  v1  qp=0x12
    1020  B>A  ACK        101  v1  qp=0x13)");
  EXPECT_THAT(streams_of(found), ElementsAre(0, 0, 0, 0, 0, 0, 1, 1, 0, 1));
}

}  // namespace
}  // namespace roce::analysis
