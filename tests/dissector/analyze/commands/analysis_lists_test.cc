// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "analyze/report/time_bins.h"
#include "analyze/run/event_order.h"
#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"
#include "roce/analysis/verdict.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using nlohmann::ordered_json;
using ::testing::HasSubstr;

class AnalysisListsTest : public ProgramTest {
 protected:
  [[nodiscard]] std::vector<json> rows(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin() + 1, "--json");
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<json> all;
    for (const std::string& line : lines(outcome.out)) all.push_back(json::parse(line));
    return all;
  }

  const std::string drops_ = softroce("rc-drop-requests.rx.pcap");
};

json truth(const std::string& scenario) {
  std::ifstream in(softroce(scenario + ".truth.json"));
  return json::parse(in);
}

TEST_F(AnalysisListsTest, EventsHaveTheAgreedKeysAndTheOrderOfThePackets) {
  const Outcome outcome = run({"events", "--json", drops_});
  const std::vector<std::string> keys{"verdict",  "frame",     "segment",   "stream", "cause",
                                      "spurious", "first_psn", "psn_count", "other",  "elapsed_ns"};
  std::uint64_t frame = 0;
  std::uint64_t number = 0;
  bool has_later = false;
  for (const std::string& line : lines(outcome.out)) {
    const ordered_json event = ordered_json::parse(line);
    std::vector<std::string> found;
    for (const auto& [key, value] : event.items()) found.push_back(key);
    ASSERT_GT(found.size(), keys.size());
    found.resize(keys.size());
    ASSERT_EQ(found, keys);
    EXPECT_GE(event["frame"].get<std::uint64_t>(), frame);
    frame = event["frame"].get<std::uint64_t>();
    EXPECT_EQ(event["event"].get<std::uint64_t>(), ++number);
    has_later = has_later || event["when"] == "retrospective";
  }
  EXPECT_GT(number, 50U);
  EXPECT_TRUE(has_later);
}

TEST_F(AnalysisListsTest, LostRequestsAreThoseThatWereDropped) {
  std::multiset<std::uint32_t> dropped;
  const json run = truth("rc-drop-requests");
  for (const json& event : run["events"]) dropped.insert(event["psn"].get<std::uint32_t>());
  const std::vector<json> events = rows({"events", "--verdict", "request_lost_before", drops_});
  ASSERT_GE(events.size(), 11U);
  for (const json& event : events) {
    EXPECT_GE(dropped.count(event["first_psn"].get<std::uint32_t>()), 1U) << event;
    EXPECT_EQ(event["severity"], "error");
  }
}

TEST_F(AnalysisListsTest, EventsBySeverityAndStream) {
  for (const json& event : rows({"events", "--severity", "error", drops_})) EXPECT_EQ(event["severity"], "error");
  EXPECT_FALSE(rows({"events", "--stream", "0", drops_}).empty());
  const Outcome absent = run({"events", "--json", "--stream", "77", drops_});
  EXPECT_EQ(absent.out, "");
  EXPECT_EQ(absent.exit_code, 2);
  EXPECT_THAT(absent.err, HasSubstr("there is no stream 77: there are "));
  EXPECT_EQ(run({"events", "--verdict", "sunspots", drops_}).exit_code, 2);
}

TEST_F(AnalysisListsTest, FilterOverImmediateAndLaterFacts) {
  const std::vector<json> all = rows({"events", drops_});
  const auto frames_with = [&](const std::string& verdict) {
    std::set<std::uint64_t> frames;
    for (const json& event : all) {
      if (event["verdict"] == verdict) frames.insert(event["frame"].get<std::uint64_t>());
    }
    return frames;
  };
  for (const std::string verdict : {"retransmission", "request_lost_before", "nak_sequence_error"}) {
    SCOPED_TRACE(verdict);
    const std::set<std::uint64_t> expected = frames_with(verdict);
    std::set<std::uint64_t> found;
    for (const json& event : rows({"events", "-Y", "roce.analysis." + verdict, drops_})) {
      found.insert(event["frame"].get<std::uint64_t>());
    }
    EXPECT_FALSE(expected.empty());
    EXPECT_EQ(found, expected);
    EXPECT_EQ(rows({"events", "-Y", "roce.analysis.verdict == \"" + verdict + "\"", drops_}).size(),
              rows({"events", "-Y", "roce.analysis." + verdict, drops_}).size());
  }
  // A field of the packet itself in one filter with a field of the analysis.
  for (const json& event : rows({"events", "-Y", "roce.analysis.role == response and aeth", drops_})) {
    EXPECT_EQ(event["verdict"], "nak_sequence_error");
  }
  const Outcome wrong = run({"events", "-Y", "roce.analysis.retransmision", drops_});
  EXPECT_EQ(wrong.exit_code, 2);
  EXPECT_THAT(wrong.err, HasSubstr("roce.analysis.retransmission"));
}

