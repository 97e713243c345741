// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"
#include "roce/link/capture_reader.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::Not;

class SummaryTest : public ProgramTest {
 protected:
  [[nodiscard]] json summary(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"summary", "--json"});
    const Outcome outcome = run(std::move(arguments));
    return json::parse(outcome.out);
  }

  /// Returns the output of `events` for these files, frames numbered through all of them; `first` is where each begins.
  [[nodiscard]] std::vector<json> events(const std::vector<std::string>& files,
                                         const std::map<std::string, std::uint64_t>& first) const {
    std::vector<std::string> arguments{"events", "--json"};
    arguments.insert(arguments.end(), files.begin(), files.end());
    std::istringstream lines{run(std::move(arguments)).out};
    std::vector<json> all;
    for (std::string line; std::getline(lines, line);) {
      json event = json::parse(line);
      const std::string file = event["file"];
      const std::string other_file = event.value("other_file", file);
      event["frame"] = event["frame"].get<std::uint64_t>() + first.at(file) - 1;
      if (event["other"] != 0) event["other"] = event["other"].get<std::uint64_t>() + first.at(other_file) - 1;
      event.erase("file");
      event.erase("point");  // named after the file
      event.erase("other_file");
      all.push_back(std::move(event));
    }
    return all;
  }
};

TEST_F(SummaryTest, BeginsWithOvertakenPacketsIfNothingWasLost) {
  const json received = summary({softroce("rc-reorder.rx.pcap")});
  EXPECT_EQ(received["verdict"],
            "1 of 1 connection had 7 packets that others overtook, and sent 30 packets again: nothing was lost");
  EXPECT_EQ(received["clean"], false);
  const json lossy = summary({softroce("rc-drop-requests.rx.pcap")});
  EXPECT_THAT(lossy["verdict"].get<std::string>(), Not(HasSubstr("overtook")));
}

TEST_F(SummaryTest, LossesAreCountedOnTheirSideOfTheCapturePoint) {
  // Both hold the same run: twelve requests were dropped between the two capture points. One of them begins a burst,
  // and neither capture tells it from what followed it.
  const json received = summary({softroce("rc-drop-requests.rx.pcap")});
  EXPECT_GE(received["lost"]["before"], 11);
  EXPECT_LE(received["lost"]["before"], 12);
  EXPECT_EQ(received["lost"]["after"], 0);
  EXPECT_EQ(received["clean"], false);
  EXPECT_THAT(received["verdict"].get<std::string>(), HasSubstr("1 of 1 connection lost packets"));
  const json sent = summary({softroce("rc-drop-requests.tx.pcap")});
  EXPECT_GT(sent["lost"]["after"], 0);
  EXPECT_EQ(sent["lost"]["before"], 0);
}

TEST_F(SummaryTest, CleanCaptureHasNothingWrong) {
  for (const char* name : {"rc-mix-v4.tx.pcap", "rc-mix-v6.tx.pcap", "ud-mix.tx.pcap", "cm-rping.tx.pcap"}) {
    SCOPED_TRACE(name);
    const json clean = summary({softroce(name)});
    EXPECT_EQ(clean["verdict"], "nothing wrong seen");
    EXPECT_EQ(clean["clean"], true);
    for (const json& finding : clean["findings"]) EXPECT_EQ(finding["severity"], "note") << finding;
  }
}

TEST_F(SummaryTest, CountsThePacketsOfUcThatNobodyRepeats) {
  EXPECT_EQ(
      summary({softroce("uc-drop.rx.pcap")})["verdict"],
      "1 of 1 connection lacks 9 packets that nobody repeats (UC): lost before the capture point, or missed by the "
      "capture");
}

