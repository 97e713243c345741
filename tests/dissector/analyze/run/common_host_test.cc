// SPDX-License-Identifier: BSD-2-Clause
// Connections that die at once because their host does.
#include <gmock/gmock.h>

#include <chrono>

#include "analyze/run/dead_connections.h"

namespace roce::analyze {
namespace {

using ::testing::Eq;
using ::testing::HasSubstr;
using ::testing::Optional;

Gid host(unsigned number) {
  return Gid::from_ipv4({{192, 0, 2, static_cast<std::uint8_t>(number)}});
}

DeadConnection dead(unsigned requester, unsigned responder, int ms, ConnectionEnd end = ConnectionEnd::died) {
  return {end,
          0,
          host(requester),
          host(responder),
          Time{std::chrono::milliseconds{ms}},
          Time{std::chrono::milliseconds{ms + 50}},
          end != ConnectionEnd::refused_by_rnr,
          {}};
}

TEST(CommonHost, IsNamedWhicheverEndItIs) {
  EXPECT_THAT(
      common_host_text(std::vector{dead(1, 9, 100), dead(9, 2, 130), dead(3, 9, 140, ConnectionEnd::unanswered)}, {}),
      Optional(HasSubstr("all 3 of these are connections of 192.0.2.9, with 3 hosts, and fell silent within 40.0 ms")));
}

TEST(CommonHost, IsNoneOfOnePairOfHosts) {
  EXPECT_THAT(common_host_text(std::vector{dead(1, 9, 100), dead(1, 9, 100)}, {}), Eq(std::nullopt));
}

TEST(CommonHost, IsNoneIfOthersDiedToo) {
  EXPECT_THAT(common_host_text(std::vector{dead(1, 9, 100), dead(2, 9, 100), dead(3, 4, 100)}, {}), Eq(std::nullopt));
}

TEST(CommonHost, IsNoneThatIsHeardAfterTheLatestTries) {
  const std::vector died{dead(1, 9, 100), dead(2, 9, 120)};
  const auto heard = [](int ms) { return HeardHosts{{host(9), Time{std::chrono::milliseconds{ms}}}}; };
  EXPECT_THAT(common_host_text(died, heard(100)), Optional(HasSubstr("192.0.2.9")));
  EXPECT_THAT(common_host_text(died, heard(151)), Eq(std::nullopt));
}

TEST(CommonHost, IsNoneIfTheyDiedOneAfterTheOther) {
  EXPECT_THAT(common_host_text(std::vector{dead(1, 9, 100), dead(2, 9, 1200)}, {}), Eq(std::nullopt));
}

TEST(CommonHost, IsNoneOfConnectionsThatWereRefused) {
  std::vector refused{dead(1, 9, 1, ConnectionEnd::refused_by_rnr), dead(2, 9, 1, ConnectionEnd::unanswered)};
  refused[1].is_silent = false;
  EXPECT_THAT(common_host_text(refused, {}), Eq(std::nullopt));
  EXPECT_THAT(common_host_text({}, {}), Eq(std::nullopt));
}

TEST(CommonHost, IsNoneWhereTheCaptureMayLackTheAnswers) {
  EXPECT_THAT(
      common_host_text(
          std::vector{dead(1, 9, 1, ConnectionEnd::died_or_unseen), dead(2, 9, 1, ConnectionEnd::died_or_unseen)}, {}),
      Eq(std::nullopt));
}

}  // namespace
}  // namespace roce::analyze