TEST_F(AnalysisListsTest, WhatIsKnownLaterCannotBeAskedOfAPipe) {
  const std::string capture = load(drops_);
  EXPECT_EQ(run({"events", "-Y", "roce.analysis.retransmission", "-"}, capture).exit_code, 0);
  const std::string fifo = path("fifo");
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const Outcome later = run({"events", "-Y", "roce.analysis.request_lost_before", fifo});
  EXPECT_EQ(later.exit_code, 2);
  EXPECT_THAT(later.err, HasSubstr("read twice"));
}

TEST_F(AnalysisListsTest, StreamsSortedAndCut) {
  const std::vector<json> streams = rows({"streams", "--sort", "packets", softroce("rc-rnr.tx.pcap")});
  ASSERT_EQ(streams.size(), 3U);
  const auto packets = [](const json& stream) {
    return stream["directions"][0]["packets"].get<int>() + stream["directions"][1]["packets"].get<int>();
  };
  EXPECT_GE(packets(streams[0]), packets(streams[1]));
  EXPECT_GE(packets(streams[1]), packets(streams[2]));
  EXPECT_EQ(packets(streams[0]) + packets(streams[1]) + packets(streams[2]), truth("rc-rnr")["tx"]["roce"].get<int>());
  EXPECT_EQ(rows({"streams", "--top", "1", "--sort", "packets", softroce("rc-rnr.tx.pcap")}).front(), streams[0]);
  EXPECT_EQ(rows({"streams", "--stream", "2", softroce("rc-rnr.tx.pcap")}).size(), 1U);
  EXPECT_EQ(run({"streams", "--sort", "beauty", softroce("rc-rnr.tx.pcap")}).exit_code, 2);
  EXPECT_EQ(lines(run({"streams", "--csv", softroce("rc-rnr.tx.pcap")}).out).size(), 4U);
}

TEST_F(AnalysisListsTest, MessagesAreThoseThatWerePosted) {
  std::map<std::string, int> types;
  const std::vector<json> messages = rows({"messages", drops_});
  EXPECT_EQ(messages.size(), truth("rc-drop-requests")["cases"][0]["gen"]["n"].get<std::size_t>());
  for (const json& message : messages) {
    EXPECT_EQ(message["end"], "acknowledged");
    ++types[message["type"].get<std::string>()];
    EXPECT_LT(message["first_frame"], message["answer_frame"]);
    EXPECT_LT(message["last_frame"], message["answer_frame"]);
    // Nothing lasts longer than the capture.
    EXPECT_GE(message["latency_ns"].get<std::int64_t>(), 0);
    EXPECT_LT(message["latency_ns"].get<std::int64_t>(), 500'000'000);
  }
  EXPECT_EQ(types["ATOMIC"], 8);
}

TEST_F(AnalysisListsTest, EachDatagramIsAMessageThatNothingAnswers) {
  const std::string capture = softroce("ud-mix.tx.pcap");
  std::map<std::string, int> types;
  for (const json& message : rows({"messages", capture})) {
    EXPECT_EQ(message["end"], "sent");
    EXPECT_EQ(message["first_frame"], message["last_frame"]);
    EXPECT_EQ(message["psn_count"], 1);
    for (const char* unknown : {"message", "answer_frame", "latency_ns"}) EXPECT_TRUE(message[unknown].is_null());
    const std::set<int> sizes{0, 1, 100, 1024};
    EXPECT_TRUE(sizes.contains(message["bytes"].get<int>())) << message;
    ++types[message["type"].get<std::string>()];
  }
  const json sent = truth("ud-mix")["tx"]["ops"];
  EXPECT_EQ(types["SEND"], sent["UD_SEND_ONLY"].get<int>());
  EXPECT_EQ(types["SEND_IMM"], sent["UD_SEND_ONLY_IMM"].get<int>());
  EXPECT_EQ(rows({"messages", "--top", "5", capture}).size(), 0U);
  // Messages of the communication manager are not those of a program.
  for (const json& message : rows({"messages", softroce("cm-rping.tx.pcap")})) EXPECT_NE(message["end"], "sent");
}

TEST_F(AnalysisListsTest, SlowestMessagesFirst) {
  const std::vector<json> slowest = rows({"messages", "--top", "5", drops_});
  ASSERT_EQ(slowest.size(), 5U);
  for (std::size_t i = 1; i < slowest.size(); ++i) {
    EXPECT_GE(slowest[i - 1]["latency_ns"], slowest[i]["latency_ns"]);
  }
  std::int64_t longest = 0;
  for (const json& message : rows({"messages", drops_})) {
    longest = std::max(longest, message["latency_ns"].get<std::int64_t>());
  }
  EXPECT_EQ(slowest.front()["latency_ns"], longest);
}

TEST_F(AnalysisListsTest, LatencyByTypeAddsUp) {
  const std::vector<json> types = rows({"latency", drops_});
  ASSERT_EQ(types.size(), 4U);  // SEND, WRITE, ATOMIC and all
  EXPECT_EQ(types.back()["type"], "all");
  EXPECT_EQ(types.back()["count"], 30);
  int sum = 0;
  for (std::size_t i = 0; i + 1 < types.size(); ++i) sum += types[i]["count"].get<int>();
  EXPECT_EQ(sum, 30);
  for (const json& row : types) {
    EXPECT_LE(row["min_ns"], row["p50_ns"]);
    EXPECT_LE(row["p50_ns"], row["p99_ns"]);
    EXPECT_LE(row["p99_ns"], row["max_ns"]);
  }
  EXPECT_EQ(rows({"latency", "--by-stream", "--top", "2", softroce("rc-mtu-sweep.tx.pcap")}).size(), 2U);
}