TEST_F(SummaryTest, CountsAgreeWithTheTruth) {
  for (const std::string name : {"rc-drop-requests", "rc-corrupt", "rc-ecn-ce", "rc-rnr"}) {
    SCOPED_TRACE(name);
    std::ifstream in(softroce(name + ".truth.json"));
    const json truth = json::parse(in)["tx"];
    const json found = summary({softroce(name + ".tx.pcap")});
    EXPECT_EQ(found["capture"]["frames"], truth["frames"]);
    EXPECT_EQ(found["capture"]["roce_packets"], truth["roce"]);
    EXPECT_EQ(found["capture"]["icrc_bad"], truth["icrc_bad"]);
  }
}

TEST_F(SummaryTest, IsTheDefaultAndFitsOnAScreen) {
  const std::string file = softroce("rc-drop-requests.rx.pcap");
  const Outcome explicitly = run({"summary", file});
  const Outcome silently = run({file});
  EXPECT_EQ(silently.exit_code, 0);
  EXPECT_EQ(silently.out, explicitly.out);
  EXPECT_LE(lines(silently.out).size(), 40U);
  // The headline is above everything that explains it.
  EXPECT_LT(silently.out.find("connection lost packets"), silently.out.find("request_lost_before"));
  EXPECT_THAT(silently.out, Not(HasSubstr("\033[")));
  EXPECT_THAT(run({"--colour", "always", file}).out, HasSubstr("\033[1;31m"));
}

TEST_F(SummaryTest, MistakesOnTheCommandLine) {
  EXPECT_EQ(run({}).exit_code, 2);
  EXPECT_EQ(run({"summary"}).exit_code, 2);
  const Outcome typo = run({"sumary", softroce("ud-mix.tx.pcap")});
  EXPECT_EQ(typo.exit_code, 2);
  EXPECT_THAT(typo.err, HasSubstr("did you mean summary?"));
  EXPECT_EQ(run({"summary", "--from", "yesterday", softroce("ud-mix.tx.pcap")}).exit_code, 2);
}

TEST_F(SummaryTest, InputsThatCannotBeRead) {
  const Outcome missing = run({path("missing.pcap")});
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_THAT(missing.err, HasSubstr("missing.pcap"));
  EXPECT_EQ(missing.out, "");
  EXPECT_EQ(run({save("text", "not a capture at all")}).exit_code, 1);
  EXPECT_EQ(run({save("nothing", "")}).exit_code, 1);

  // The other file is judged nevertheless.
  const Outcome mixed = run({"summary", "--json", path("missing.pcap"), softroce("rc-drop-requests.rx.pcap")});
  EXPECT_EQ(mixed.exit_code, 1);
  EXPECT_EQ(json::parse(mixed.out)["capture"]["frames"], 170);
}

TEST_F(SummaryTest, CapturesWithNothingToJudge) {
  const Outcome empty = run({save_frames("empty.pcapng", {})});
  EXPECT_EQ(empty.exit_code, 0);
  EXPECT_THAT(empty.out, HasSubstr("there are no packets to judge"));
  const Outcome other = run({save_frames("arp.pcapng", {std::string{kArp}, std::string{kLldp}})});
  EXPECT_EQ(other.exit_code, 0);
  EXPECT_THAT(other.out, HasSubstr("there are no RoCE packets to judge"));
  EXPECT_EQ(summary({path("arp.pcapng")})["clean"], false);
}

TEST_F(SummaryTest, DamagedCaptureIsJudgedAsFarAsItCanBeRead) {
  const std::string whole = load(softroce("rc-drop-requests.rx.pcap"));
  const std::string cut = save("cut.pcap", whole.substr(0, whole.size() / 2));
  const Outcome outcome = run({"summary", "--json", cut});
  const json found = json::parse(outcome.out);
  EXPECT_GT(found["capture"]["roce_packets"], 30);
  EXPECT_FALSE(found["capture"]["lacks"].empty());
  EXPECT_NE(outcome.err, "");

  std::string broken = load(save_part("whole.pcapng", softroce("rc-drop-requests.rx.pcap"), 1, 170));
  broken.replace(broken.size() / 2, 4000, 4000, '\xFF');
  const Outcome stopped = run({save("broken.pcapng", broken)});
  EXPECT_EQ(stopped.exit_code, 1);
  EXPECT_THAT(stopped.out, HasSubstr("RoCE packets"));
}

