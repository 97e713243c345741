// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"
#include "page/page.h"
#include "roce/wire/packet_spec.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, std::istreambuf_iterator<char>{}};
}

std::uint64_t sum_of(const json& values) {
  std::uint64_t sum = 0;
  for (const json& value : values.is_object() ? values["of"] : values) sum += value.get<std::uint64_t>();
  return sum;
}

std::uint64_t highest_of(const json& values) {
  std::uint64_t highest = 0;
  for (const json& value : values.is_object() ? values["of"] : values) {
    highest = std::max(highest, value.get<std::uint64_t>());
  }
  return highest;
}

/// Returns a SEND to a queue pair as hex. `ecn`: 2 may be marked, 3 is.
std::string send_frame(unsigned dest_qp, unsigned psn, unsigned ecn) {
  PacketSpec spec = PacketSpec::for_opcode(*opcode_from_name("RC_SEND_ONLY"), RoceVersion::v2_ipv4);
  for (const auto& [name, value] : {std::pair<std::string_view, std::string>{"ip.src", "192.0.2.9"},
                                    {"ip.dst", "192.0.2.1"},
                                    {"ip.ecn", std::to_string(ecn)},
                                    {"bth.dest_qp", std::to_string(dest_qp)},
                                    {"bth.psn", std::to_string(psn)}}) {
    EXPECT_TRUE(spec.set(name, value).has_value()) << name;
  }
  return roce::test::to_hex(spec.build().value());
}

class Report : public ProgramTest {
 protected:
  void SetUp() override {
    ProgramTest::SetUp();
    if (page::why_unavailable()) GTEST_SKIP() << *page::why_unavailable();
  }

  /// Returns the data of the page about a capture.
  [[nodiscard]] json data(std::vector<std::string> arguments) {
    const std::string file = path("page.html");
    arguments.insert(arguments.begin(), {"summary", "--report", file});
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    page_ = text_of(file);
    const std::string_view open = R"(<script type="application/json" id="data">)";
    const std::size_t begin = page_.find(open) + open.size();
    return json::parse(page_.substr(begin, page_.find("</script>", begin) - begin));
  }
  [[nodiscard]] json summary(const std::string& file) { return json::parse(run({"summary", "--json", file}).out); }

  std::string page_;
};

TEST_F(Report, HasTheNumbersOfSummaryAndStreams) {
  for (const char* name : {"rc-drop-requests.tx.pcap", "rc-ecn-ce.rx.pcap", "rc-rnr.tx.pcap", "rc-drop-random.rx.pcap",
                           "rc-drop-read-middle.rx.pcap", "ud-mix.tx.pcap", "rc-corrupt.rx.pcap"}) {
    SCOPED_TRACE(name);
    const json shown = data({softroce(name)});
    const json told = summary(softroce(name));
    EXPECT_EQ(shown["summary"], told);
    std::map<std::string, std::uint64_t> totals;
    for (const json& series : shown["timeline"]["series"]) {
      totals[series["name"]] = series["total"];
      for (const json& level : series["levels"]) {
        if (!level.contains("sum")) continue;
        EXPECT_EQ(sum_of(level["sum"]), series["total"]) << series["name"];
      }
    }
    std::map<std::string, std::uint64_t> found;
    for (const json& finding : told["findings"]) found[finding["verdict"]] = finding["count"];
    EXPECT_EQ(totals["resent"], found["retransmission"]);
    EXPECT_EQ(totals["ce"], found["ce_mark"]);
    EXPECT_EQ(totals["cnp"], found["cnp"]);
    EXPECT_EQ(totals["rnr"], found["rnr_nak"]);
    EXPECT_EQ(totals["lost"], told["lost"]["before"].get<std::uint64_t>() + told["lost"]["after"].get<std::uint64_t>() +
                                  told["lost"]["beyond"].get<std::uint64_t>());
  }
}

