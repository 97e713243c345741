// SPDX-License-Identifier: BSD-2-Clause
// Connection management messages that are sent again.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "analysis/trace.h"

namespace roce::analysis {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Returns a line with a CM message. The time is in milliseconds.
std::string cm(unsigned ms, std::string_view hosts, std::string_view message, unsigned psn, unsigned transaction = 7,
               std::string_view options = "") {
  const unsigned attribute = message == "req" ? 0x10 : message == "rep" ? 0x13 : message == "rtu" ? 0x14 : 0x15;
  return fmt::format(
      "{} {} UD_SEND_ONLY {} qp=1 headers=cm_{} mad.mgmt_class=7 mad.attribute_id={} mad.transaction_id={} {}\n",
      ms * 1000, hosts, psn, message, attribute, transaction, options);
}

TEST(RepeatedCm, ALostRepIsSaidWithWhatItCost) {
  const Findings found =
      analyse(cm(0, "A>B", "req", 1) + cm(1, "B>A", "rep", 1) + cm(4001, "B>A", "rep", 2) + cm(4002, "A>B", "rtu", 2));
  EXPECT_THAT(found.now, ElementsAre("3 cm_repeated 2 of=2 after=4000000us tries=2 message=CM REP",
                                     "4 setup_delayed 2 of=1 after=4002000us tries=1"));
}

TEST(RepeatedCm, EachRepetitionIsSaid) {
  const Findings found = analyse(cm(0, "A>B", "req", 1) + cm(100, "A>B", "req", 2) + cm(300, "A>B", "req", 3));
  EXPECT_THAT(found.now, ElementsAre("2 cm_repeated 2 of=1 after=100000us tries=2 message=CM REQ",
                                     "3 cm_repeated 3 of=2 after=200000us tries=3 message=CM REQ"));
}

TEST(RepeatedCm, ALostRtuDelaysWhatWasSetUp) {
  const Findings found = analyse(cm(0, "A>B", "req", 1) + cm(1, "B>A", "rep", 1) + cm(2, "A>B", "rtu", 2) +
                                 cm(500, "B>A", "rep", 2) + cm(501, "A>B", "rtu", 3));
  EXPECT_THAT(found.now, ElementsAre("4 cm_repeated 2 of=2 after=499000us tries=2 message=CM REP",
                                     "5 cm_repeated 3 of=3 after=499000us tries=2 message=CM RTU",
                                     "5 setup_delayed 3 of=1 after=501000us tries=2"));
}

TEST(RepeatedCm, ACopyOfAMessageIsNoRepetition) {
  const Findings found =
      analyse(cm(0, "A>B", "req", 1, 7, "id=5") + cm(1, "A>B", "req", 1, 7, "id=5") + cm(2, "B>A", "rep", 1));
  EXPECT_THAT(found.now, IsEmpty());
}

TEST(RepeatedCm, OtherConnectionsHostsAndPointsHaveMessagesOfTheirOwn) {
  const Findings found =
      analyse(cm(0, "A>B", "req", 1, 7) + cm(1, "A>B", "req", 2, 8) + cm(2, "B>A", "req", 1, 7) +
              cm(3, "A>C", "req", 3, 7) + cm(4, "A>B", "req", 4, 7, "point=1") + cm(5, "A>B", "rtu", 5, 8));
  EXPECT_THAT(found.now, IsEmpty());
}

TEST(RepeatedCm, AReqAfterItsRtuBeginsAnotherConnection) {
  const std::string once =
      cm(0, "A>B", "req", 1) + cm(1, "B>A", "rep", 1) + cm(2, "A>B", "rtu", 2) + cm(3, "B>A", "dreq", 2, 9);
  const std::string again =
      cm(10, "A>B", "req", 3) + cm(11, "B>A", "rep", 3) + cm(12, "A>B", "rtu", 4) + cm(13, "B>A", "dreq", 4, 9);
  EXPECT_THAT(analyse(once + again).now, IsEmpty());
}

TEST(RepeatedCm, AmongTheNewestTwoHundredAndFiftySixMessages) {
  const auto repeated_after = [](unsigned messages) {
    std::string trace;
    for (unsigned i = 0; i < messages; ++i) trace += cm(i, "A>B", "req", 1 + i, 1000 + i);
    return analyse(trace + cm(messages, "A>B", "req", 2000, 1000)).now.size();
  };
  EXPECT_EQ(repeated_after(256), 1U);
  EXPECT_EQ(repeated_after(257), 0U);
}

TEST(RepeatedCm, ARepeatedDreqDelaysNoSetUp) {
  const Findings found = analyse(cm(0, "A>B", "req", 1) + cm(1, "B>A", "rep", 1) + cm(2, "A>B", "rtu", 2) +
                                 cm(3, "A>B", "dreq", 3) + cm(903, "A>B", "dreq", 4));
  EXPECT_THAT(found.now, ElementsAre("5 cm_repeated 4 of=4 after=900000us tries=2 message=CM DREQ"));
}

}  // namespace
}  // namespace roce::analysis