TEST_F(SummaryTest, SameFileTwiceCountsOnce) {
  const std::string file = softroce("rc-drop-requests.rx.pcap");
  const Outcome twice = run({"summary", "--json", file, file});
  EXPECT_EQ(json::parse(twice.out)["capture"]["frames"], 170);
  EXPECT_NE(twice.err, "");
}

TEST_F(SummaryTest, PiecesAreJudgedAsOne) {
  const std::string file = softroce("rc-drop-requests.rx.pcap");
  json whole = summary({file});
  // Frames are counted within their file.
  const auto take_first = [](json& summary, std::string_view key) {
    for (json& finding : summary["findings"]) finding.erase(std::string{key});
  };
  for (const std::string_view key : {"file", "first_frame"}) take_first(whole, key);
  for (const std::uint64_t cut : {1U, 37U, 80U, 81U, 169U}) {
    SCOPED_TRACE(cut);
    json pieces = summary({save_part("1.pcapng", file, 1, cut), save_part("2.pcapng", file, cut + 1, 170)});
    for (json& stream : pieces["worst_streams"]) EXPECT_EQ(std::exchange(stream["point"], "rc-drop-requests.rx"), "1");
    const json& first = pieces["findings"][0];
    EXPECT_EQ(first["first_frame"], cut < 22 ? 22 - cut : 22);
    EXPECT_THAT(first["file"].get<std::string>(), ::testing::EndsWith(cut < 22 ? "2.pcapng" : "1.pcapng"));
    for (const std::string_view key : {"file", "first_frame"}) take_first(pieces, key);
    EXPECT_EQ(pieces["findings"], whole["findings"]);
    EXPECT_EQ(pieces["statements"], whole["statements"]);
    EXPECT_EQ(pieces["worst_streams"], whole["worst_streams"]);
    EXPECT_EQ(pieces["capture"]["files"].size(), 2U);
  }
}

TEST_F(SummaryTest, EventsOfPiecesCutAnywhereAreThoseOfTheWhole) {
  std::mt19937_64 random{20261121};
  for (const char* const name :
       {"rc-drop-random.rx.pcap", "rc-drop-random.tx.pcap", "rc-drop-read-middle.rx.pcap", "rc-reorder.rx.pcap",
        "rc-drop-responses.tx.pcap", "rc-psn-wrap.rx.pcap", "rc-duplicate.rx.pcap", "rc-corrupt.rx.pcap"}) {
    SCOPED_TRACE(name);
    const std::string file = softroce(name);
    const std::vector<json> whole = events({file}, {{file, 1}});
    ASSERT_FALSE(whole.empty());
    const std::uint64_t frames = summary({file})["capture"]["frames"];
    for (int round = 0; round < 6; ++round) {
      std::set<std::uint64_t> ends{frames};
      while (ends.size() < 2 + random() % 4) ends.insert(1 + random() % (frames - 1));
      std::vector<std::string> pieces;
      std::map<std::string, std::uint64_t> first;
      std::uint64_t from = 1;
      for (const std::uint64_t end : ends) {
        pieces.push_back(save_part(std::to_string(from) + ".pcapng", file, from, end));
        first[pieces.back()] = from;
        from = end + 1;
      }
      SCOPED_TRACE(testing::PrintToString(ends));
      EXPECT_EQ(events(pieces, first), whole);
    }
  }
}

