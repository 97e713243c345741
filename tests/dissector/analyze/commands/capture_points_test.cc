// SPDX-License-Identifier: BSD-2-Clause
// Input from several capture points.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "dissector/analyze/program.h"
#include "roce/link/capture_reader.h"
#include "roce/link/capture_writer.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

class CapturePointsTest : public ProgramTest {
 protected:
  [[nodiscard]] std::vector<json> rows(std::vector<std::string> arguments) const {
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<json> all;
    for (const std::string& line : lines(outcome.out)) all.push_back(json::parse(line));
    return all;
  }
  /// Returns the verdicts of each point, with what tells one from another.
  [[nodiscard]] std::map<std::string, std::vector<std::string>> events(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"events", "--json"});
    std::map<std::string, std::vector<std::string>> all;
    for (const json& event : rows(std::move(arguments))) {
      all[event["point"]].push_back(
          json{event["verdict"], event["frame"], event["first_psn"], event["psn_count"], event["cause"]}.dump());
    }
    return all;
  }

  /// Copies a capture whose packets then have this TTL (IPv4) and come this much later.
  [[nodiscard]] std::string elsewhere(const std::string& name, const std::string& capture, int ttl,
                                      std::int64_t later_ns) const {
    auto reader = link::CaptureReader::open(capture);
    auto writer = link::CaptureWriter::create(path(name));
    EXPECT_TRUE(reader.has_value() && writer.has_value());
    link::CaptureRecord record;
    while (reader->next(record)) {
      constexpr std::size_t kTtl = 22;
      std::vector<std::byte> bytes(record.bytes.begin(), record.bytes.end());
      if (bytes.size() > kTtl && bytes[12] == std::byte{8} && bytes[13] == std::byte{0}) bytes[kTtl] = std::byte(ttl);
      record.bytes = bytes;
      record.interface_id = 0;
      record.timestamp_ns += later_ns;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    EXPECT_TRUE(writer->close().has_value());
    return path(name);
  }
  /// Writes each frame of a capture twice.
  [[nodiscard]] std::string twice_in_one(const std::string& capture) const {
    auto reader = link::CaptureReader::open(capture);
    auto writer = link::CaptureWriter::create(path("twice.pcapng"));
    EXPECT_TRUE(reader.has_value() && writer.has_value());
    link::CaptureRecord record;
    while (reader->next(record)) {
      record.interface_id = 0;
      EXPECT_TRUE(writer->write(record).has_value());
      record.timestamp_ns += 1000;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    EXPECT_TRUE(writer->close().has_value());
    return path("twice.pcapng");
  }
  [[nodiscard]] static std::vector<std::string> crossings(const json& summary) {
    std::vector<std::string> all;
    for (const json& each : summary["crossings"]) {
      all.push_back(fmt::format("{} {} {} of {}", each["from"].get<std::string>(), each["to"].get<std::string>(),
                                each["lost"].get<int>(), each["packets"].get<int>()));
    }
    return all;
  }

  const std::string tx_ = softroce("rc-drop-requests.tx.pcap");
  const std::string rx_ = softroce("rc-drop-requests.rx.pcap");
};

TEST_F(CapturePointsTest, AreJudgedAsIfEachWereAlone) {
  const auto both = events({tx_, rx_});
  ASSERT_EQ(both.size(), 2U);
  EXPECT_EQ(both.at("rc-drop-requests.tx"), events({tx_}).at("rc-drop-requests.tx"));
  EXPECT_EQ(both.at("rc-drop-requests.rx"), events({rx_}).at("rc-drop-requests.rx"));
}

TEST_F(CapturePointsTest, StreamsSayWhichTheyAreOf) {
  std::vector<std::string> points;
  for (const json& stream : rows({"streams", "--json", tx_, rx_})) points.push_back(stream["point"]);
  EXPECT_THAT(points, UnorderedElementsAre("rc-drop-requests.tx", "rc-drop-requests.rx"));
  EXPECT_THAT(run({"streams", tx_, rx_}).out, HasSubstr("rc-drop-requests.tx"));
  EXPECT_THAT(run({"streams", tx_}).out, Not(HasSubstr("point"))) << "one point needs no name";
  EXPECT_THAT(run({"events", tx_, rx_}).out, HasSubstr("rc-drop-requests.rx"));
  EXPECT_THAT(run({"events", tx_}).out, Not(HasSubstr("point  ")));
}

TEST_F(CapturePointsTest, TheUserMayNameThem) {
  EXPECT_THAT(events({"--point", "client=" + tx_, "--point", "server=" + rx_}).size(), 2U);
  // One point although the files have other names.
  const std::string first = save_part("first.pcap", rx_, 1, 50);
  const std::string second = save_part("second.pcap", rx_, 51, 10'000);
  const auto pieces = rows({"streams", "--json", "--point", "server=" + first + "," + second});
  const auto whole = rows({"streams", "--json", rx_});
  ASSERT_EQ(pieces.size(), 1U);
  EXPECT_EQ(pieces[0]["verdicts"], whole[0]["verdicts"]);
}

TEST_F(CapturePointsTest, MistakesSayWhatAndWhere) {
  const Outcome twice = run({"--point", "a=" + tx_, "--point", "a=" + rx_});
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_THAT(twice.err, HasSubstr("--point: 'a' is given twice"));
  EXPECT_EQ(run({"--point", "a"}).exit_code, 2);

  const Outcome repeated = run({"streams", "--json", "--point", "a=" + tx_, "--point", "b=" + tx_ + "," + rx_});
  EXPECT_EQ(repeated.exit_code, 1);
  EXPECT_THAT(repeated.err, HasSubstr("was given for the point 'a' and for the point 'b'; it is read once"));
  EXPECT_THAT(lines(repeated.out), ::testing::SizeIs(2)) << "everything else is analysed";

  const Outcome overlap = run({"streams", "--json", "--point", "a=" + tx_ + "," + rx_});
  EXPECT_EQ(overlap.exit_code, 1);
  EXPECT_THAT(overlap.err, HasSubstr("rc-drop-requests.rx.pcap begins at 2026-11-20T22:21:44"));
  EXPECT_FALSE(overlap.out.empty());
}

TEST_F(CapturePointsTest, TheSummaryTellsBetweenWhichTwoPacketsWereLost) {
  const std::string near = elsewhere("near.pcapng", tx_, 64, 0);
  const std::string far = elsewhere("far.pcapng", rx_, 63, 20'000);
  const json summary = json::parse(run({"summary", "--json", far, near}).out);
  // join says the same: 12 of 163 packets died A to B.
  EXPECT_THAT(crossings(summary), ElementsAre("near far 12 of 163"));
  EXPECT_EQ(summary["verdict"], "between near and far: 12 of 163 packets died: 12 lost");
  EXPECT_EQ(summary["connections"], 1);
  EXPECT_EQ(summary["points"].size(), 2U);
  const std::string text = run({near, far}).out;
  EXPECT_THAT(text, HasSubstr("1 connection, seen at 2 points"));
  EXPECT_THAT(text, HasSubstr("at near: 1 of 1 connection lost packets: 9 lost after the capture point"));
  EXPECT_THAT(text, HasSubstr("at far: 1 of 1 connection lost packets: 11 lost before the capture point"));
}

TEST_F(CapturePointsTest, OfThreePointsOnlyNeighboursAreCompared) {
  const std::string near = elsewhere("a.pcapng", tx_, 64, 0);
  const std::string middle = elsewhere("b.pcapng", tx_, 63, 10'000);
  const std::string far = elsewhere("c.pcapng", rx_, 62, 20'000);
  EXPECT_THAT(crossings(json::parse(run({"summary", "--json", far, near, middle}).out)),
              ElementsAre("b c 12 of 163", "a b 0 of 163"));
}

TEST_F(CapturePointsTest, ClocksThatAreHoursApartAreTold) {
  constexpr std::int64_t kTwoHours = 7'200'000'000'000;
  const std::string near = elsewhere("near.pcapng", tx_, 64, 0);
  const std::string far = elsewhere("far.pcapng", rx_, 63, kTwoHours);
  const Outcome outcome = run({"summary", "--json", near, far});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the clock of far is 2.00 h ahead of that of near"));
  EXPECT_THAT(crossings(json::parse(outcome.out)), ElementsAre("near far 12 of 163"));
}

TEST_F(CapturePointsTest, AClockThatRunsBackwardsIsTold) {
  const std::string first = save_part("first.pcapng", rx_, 1, 100);
  const std::string again = elsewhere("again.pcapng", first, 64, -3'600'000'000'000);
  const Outcome outcome = run({"streams", "--json", "--point", "p=" + first + "," + again});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("p: the clock of this capture point went back by up to 1.00 h, at 1 frame"));
  EXPECT_FALSE(outcome.out.empty());
}

// A mirror of both directions, or the device `any`, has each packet twice at one point.
TEST_F(CapturePointsTest, TrafficThatWasCapturedTwiceIsTold) {
  const std::string clean = softroce("rc-mix-v4.tx.pcap");
  const Outcome twice = run({"summary", "--json", twice_in_one(clean)});
  EXPECT_EQ(twice.exit_code, 0);
  const json summary = json::parse(twice.out);
  EXPECT_THAT(summary["statements"].dump(),
              HasSubstr("of 390 packets are copies: the same traffic was captured twice"));
  EXPECT_EQ(summary["lost"], json::parse(run({"summary", "--json", clean}).out)["lost"]);
  EXPECT_THAT(run({clean}).out, Not(HasSubstr("captured twice")));
  EXPECT_THAT(run({softroce("rc-duplicate.rx.pcap")}).out, Not(HasSubstr("captured twice")))
      << "copies that the network makes are few";
}

TEST_F(CapturePointsTest, CommandsThatAddPointsUpWarn) {
  for (const std::string command : {"messages", "latency", "timeline", "counters"}) {
    EXPECT_THAT(run({command, tx_, rx_}).err, HasSubstr("several capture points saw")) << command;
    EXPECT_EQ(run({command, tx_}).err, "") << command;
  }
  for (const std::string command : {"summary", "streams", "events"}) EXPECT_EQ(run({command, tx_, rx_}).err, "");
}

TEST_F(CapturePointsTest, PointsOfOtherTrafficAreNotCompared) {
  const json summary = json::parse(run({"summary", "--json", rx_, softroce("host-peer.tx.pcap")}).out);
  EXPECT_FALSE(summary.contains("crossings"));
  EXPECT_EQ(summary["points"].size(), 2U);
}

}  // namespace
}  // namespace roce::analyze::test