TEST_F(Report, HasTheRowsOfStreams) {
  const std::string file = softroce("rc-mix-v4.tx.pcap");
  const json streams = data({file})["streams"];
  const std::vector<std::string> told = lines(run({"streams", "--json", file}).out);
  ASSERT_EQ(streams["rows"].size(), told.size());
  for (std::size_t i = 0; i < told.size(); ++i) {
    const json stream = json::parse(told[i]);
    json row;
    for (std::size_t c = 0; c < streams["columns"].size(); ++c) row[streams["columns"][c]] = streams["rows"][i][c];
    EXPECT_EQ(row["stream"], stream["stream"]);
    EXPECT_EQ(row["duration_ns"], stream["duration_ns"]);
    EXPECT_EQ(row["goodput"], stream["goodput_bits_per_second"]);
    EXPECT_EQ(row["p99_ns"], stream["latency"]["p99_ns"]);
    EXPECT_EQ(row["max_ns"], stream["latency"]["max_ns"]);
    EXPECT_EQ(row["lost_before"], stream["lost"]["before"]);
    EXPECT_EQ(row["packets"].get<std::uint64_t>(), stream["directions"][0]["packets"].get<std::uint64_t>() +
                                                       stream["directions"][1]["packets"].get<std::uint64_t>());
  }
}

TEST_F(Report, HasTheLatenciesOfTheCommand) {
  const std::string file = softroce("rc-mix-v4.tx.pcap");
  std::map<std::string, json> told;
  for (const std::string& line : lines(run({"latency", "--json", file}).out)) {
    const json row = json::parse(line);
    if (row["type"] != "all") told[row["type"]] = row;
  }
  const json shown = data({file})["latency"]["curves"];
  ASSERT_EQ(shown.size(), told.size());
  for (const json& curve : shown) {
    const json& row = told[curve["type"]];
    for (const auto& [here, there] : std::map<std::string, std::string>{
             {"count", "count"}, {"p50_ns", "p50_ns"}, {"p99_ns", "p99_ns"}, {"max_ns", "max_ns"}}) {
      EXPECT_EQ(curve["latency"][here], row[there]) << curve["type"] << " " << here;
    }
    EXPECT_EQ(curve["ns"].back(), row["max_ns"]);
    EXPECT_TRUE(std::is_sorted(curve["ns"].begin(), curve["ns"].end()));
  }
}

TEST_F(Report, DividesTheTimeAsWaitsDoes) {
  std::set<std::string> seen;
  for (const char* name :
       {"rc-drop-requests.tx.pcap", "rc-ecn-ce.rx.pcap", "rc-rnr.tx.pcap", "rc-drop-random.rx.pcap",
        "rc-drop-read-middle.rx.pcap", "rc-mix-v4.tx.pcap", "rc-timeout.tx.pcap", "rc-blackhole.tx.pcap"}) {
    SCOPED_TRACE(name);
    std::map<std::string, std::uint64_t> told;
    std::uint64_t most = 0;
    std::uint64_t requesters = 0;
    for (const std::string& line : lines(run({"waits", "--json", softroce(name)}).out)) {
      const json row = json::parse(line);
      if (!row.contains("waits")) continue;
      ++requesters;
      most = std::max(most, row["most_under_way"].get<std::uint64_t>());
      for (const auto& [wait, time] : row["waits"].items()) told[wait] += time["time_ns"].get<std::uint64_t>();
    }
    const json shown = data({softroce(name)});
    EXPECT_EQ(shown["timeline"]["waits_left_out"], 0);
    for (const json& series : shown["timeline"]["series"]) {
      const std::string called = series["name"];
      if (called == "under_way") {
        // Several together have as much under way as the one that has most, and no more than each could have.
        EXPECT_GE(series["total"], most);
        EXPECT_LE(series["total"], most * requesters);
        EXPECT_EQ(highest_of(series["levels"][0]["high"]), series["total"]);
      }
      if (!called.starts_with("wait_")) continue;
      const std::string wait = called.substr(5);
      seen.insert(wait);
      EXPECT_EQ(series["total"], told[wait]) << wait;
      for (const json& level : series["levels"]) EXPECT_EQ(sum_of(level["sum"]), told[wait]) << wait;
      told.erase(wait);
    }
    for (const auto& [wait, time] : told) EXPECT_EQ(time, 0U) << wait;
  }
  EXPECT_GE(seen.size(), 5U);
}

TEST_F(Report, DrawsWhatTheWorstConnectionsHaveUnderWay) {
  const std::string file = softroce("rc-drop-requests.tx.pcap");
  std::map<std::pair<std::uint64_t, std::string>, std::uint64_t> told;
  for (const std::string& line : lines(run({"waits", "--json", file}).out)) {
    const json row = json::parse(line);
    if (row.contains("waits")) told[{row["stream"], row["source"]}] = row["most_under_way"];
  }
  const json graphs = data({file})["psn"]["graphs"];
  std::size_t curves = 0;
  for (const json& graph : graphs) {
    for (std::size_t requester = 0; requester < 2; ++requester) {
      const json& curve = graph["under_way"][requester];
      if (curve.is_null()) continue;
      ++curves;
      EXPECT_EQ(highest_of(curve["high"]), (told[{graph["stream"], graph["hosts"][requester]}]));
      EXPECT_EQ(curve["low"].size(), curve["high"].size());
    }
  }
  EXPECT_EQ(curves, told.size());
}