TEST_F(SummaryTest, AdviceDependsOnWhatWasFound) {
  const auto advice = [&](const std::string& name) {
    const json all = summary({softroce(name)});
    for (const json& finding : all["findings"]) {
      if (finding["verdict"] == "retransmission") return finding["advice"].get<std::string>();
    }
    return std::string{};
  };
  EXPECT_THAT(advice("rc-drop-requests.rx.pcap"), HasSubstr("before the NAKs"));
  EXPECT_THAT(advice("rc-rnr.tx.pcap"), HasSubstr("post receives sooner"));
  EXPECT_THAT(advice("rc-blackhole.tx.pcap"), HasSubstr("nothing answered in time"));
}

TEST_F(SummaryTest, WindowOfTime) {
  const std::string file = softroce("rc-drop-requests.rx.pcap");
  const json part = summary({"--from", "0.1", "--to", "0.3", file});
  EXPECT_GT(part["capture"]["outside_window"], 0);
  EXPECT_EQ(part["capture"]["outside_window"].get<int>() + part["capture"]["frames"].get<int>(), 170);
}

TEST_F(SummaryTest, SampleSaysThatItIsOne) {
  // 1,200,000 frames, all of them the same frame of the capture: more than a sample holds.
  auto reader = link::CaptureReader::open(softroce("ud-mix.tx.pcap"));
  auto writer = link::CaptureWriter::create(path("long.pcapng"));
  ASSERT_TRUE(reader.has_value() && writer.has_value());
  link::CaptureRecord record;
  ASSERT_TRUE(reader->next(record));
  for (int i = 0; i < 1'200'000; ++i) ASSERT_TRUE(writer->write(record).has_value());
  ASSERT_TRUE(writer->close().has_value());
  const json sample = summary({"--quick", path("long.pcapng")});
  EXPECT_EQ(sample["capture"]["frames"], 1'000'000);
  EXPECT_EQ(sample["sample"]["frames"], 1'000'000);
  EXPECT_EQ(sample["sample"]["of_bytes"], std::filesystem::file_size(path("long.pcapng")));
  const double share = sample["sample"]["bytes"].get<double>() / sample["sample"]["of_bytes"].get<double>();
  EXPECT_NEAR(share, 10.0 / 12, 0.001);
  EXPECT_THAT(run({"summary", "--quick", path("long.pcapng")}).out,
              HasSubstr("a sample: only the first 1.00 M frames, 83.3 %"));
  EXPECT_FALSE(summary({path("long.pcapng")}).contains("sample"));
  // A file that ends before the limit is not a sample.
  EXPECT_FALSE(summary({"--quick", softroce("ud-mix.tx.pcap")}).contains("sample"));
}

TEST_F(SummaryTest, SaysWhatTheCaptureLost) {
  const json lossy = summary({save_part("drops.pcapng", softroce("rc-mix-v4.tx.pcap"), 1, 100, true)});
  const json file = lossy["capture"]["files"][0];
  EXPECT_EQ(file["dropped_interface"], 5);
  EXPECT_EQ(file["dropped_between"], 7);
  EXPECT_THAT(lossy["capture"]["lacks"].dump(), HasSubstr("5 by the interface, 7 between its packets"));
}

TEST_F(SummaryTest, NamesStandForAddresses) {
  const std::string names = save("names", "10.77.0.2 node2 rank 7\n");
  EXPECT_THAT(run({"--names", names, softroce("rc-mix-v4.tx.pcap")}).out, HasSubstr("node2 rank 7"));
  EXPECT_EQ(run({"--names", path("missing"), softroce("rc-mix-v4.tx.pcap")}).exit_code, 1);
}

