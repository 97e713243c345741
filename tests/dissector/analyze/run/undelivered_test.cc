// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/undelivered.h"
#include "analyze/run/run_time.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>

namespace roce::analyze {
namespace {

using analysis::IcmpErrorSummary;

Gid host(std::uint8_t number) {
  return Gid::from_ipv4({{10, 0, 0, number}});
}

TEST(UndeliveredTest, APortThatIsRejectedOnTheWayIsAFiltersWork) {
  IcmpErrorSummary error;
  error.source = host(1);
  error.destination = error.reporter = host(2);
  error.why = Undelivered::port_unreachable;
  EXPECT_NE(undelivered_advice(error).find("nothing takes RoCE v2 at 10.0.0.2"), std::string::npos);
  error.reporter = host(9);
  EXPECT_EQ(undelivered_advice(error), "a filter at 10.0.0.9 rejects it: let UDP port 4791 through there");
}

TEST(UndeliveredTest, ALinkLocalSourceIsNamed) {
  IcmpErrorSummary error;
  error.source = host(1);
  error.destination = host(2);
  error.why = Undelivered::beyond_scope;
  EXPECT_NE(undelivered_advice(error).find("the GID of 10.0.0.1 holds on its own link only"), std::string::npos);
}

TEST(RunTimeTest, NoTimestampOverflows) {
  AnalysisResult result;
  const Time latest = analysis::limited(Time::max());
  EXPECT_EQ(run_ns(result, latest), latest.time_since_epoch().count());
  result.counts.first_ns = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(run_ns(result, latest), 2 * latest.time_since_epoch().count());
  result.counts.first_ns = std::numeric_limits<std::int64_t>::max();
  EXPECT_EQ(run_ns(result, -latest.time_since_epoch() + Time{}), -2 * latest.time_since_epoch().count());
}

}  // namespace
}  // namespace roce::analyze