TEST_F(Report, DrawsEachPacketOfAShortConnectionByItsPsn) {
  const std::string file = softroce("rc-drop-requests.tx.pcap");
  const json psn = data({file})["psn"];
  const json& points = psn["graphs"][0]["points"];
  std::map<std::uint64_t, std::string> kind_of;
  for (std::size_t i = 0; i < points["frame"].size(); ++i) {
    kind_of[points["frame"][i]] = psn["kinds"][points["kind"][i].get<std::size_t>()];
  }
  EXPECT_EQ(psn["graphs"][0]["packets"], summary(file)["capture"]["roce_packets"]);
  EXPECT_EQ(points["frame"].size(), psn["graphs"][0]["packets"]);
  std::size_t again = 0;
  for (const std::string& line : lines(run({"events", "--json", file}).out)) {
    const json event = json::parse(line);
    const std::string drawn = kind_of[event["frame"]];
    const std::map<std::string, std::string> expected{{"nak_sequence_error", "nak"}, {"request_lost_after", "lost"}};
    const auto found = expected.find(event["verdict"]);
    if (found != expected.end()) {
      EXPECT_EQ(drawn, found->second);
    }
    if (event["verdict"] != "retransmission") continue;
    ++again;
    EXPECT_THAT(drawn, ::testing::AnyOf("sent_again", "lost"));
  }
  EXPECT_GT(again, 0U);
}

