// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/path_statements.h"

#include <gmock/gmock.h>

namespace roce::analyze {
namespace {

using analysis::PathSummary;
using analysis::PathTraffic;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

constexpr std::uint64_t kMany = 100 << 20;

const Gid kA = Gid::from_ipv4({{192, 0, 2, 1}});
const Gid kB = Gid::from_ipv4({{192, 0, 2, 2}});

/// A path from A to B whose data has DSCP 26, evenly on eight ports.
PathSummary path() {
  PathSummary path;
  path.version = RoceVersion::v2_ipv4;
  path.source = kA;
  path.destination = kB;
  path.packets = 1000;
  path.bytes = kMany;
  path.queue_pairs = 8;
  for (std::uint16_t port = 50000; port < 50008; ++port) path.ports.push_back({port, 125, kMany / 8});
  path.marks[static_cast<std::size_t>(PathTraffic::data)].dscp[26] = 1000;
  return path;
}

std::vector<std::string> said(const std::vector<PathSummary>& paths) {
  const PathNames names{.host = [](const Gid& host) { return host == kA ? "A" : "B"; },
                        .point = [](std::uint16_t point) { return "p" + std::to_string(point); },
                        .arrow = "to"};
  std::vector<std::string> texts;
  for (const Statement& statement : statements_about_paths(paths, names)) texts.push_back(statement.text);
  return texts;
}

TEST(PathStatements, SayNothingOfAPathAsItShouldBe) {
  EXPECT_THAT(said({path()}), IsEmpty());
}

TEST(PathStatements, NameSeveralQueuePairsOnOnePort) {
  PathSummary one = path();
  one.ports = {{49152, 1000, kMany}};
  EXPECT_THAT(said({one}), ElementsAre(StartsWith("A to B: 8 QPs share the UDP source port 49152")));
  one.queue_pairs = 1;
  EXPECT_THAT(said({one}), IsEmpty());
}

TEST(PathStatements, NameAnElephant) {
  PathSummary uneven = path();
  uneven.ports.front().bytes = kMany;
  EXPECT_THAT(said({uneven}), ElementsAre(HasSubstr("one of 8 UDP source ports, 50000, has 53 % of the bytes")));
  uneven.bytes = 1000;
  EXPECT_THAT(said({uneven}), IsEmpty());
}

TEST(PathStatements, NameTheClassesOfData) {
  PathSummary mixed = path();
  mixed.marks[0].dscp[0] = 100;
  EXPECT_THAT(said({mixed}), ElementsAre(HasSubstr("data has DSCP 0 and 26")));
  // A few packets with another DSCP are no class that somebody has configured.
  mixed.marks[0].dscp[0] = 5;
  EXPECT_THAT(said({mixed}), IsEmpty());
  mixed.marks[0].dscp[26] = 0;
  EXPECT_THAT(said({mixed}), ElementsAre(HasSubstr("data has DSCP 0, that of all ordinary traffic")));
  EXPECT_THAT(said({mixed, mixed, path()}),
              ElementsAre(HasSubstr("data has DSCP 0 (as in 2 of 3 rows), that of all ordinary traffic")));
}

TEST(PathStatements, NameCnpsInTheClassOfData) {
  PathSummary back = path();
  std::swap(back.source, back.destination);
  back.marks[0] = {};
  back.marks[static_cast<std::size_t>(PathTraffic::cnp)].dscp[26] = 3;
  EXPECT_THAT(said({path(), back}), ElementsAre(StartsWith("B to A: CNPs have DSCP 26 as data has")));
  back.marks[static_cast<std::size_t>(PathTraffic::cnp)].dscp[26] = 0;
  back.marks[static_cast<std::size_t>(PathTraffic::cnp)].dscp[48] = 3;
  EXPECT_THAT(said({path(), back}), IsEmpty());
}

TEST(PathStatements, NameMarksThatChangeBetweenPoints) {
  PathSummary later = path();
  later.point = 1;
  later.marks[0] = {};
  later.marks[0].dscp[0] = 1000;
  const auto texts = said({path(), later});
  ASSERT_EQ(texts.size(), 2U);
  // Warnings come first.
  EXPECT_THAT(texts[0], HasSubstr("data has DSCP 26 at p0 and 0 at p1"));
}

}  // namespace
}  // namespace roce::analyze