TEST_F(SummaryTest, NamesOfQpsStandBesideTheirNumbers) {
  const std::string capture = softroce("rc-mix-v4.tx.pcap");
  const json before = summary({capture})["worst_streams"][0]["ends"];
  const auto own = before[0]["qp"].get<std::uint32_t>();
  const auto peer = before[1]["qp"].get<std::uint32_t>();
  const std::string list =
      before[0]["address"].get<std::string>() + '=' +
      save("list", fmt::format(R"([{{"lqpn":{},"pid":7,"comm":"trainer","ifname":"mlx5_0"}}])", own));
  const std::string lines =
      save("lines", fmt::format("{0} node2\n{0} qp {1} rank 4\n", before[1]["address"].get<std::string>(), peer));
  const json ends = summary({"--names", list, "--names", lines, capture})["worst_streams"][0]["ends"];
  EXPECT_EQ(ends[0]["qp_name"], "trainer pid 7 mlx5_0");
  EXPECT_FALSE(ends[0].contains("name"));
  EXPECT_EQ(ends[1]["name"], "node2");
  EXPECT_EQ(ends[1]["qp_name"], "rank 4");
  EXPECT_THAT(run({"--names", list, "--names", lines, capture}).out,
              HasSubstr(fmt::format(" trainer pid 7 mlx5_0 {:#x} ↔ node2 rank 4 {:#x}", own, peer)));
}

TEST_F(SummaryTest, OnlyWhatWasAskedFor) {
  // Two connections that lost packets, and one that did not.
  const std::vector<std::string> files{softroce("rc-drop-random.tx.pcap"), softroce("rc-drop-requests.tx.pcap"),
                                       softroce("cm-rping.tx.pcap")};
  const auto asked_for = [&](std::vector<std::string> options) {
    options.insert(options.end(), files.begin(), files.end());
    return summary(std::move(options));
  };
  const json all = asked_for({});
  EXPECT_FALSE(all.contains("streams_passed_over"));
  for (const json& stream : all["worst_streams"]) {
    SCOPED_TRACE(stream["stream"]);
    // Two ways to ask for the same stream.
    const std::string number = std::to_string(stream["stream"].get<int>());
    const json one = asked_for({"--stream", number});
    EXPECT_EQ(asked_for({"-Y", "roce.analysis.stream == " + number}), one);
    EXPECT_EQ(one["worst_streams"], json::array({stream}));
    EXPECT_EQ(one["streams_passed_over"], all["worst_streams"].size() - 1);
    EXPECT_EQ(one["lost"], stream["lost"]);
    json counted = json::object();
    for (const json& finding : one["findings"]) counted[finding["verdict"].get<std::string>()] = finding["count"];
    EXPECT_EQ(counted, stream["verdicts"]);
  }
  const json repeated = asked_for({"-Y", "roce.analysis.retransmission"});
  EXPECT_EQ(repeated["worst_streams"].size(), 2U);
  EXPECT_EQ(repeated["lost"], all["lost"]);
  EXPECT_THAT(run({"-Y", "roce.analysis.retransmission", files[0], files[2]}).out,
              HasSubstr("asked for: 1 of 4 streams"));
  const Outcome nothing = run({"-Y", "bth.psn == 3 and bth.psn == 4", files[0]});
  EXPECT_EQ(nothing.exit_code, 0);
  EXPECT_EQ(nothing.out, "");
  EXPECT_THAT(nothing.err, HasSubstr("nothing matches"));
  EXPECT_EQ(run({"--stream", "0", "--after", files[0], files[1]}).exit_code, 2);
}

TEST_F(SummaryTest, DatagramsThatWereNotSeenAreTold) {
  const std::string whole = softroce("ud-mix.tx.pcap");
  EXPECT_THAT(run({whole}).out, Not(HasSubstr("not seen")));
  const std::string lacking = path("lacking.pcapng");
  ASSERT_EQ(run({"extract", "-Y", "frame.number != 20 and frame.number != 30", "-o", lacking, whole}).exit_code, 0);
  EXPECT_THAT(run({lacking}).out,
              HasSubstr("2 datagrams of 2 sending QPs were not seen: lost before the capture point, "
                        "missed by the capture, or sent to others"));
}

TEST_F(SummaryTest, OutputThatCannotBeWritten) {
  const Outcome full = run({softroce("rc-mix-v4.tx.pcap")}, {}, "/dev/full");
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_THAT(full.err, HasSubstr("cannot write"));
}

}  // namespace
}  // namespace roce::analyze::test