TEST_F(AnalysisListsTest, TimelineAddsUp) {
  const json truth_of_run = truth("rc-drop-requests")["rx"];
  for (const std::string interval : {"1ms", "20ms", "1s"}) {
    SCOPED_TRACE(interval);
    std::size_t packets = 0;
    std::size_t resent = 0;
    for (const json& row : rows({"timeline", "--interval", interval, drops_})) {
      packets += row["packets"].get<std::size_t>();
      resent += row["resent"].get<std::size_t>();
    }
    EXPECT_EQ(packets, truth_of_run["roce"].get<std::size_t>());
    EXPECT_EQ(resent, rows({"events", "--verdict", "retransmission", drops_}).size());
  }
  EXPECT_EQ(rows({"timeline", "--interval", "1s", drops_}).size(), 1U);
  EXPECT_LE(rows({"timeline", drops_}).size(), 60U);
  EXPECT_THAT(run({"timeline", drops_}).out, HasSubstr("goodput"));
  EXPECT_EQ(run({"timeline", "--interval", "often", drops_}).exit_code, 2);
}

TEST(TimeBinsTest, JoinInsteadOfGrowing) {
  TimeBins bins{1};
  bins.at(1000).packets += 1;
  bins.at(990).packets += 1;  // the clock went backwards
  bins.at(1000 + static_cast<std::int64_t>(TimeBins::kMost) - 1).packets += 1;
  EXPECT_EQ(bins.bins().size(), TimeBins::kMost);
  bins.at(1000 + 1'000'000'000'000).packets += 1;
  EXPECT_LE(bins.bins().size(), TimeBins::kMost);
  std::uint64_t packets = 0;
  for (const TimeBin& bin : bins.bins()) packets += bin.packets;
  EXPECT_EQ(packets, 4U);
  EXPECT_EQ(bins.bins().front().packets, 3U);
  EXPECT_EQ(bins.bins().back().packets, 1U);
  bins.join(7);
  EXPECT_LE(bins.bins().size(), 7U);
}

TEST_F(AnalysisListsTest, RulesListEveryVerdict) {
  const std::vector<json> rules = rows({"rules"});
  const auto verdicts = analysis::verdict_infos();
  ASSERT_EQ(rules.size(), verdicts.size() + analysis::rule_infos().size());
  for (std::size_t i = 0; i < verdicts.size(); ++i) {
    EXPECT_EQ(rules[i]["verdict"], verdicts[i].name);
    EXPECT_TRUE(rules[i]["rule"].is_null());
  }
  for (std::size_t i = verdicts.size(); i < rules.size(); ++i) {
    const analysis::RuleInfo& info = analysis::rule_infos()[i - verdicts.size()];
    EXPECT_EQ(rules[i]["verdict"], info.rule == analysis::Rule::pause ? "sent_while_paused" : "rule_broken");
    EXPECT_EQ(rules[i]["rule"], info.identifier);
    EXPECT_THAT(rules[i]["text"].get<std::string>(), HasSubstr(info.text));
  }
}

TEST_F(AnalysisListsTest, SurviveWhatHasNothingToShow) {
  const std::string empty = save_frames("empty.pcapng", {});
  const std::string other = save_frames("arp.pcapng", {std::string{kArp}});
  const std::string whole = load(drops_);
  const std::string cut = save("cut.pcap", whole.substr(0, whole.size() / 2));
  for (const std::string command : {"streams", "messages", "events", "latency", "timeline"}) {
    SCOPED_TRACE(command);
    EXPECT_EQ(run({command}).exit_code, 2);
    EXPECT_EQ(run({command, path("missing")}).exit_code, 1);
    EXPECT_EQ(run({command, empty}).exit_code, 0);
    EXPECT_EQ(run({command, "--json", other}).out, "");
    EXPECT_EQ(run({command, other}).exit_code, 0);
    EXPECT_NE(run({command, cut}).out, "");
    const Outcome full = run({command, drops_}, {}, "/dev/full");
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_THAT(full.err, HasSubstr("cannot write"));
  }
}

TEST(EventOrderTest, LaterVerdictsStandAtTheirPackets) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> seen;
  EventOrder order{
      [&](std::uint64_t number, const analysis::Verdict& verdict) { seen.emplace_back(number, verdict.packet.frame); }};
  for (const std::uint64_t frame : {5U, 9U, 2U, 9U, 7U}) {
    analysis::Verdict verdict;
    verdict.packet = {frame, 0};
    order.add(verdict);
  }
  order.finish();
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> expected{{1, 2}, {2, 5}, {3, 7}, {4, 9}, {5, 9}};
  EXPECT_EQ(seen, expected);
}

}  // namespace
}  // namespace roce::analyze::test