TEST_F(Report, IsTheSameFromAThreadOfItsOwn) {
  const std::string incast = roce::test::captures_folder() + "/fabric/incast.pcapng.gz";
  std::vector<std::string> frames;
  for (unsigned i = 0; i < 50'000; ++i)
    frames.push_back(send_frame(0x1000 + i % 50, i / 50 + (i % 977 == 0 ? 1 : 0), i % 4));
  for (const std::string& file : {incast, softroce("rc-drop-random.tx.pcap"), save_frames("many.pcapng", frames)}) {
    SCOPED_TRACE(file);
    EXPECT_EQ(data({"--threads", "1", file}), data({"--threads", "2", file}));
  }
}

TEST_F(Report, SaysWherePacketsOfAConnectionAreNotDrawn) {
  EXPECT_TRUE(data({softroce("rc-drop-requests.tx.pcap")})["psn"]["graphs"][0]["breaks"].empty());
  std::vector<std::string> frames;
  for (unsigned i = 0; i < 20'000; ++i) frames.push_back(send_frame(0x11, i, 0));
  const json graph = data({save_frames("many.pcapng", frames)})["psn"]["graphs"][0];
  std::uint64_t left_out = 0;
  for (const json& each : graph["breaks"]) {
    EXPECT_LE(each[0], each[1]);
    left_out += each[2].get<std::uint64_t>();
  }
  EXPECT_GT(left_out, 0U);
  EXPECT_EQ(graph["points"]["time"].size() + left_out, graph["packets"]);
}

TEST_F(Report, DrawsWhatWasNeverSeenWhereItIsMissing) {
  const std::string file = softroce("rc-drop-requests.rx.pcap");
  const json shown = data({file});
  const json& points = shown["psn"]["graphs"][0]["points"];
  std::uint64_t lost = 0;
  for (std::size_t i = 0; i < points["kind"].size(); ++i) {
    if (shown["psn"]["kinds"][points["kind"][i].get<std::size_t>()] != "lost_unseen") continue;
    lost += points["count"][i].get<std::uint64_t>();
    // Something with a later PSN was seen before it was sent again, so the missing one is inside what was drawn.
    EXPECT_GE(points["psn"][i], 0);
    EXPECT_LT(points["psn"][i], 200);
  }
  EXPECT_EQ(lost, shown["summary"]["lost"]["before"]);
}

TEST_F(Report, ListsTheSlowestMessagesAsMessagesDoes) {
  for (const char* name :
       {"rc-drop-requests.tx.pcap", "rc-mix-v4.tx.pcap", "rc-drop-read-middle.rx.pcap", "rc-rnr.tx.pcap"}) {
    SCOPED_TRACE(name);
    const json shown = data({softroce(name)});
    const std::vector<std::string> told = lines(run({"messages", "--top", "20", "--json", softroce(name)}).out);
    ASSERT_EQ(shown["slowest"].size(), told.size());
    ASSERT_FALSE(told.empty());
    for (std::size_t i = 0; i < told.size(); ++i) {
      const json& slow = shown["slowest"][i];
      const json& message = slow["message"];
      EXPECT_EQ(message, json::parse(told[i]));
      const std::vector<std::uint64_t> frames = slow["points"]["frame"];
      EXPECT_THAT(frames, Contains(message["first_frame"].get<std::uint64_t>()));
      EXPECT_THAT(frames, Contains(message["answer_frame"].get<std::uint64_t>()));
      EXPECT_EQ(frames.front(), message["first_frame"]);
      EXPECT_LE(frames.size(), 60U);
      EXPECT_TRUE(std::is_sorted(slow["points"]["time"].begin(), slow["points"]["time"].end()));
      // Each of its packets that was sent again is in its story.
      std::uint64_t again = 0;
      for (std::size_t k = 0; k < frames.size(); ++k) {
        const std::string kind = shown["psn"]["kinds"][slow["points"]["kind"][k].get<std::size_t>()];
        const std::int64_t psn = slow["points"]["psn"][k].get<std::int64_t>() - slow["first_psn"].get<std::int64_t>();
        const bool is_own = psn >= 0 && psn < message["psn_count"].get<std::int64_t>();
        if (is_own && (kind == "sent_again" || (kind == "lost" && frames[k] != message["first_frame"]))) ++again;
      }
      if (slow["breaks"].empty()) {
        EXPECT_GE(again, message["resent"]);
      }
    }
  }
}

TEST_F(Report, HasTheCongestionOfStreams) {
  for (const std::string& file :
       {softroce("rc-ecn-ce.rx.pcap"), roce::test::captures_folder() + "/made/opcodes-v2-ipv4.pcapng",
        softroce("rc-mix-v4.tx.pcap")}) {
    SCOPED_TRACE(file);
    std::map<std::pair<std::uint64_t, std::uint64_t>, json> told;
    for (const std::string& line : lines(run({"streams", "--json", file}).out)) {
      const json stream = json::parse(line);
      for (const json& each : stream["congestion"]) told[{stream["stream"], each["direction"]}] = each;
    }
    const json shown = data({file})["congestion"];
    EXPECT_EQ(shown["left_out"], 0);
    ASSERT_EQ(shown["rows"].size(), told.size());
    for (const json& row : shown["rows"]) {
      EXPECT_EQ(row["congestion"], (told[{row["stream"], row["congestion"]["direction"]}]));
      ASSERT_FALSE(row["curve"].is_null());
      EXPECT_EQ(sum_of(row["curve"]["marks"]), row["congestion"]["marks"]);
      EXPECT_EQ(sum_of(row["curve"]["cnps"]), row["congestion"]["cnps"]);
      EXPECT_EQ(row["fit"].is_null() ? json(0) : row["fit"]["cnps"], row["congestion"]["cnps"]);
    }
  }
}

TEST_F(Report, DrawsTheMostCongestedOfThoseThatWereFollowed) {
  constexpr unsigned kRoom = 4'096;
  std::vector<std::string> frames;
  for (unsigned i = 0; i < kRoom; ++i) frames.push_back(send_frame(0x1000 + i, 1, i == 0 ? 3 : 2));
  for (unsigned i = 0; i < 10; ++i) {
    for (const unsigned psn : {1U, 2U}) frames.push_back(send_frame(0x1000 + kRoom + i, psn, 3));
  }
  const json shown = data({save_frames("many.pcapng", frames)})["congestion"];
  ASSERT_EQ(shown["rows"].size(), 11U);
  EXPECT_EQ(shown["without_curve"], 10);
  EXPECT_TRUE(shown["rows"][0]["curve"].is_null());
  EXPECT_EQ(sum_of(shown["rows"][10]["curve"]["marks"]), 1U);
}

TEST_F(Report, ShowsWhatIsUnderWayUntilTheEnd) {
  std::vector<std::string> frames{send_frame(0x11, 1, 0)};
  for (unsigned i = 0; i < 199; ++i) frames.push_back(send_frame(0x22, i, 0));
  const json shown = data({save_frames("stalled.pcapng", frames)})["psn"]["graphs"];
  ASSERT_EQ(shown.size(), 2U);
  for (const json& graph : shown) {
    const json& curve = graph["under_way"][0];
    EXPECT_GE(curve["start_ns"].get<std::uint64_t>() + curve["width_ns"].get<std::uint64_t>() * curve["high"].size(),
              199'000U);
    EXPECT_NE(curve["high"].back(), 0);
  }
}

TEST_F(Report, ShowsHowFlowsSpreadAndWhoSendsAtOnce) {
  const std::string incast = roce::test::captures_folder() + "/fabric/incast.pcapng.gz";
  for (const std::string& file :
       {incast, softroce("rc-mix-v4.tx.pcap"), softroce("ud-mix.tx.pcap"), softroce("rc-drop-random.rx.pcap"),
        softroce("rc-drop-random.tx.pcap"), softroce("rc-drop-responses.rx.pcap")}) {
    SCOPED_TRACE(file);
    std::map<std::string, json> tables;
    const json shown_tables = data({file})["tables"];
    for (const json& table : shown_tables) tables[table["id"]] = table;
    const auto cells = [&](const std::string& table, const json& row) {
      std::map<std::string, json> named;
      for (std::size_t i = 0; i < row.size(); ++i) named[tables[table]["columns"][i]] = row[i];
      return named;
    };
    std::map<std::string, json> paths;
    for (const std::string& line : lines(run({"paths", "--json", file}).out)) {
      const json path = json::parse(line);
      if (path.contains("source"))
        paths[path["source"].get<std::string>() + path["destination"].get<std::string>()] = path;
    }
    ASSERT_EQ(tables["paths"]["rows"].size(), paths.size());
    for (const json& row : tables["paths"]["rows"]) {
      auto shown = cells("paths", row);
      const json told = paths[shown["from"].get<std::string>() + shown["to"].get<std::string>()];
      EXPECT_EQ(shown["packets"], told["packets"]);
      EXPECT_EQ(shown["bytes"], told["bytes"]);
      EXPECT_EQ(shown["queue_pairs"], told["queue_pairs"]);
      EXPECT_EQ(shown["source_ports"], told["source_ports"].size());
      EXPECT_EQ(shown["on_4"], told["expected_fullest_share"].value("4", json{}));
    }
    std::map<std::string, json> hosts;
    for (const std::string& line : lines(run({"incast", "--json", file}).out)) {
      const json host = json::parse(line);
      if (host.contains("destination")) hosts[host["destination"]] = host;
    }
    ASSERT_EQ(tables.contains("incast") ? tables["incast"]["rows"].size() : 0U, hosts.size());
    for (const json& row : tables["incast"]["rows"]) {
      auto shown = cells("incast", row);
      const json told = hosts[shown["to"]];
      EXPECT_EQ(shown["senders"], told["senders"].size());
      EXPECT_EQ(shown["at_once"], told["fullest"]["senders"]);
      EXPECT_EQ(shown["at_once_frame"], told["fullest"]["frame"]);
      EXPECT_DOUBLE_EQ(shown["busiest_bps"], told["busiest"]["bits_per_second"]);
      EXPECT_EQ(shown["busiest_frame"], told["busiest"]["frame"]);
      const auto from = [&](unsigned least, const char* what) {
        std::uint64_t sum = 0;
        for (const json& level : told["by_senders_at_once"])
          if (level["senders"] >= least) sum += level[what].get<std::uint64_t>();
        return sum;
      };
      const auto all = static_cast<double>(from(1, "bytes"));
      EXPECT_DOUBLE_EQ(shown["of_2_or_more"], static_cast<double>(from(2, "bytes")) / all);
      EXPECT_DOUBLE_EQ(shown["of_4_or_more"], static_cast<double>(from(4, "bytes")) / all);
      EXPECT_EQ(shown["marked_of_2_or_more"], from(2, "marked"));
      EXPECT_EQ(shown["lost"], from(1, "lost"));
      EXPECT_EQ(shown["lost_of_2_or_more"], from(2, "lost"));
    }
  }
}

TEST_F(Report, AddsUpWhatHostsSent) {
  const std::string file = softroce("rc-mix-v4.tx.pcap");
  const json hosts = data({file})["hosts"];
  std::uint64_t bytes = 0;
  for (const json& pair : hosts["pairs"]) {
    bytes += pair["bytes"].get<std::uint64_t>();
    EXPECT_NE(pair["from"], pair["to"]);
  }
  std::uint64_t told = 0;
  for (const std::string& line : lines(run({"streams", "--json", file}).out)) {
    const json stream = json::parse(line);
    for (const json& direction : stream["directions"]) told += direction["bytes"].get<std::uint64_t>();
  }
  EXPECT_EQ(bytes, told);
}

TEST_F(Report, HostileNamesStayText) {
  const std::string names = path("names.txt");
  std::ofstream{names} << "10.77.0.0/16 </script><script>alert(1)</script>\xE2\x80\xA8<!--\n";
  const std::string plain_page = (static_cast<void>(data({softroce("rc-mix-v4.tx.pcap")})), page_);
  const json shown = data({"--names", names, softroce("rc-mix-v4.tx.pcap")});
  EXPECT_THAT(page_, Not(HasSubstr("alert(1)</script>")));
  const auto count = [](std::string_view text, std::string_view what) {
    std::size_t found = 0;
    for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
    return found;
  };
  for (const char* what : {"<script", "</script", "<!--", "\xE2\x80\xA8"})
    EXPECT_EQ(count(page_, what), count(plain_page, what)) << what;
}

TEST_F(Report, SaysThatThereIsNoRoce) {
  const std::string file = save_frames("empty.pcap", {});
  const json shown = data({file});
  EXPECT_EQ(shown["summary"]["verdict"], "there are no packets to judge");
  EXPECT_EQ(shown["streams"]["rows"].size(), 0U);
}

TEST_F(Report, LeavesNoFileWhereItCannotWrite) {
  const Outcome outcome = run({"summary", "--report", path("missing/page.html"), softroce("rc-mix-v4.tx.pcap")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(lines(outcome.err).size(), 1U) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  const Outcome full = run({"summary", "--report", "/dev/full", softroce("rc-mix-v4.tx.pcap")});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_EQ(lines(full.err).size(), 1U) << full.err;
}

TEST_F(Report, LeavesNoFileIfThereIsNoCapture) {
  const Outcome outcome = run({"summary", "--report", path("page.html"), path("missing.pcap")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("page.html")));
  EXPECT_FALSE(std::filesystem::exists(path("page.html.partial")));
}

TEST_F(Report, RefusesWhatDoesNotGoWithIt) {
  for (const std::vector<std::string>& options :
       {std::vector<std::string>{"-Y", "roce"}, {"--stream", "0"}, {"--carry", path("state")}}) {
    std::vector<std::string> arguments{"summary", "--report", path("page.html"), softroce("rc-mix-v4.tx.pcap")};
    arguments.insert(arguments.end(), options.begin(), options.end());
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(lines(outcome.err).size(), 1U) << outcome.err;
    EXPECT_FALSE(std::filesystem::exists(path("page.html")));
  }
  const std::string capture = path("page.html");
  std::filesystem::copy_file(softroce("rc-mix-v4.tx.pcap"), capture);
  EXPECT_EQ(run({"summary", "--report", capture, capture}).exit_code, 2);
}

TEST_F(Report, RunsNothingButItsOwnScript) {
  static_cast<void>(data({softroce("rc-mix-v4.tx.pcap")}));
  EXPECT_THAT(page_, HasSubstr("default-src 'none'; script-src 'sha256-"));
  EXPECT_THAT(page_, Not(HasSubstr("unsafe")));
  EXPECT_THAT(page_, Not(HasSubstr("src=\"http")));
}

TEST(ReportText, CannotEndItsElement) {
  EXPECT_EQ(page::escape_for_script("\"</script>\xE2\x80\xA8\xE2\x80\xA9<!--\""),
            R"("\u003c/script>\u2028\u2029\u003c!--")");
}

using ReportLeftOut = ProgramTest;

TEST_F(ReportLeftOut, IsSaidInASentence) {
  if (!page::why_unavailable()) return;
  const Outcome outcome = run({"summary", "--report", path("page.html"), softroce("rc-mix-v4.tx.pcap")});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.err, HasSubstr("scripts/setup report"));
  EXPECT_EQ(lines(outcome.err).size(), 1U);
  EXPECT_FALSE(std::filesystem::exists(path("page.html")));
}

}  // namespace
}  // namespace roce::analyze::test
