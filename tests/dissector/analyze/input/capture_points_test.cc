// SPDX-License-Identifier: BSD-2-Clause
// Which files and interfaces are one capture point.
#include "analyze/input/capture_points.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>

#include "analyze/input/input_files.h"
#include "support/temporary_folder.h"

namespace roce::analyze::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::int64_t kSecond = 1'000'000'000;

struct Piece {
  std::string path;
  std::int64_t first = 0;  ///< seconds
  std::int64_t last = 0;
  std::string given_name{};
};

link::CaptureInterface interface_called(const std::string& name, std::uint32_t section = 0) {
  link::CaptureInterface interface;
  interface.name = name;
  interface.section = section;
  return interface;
}

/// Returns the name of the point of each file, all of which have one interface without a name.
std::vector<std::string> points_of(const std::vector<Piece>& pieces) {
  CapturePoints points;
  const std::vector<link::CaptureInterface> interfaces(1);
  std::vector<std::string> names;
  for (const Piece& piece : pieces) {
    points.begin_file(piece.path, piece.given_name);
    const std::uint16_t point = points.take(interfaces, 0, piece.first * kSecond);
    points.end_file(piece.last * kSecond);
    names.push_back(points.points().at(point).name);
  }
  return names;
}

TEST(CapturePoints, PiecesOfARingBufferAreOne) {
  EXPECT_THAT(
      points_of({{"d/ring_00001_20261124120000.pcapng", 0, 10}, {"d/ring_00002_20261124120010.pcapng", 10, 20}}),
      ElementsAre("ring_00001_20261124120000", "ring_00001_20261124120000"));
  // As tcpdump -C names them.
  EXPECT_THAT(points_of({{"trace.pcap", 0, 10}, {"trace.pcap1", 10, 20}, {"trace.pcap2", 20, 30}}),
              ElementsAre("trace", "trace", "trace"));
}

TEST(CapturePoints, FilesOfOtherNamesAreOthers) {
  EXPECT_THAT(points_of({{"a.pcap", 0, 10}, {"b.pcap.gz", 20, 30}}), ElementsAre("a", "b"));
  EXPECT_THAT(points_of({{"x/t.pcap", 0, 10}, {"y/t.pcap", 20, 30}}), ElementsAre("t", "y/t.pcap"));
}

TEST(CapturePoints, FilesThatOverlapInTimeAreOthers) {
  EXPECT_THAT(points_of({{"node1.pcap", 0, 10}, {"node2.pcap", 5, 15}}), ElementsAre("node1", "node2"));
  EXPECT_THAT(points_of({{"node1.pcap", 100, 110}, {"node2.pcap", 5, 15}}), ElementsAre("node1", "node2"));
}

TEST(CapturePoints, RingBuffersOfSeveralHostsAreToldApartByTheMostSimilarName) {
  EXPECT_THAT(points_of({{"h1_01.pcap", 0, 10},
                         {"h2_01.pcap", 1, 9},
                         {"h1_02.pcap", 10, 20},
                         {"h2_02.pcap", 10, 21},
                         {"h2_03.pcap", 22, 30},
                         {"h1_03.pcap", 23, 30}}),
              ElementsAre("h1_01", "h2_01", "h1_01", "h2_01", "h2_01", "h1_01"));
}

TEST(CapturePoints, InterfacesAreOthersByNameInAllPieces) {
  CapturePoints points;
  points.begin_file("ring_1.pcapng", "");
  std::vector<link::CaptureInterface> interfaces{interface_called("eth0"), interface_called("eth1")};
  EXPECT_EQ(points.take(interfaces, 1, 0), 0);
  EXPECT_EQ(points.take(interfaces, 0, 1), 1);
  points.begin_file("ring_2.pcapng", "");
  interfaces = {interface_called("eth1"), interface_called("eth0")};
  EXPECT_EQ(points.take(interfaces, 0, 2), 0);
  EXPECT_EQ(points.take(interfaces, 1, 3), 1);
  EXPECT_EQ(points.points()[0].name, "ring_1:eth1");
  EXPECT_EQ(points.points()[1].name, "ring_1:eth0");
}

TEST(CapturePoints, InterfacesWithoutANameAreToldApartByTheirPlaceInTheSection) {
  CapturePoints points;
  points.begin_file("joined.pcapng", "");
  // Two files in one, as `cat` makes it: each section counts its interfaces anew.
  const std::vector<link::CaptureInterface> interfaces{interface_called(""), interface_called(""),
                                                       interface_called("", 1), interface_called("", 1)};
  EXPECT_EQ(points.take(interfaces, 0, 0), 0);
  EXPECT_EQ(points.take(interfaces, 1, 1), 1);
  EXPECT_EQ(points.take(interfaces, 2, 2), 0);
  EXPECT_EQ(points.take(interfaces, 3, 3), 1);
  EXPECT_EQ(points.points()[1].name, "joined:#1");
}

TEST(CapturePoints, AGivenNameStandsForAllFilesAndInterfaces) {
  CapturePoints points;
  const std::vector<link::CaptureInterface> interfaces{interface_called("eth0"), interface_called("eth1")};
  points.begin_file("a.pcapng", "leaf");
  EXPECT_EQ(points.take(interfaces, 0, 0), 0);
  EXPECT_EQ(points.take(interfaces, 1, kSecond), 0);
  points.end_file(kSecond);
  points.begin_file("b.pcapng", "leaf");
  EXPECT_EQ(points.take(interfaces, 1, 2 * kSecond), 0);
  points.end_file(2 * kSecond);
  EXPECT_EQ(points.points()[0].name, "leaf");
  EXPECT_EQ(points.overlap(), std::nullopt);
  // Both cannot be pieces of one capture.
  points.begin_file("c.pcapng", "leaf");
  EXPECT_EQ(points.take(interfaces, 0, kSecond), 0);
  ASSERT_TRUE(points.overlap().has_value());
  EXPECT_THAT(*points.overlap(),
              HasSubstr("c.pcapng begins at 1970-01-01T00:00:01.000000Z, 1.00 s before the end of b"));
}

TEST(CapturePoints, AFileDoesNotJoinAPointThatWasGivenAName) {
  EXPECT_THAT(points_of({{"t1.pcap", 0, 10, "leaf"}, {"t2.pcap", 20, 30}, {"t3.pcap", 40, 50, "spine"}}),
              ElementsAre("leaf", "t2", "spine"));
}

TEST(CapturePoints, AreBounded) {
  CapturePoints points;
  points.begin_file("many.pcapng", "");
  const std::vector<link::CaptureInterface> interfaces(5000);
  for (std::uint32_t i = 0; i < interfaces.size(); ++i) (void)points.take(interfaces, i, 0);
  EXPECT_EQ(points.points().size(), CapturePoints::kMost);
  EXPECT_EQ(points.take(interfaces, 4999, 0), CapturePoints::kMost - 1);
}

TEST(CapturePoints, ClocksThatRunBackwardsAreCounted) {
  CapturePoints points;
  points.begin_file("t.pcap", "");
  const std::vector<link::CaptureInterface> interfaces(1);
  for (const std::int64_t time : {10, 12, 5, 6}) {
    points.count(points.take(interfaces, 0, time * kSecond), time * kSecond);
  }
  EXPECT_EQ(points.points()[0].frames, 4U);
  EXPECT_EQ(points.points()[0].backwards, 1U);
  EXPECT_EQ(points.points()[0].farthest_back, 7 * kSecond);
}

TEST(ParsePoint, TakesFilesAndPatterns) {
  const roce::test::TemporaryFolder temporary;
  const std::filesystem::path& folder = temporary.folder();
  for (const char* name : {"a1.pcap", "a2.pcap", "b.pcap"}) std::ofstream{folder / name} << "x";
  const auto point = parse_point("leaf=" + (folder / "a*.pcap").string() + ",other");
  ASSERT_TRUE(point.has_value());
  EXPECT_EQ(point->name, "leaf");
  EXPECT_THAT(point->arguments, ElementsAre((folder / "a1.pcap").string(), (folder / "a2.pcap").string(), "other"));
  for (const char* wrong : {"", "leaf", "=a.pcap", "leaf="}) {
    const auto refused = parse_point(wrong);
    ASSERT_FALSE(refused.has_value()) << wrong;
    EXPECT_THAT(refused.error(), HasSubstr("--point takes NAME=FILE"));
  }
}

}  // namespace
}  // namespace roce::analyze::test
