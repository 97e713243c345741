// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>

#include "dissector/analyze/program.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

class JoinTest : public ProgramTest {
 protected:
  [[nodiscard]] Outcome join(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "join");
    return run(std::move(arguments));
  }
  [[nodiscard]] json object(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), "--json");
    const Outcome outcome = join(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_EQ(lines(outcome.out).size(), 1U);
    return json::parse(outcome.out);
  }

  const std::string tx_ = softroce("rc-drop-requests.tx.pcap");
  const std::string rx_ = softroce("rc-drop-requests.rx.pcap");
};

TEST_F(JoinTest, TheFirstScreenSaysWhatDiedAndWhatIsUnknown) {
  const Outcome outcome = join({tx_, rx_});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.err, "");
  // The truth file has 163 packets and 12 drops.
  EXPECT_THAT(outcome.out, HasSubstr("12 of 163 packets died A "));
  EXPECT_THAT(outcome.out, HasSubstr("12 lost"));
  EXPECT_THAT(outcome.out, HasSubstr("the clock offset is unknown"));
  EXPECT_THAT(join({"--offset", "0", tx_, rx_}).out, HasSubstr("B's clock and A's are the same, as given"));
}

TEST_F(JoinTest, SwappedCapturesSwapTheWay) {
  const json summary = object({rx_, tx_});
  EXPECT_EQ(summary["ways"]["b_to_a"]["lost"], 12);
  EXPECT_EQ(summary["ways"]["a_to_b"]["first"], 0);
}

TEST_F(JoinTest, ThePacketsOfOneFateInAllForms) {
  const Outcome rows = join({"--fate", "lost", "--json", tx_, rx_});
  ASSERT_EQ(lines(rows.out).size(), 12U);
  std::map<int, json> sent;
  for (const std::string& line : lines(decode({"--json", tx_}).out)) {
    json packet = json::parse(line);
    const int number = packet["frame"]["number"].get<int>();
    sent.emplace(number, std::move(packet));
  }
  for (const std::string& line : lines(rows.out)) {
    const json row = json::parse(line);
    EXPECT_EQ(row["fate"], "lost");
    EXPECT_EQ(row["way"], "a_to_b");
    EXPECT_TRUE(row["frame_b"].is_null());
    EXPECT_GT(row["frame_a"].get<int>(), 0);
    EXPECT_EQ(row["source"], "10.77.0.3");
    EXPECT_EQ(row["destination"], "10.77.0.2");
    // The frame number is that of the packet, counted as other tools count.
    const json& packet = sent.at(row["frame_a"].get<int>());
    EXPECT_EQ(packet["bth"]["psn"], row["psn"]);
    EXPECT_EQ(packet["roce"]["opcode"], row["opcode"]);
  }
  EXPECT_EQ(lines(join({"--fate", "lost", "--csv", tx_, rx_}).out).size(), 13U);
  EXPECT_EQ(lines(join({"--fate", "lost", tx_, rx_}).out).size(), 13U);
  EXPECT_EQ(lines(join({"--fate", "lost", "--fate", "damaged", tx_, rx_}).out).size(), 13U);
}

TEST_F(JoinTest, ACaptureMayHaveSeveralFiles) {
  // The same capture in two pieces.
  const std::string first = path("first.pcapng");
  const std::string second = path("second.pcapng");
  ASSERT_EQ(run({"extract", "-Y", "frame.number <= 60", "-o", first, rx_}).exit_code, 0);
  ASSERT_EQ(run({"extract", "-Y", "frame.number > 60", "-o", second, rx_}).exit_code, 0);
  const json whole = object({tx_, rx_});
  const json pieces = object({"--a", tx_, "--b", first, second});
  EXPECT_EQ(pieces["b"]["files"].size(), 2U);
  EXPECT_EQ(pieces["ways"]["a_to_b"]["lost"], whole["ways"]["a_to_b"]["lost"]);
  EXPECT_EQ(pieces["ways"]["a_to_b"]["delay"], whole["ways"]["a_to_b"]["delay"]);
}

TEST_F(JoinTest, WhatTheOtherCaptureCouldNotSeeIsNotCalledLost) {
  const std::string first = path("first.pcapng");
  ASSERT_EQ(run({"extract", "-Y", "frame.number <= 60", "-o", first, rx_}).exit_code, 0);
  const json summary = object({tx_, first});
  const json& way = summary["ways"]["a_to_b"];
  EXPECT_GT(way["not_judged_first"].get<int>(), 90);
  EXPECT_LT(way["lost"].get<int>(), 12);
  EXPECT_EQ(way["lost"].get<int>() + way["matched"].get<int>() + way["not_judged_first"].get<int>(), 163);
  EXPECT_THAT(join({tx_, first}).out, HasSubstr("--same-span"));
  const json same_span = object({"--same-span", tx_, first});
  EXPECT_EQ(same_span["ways"]["a_to_b"]["not_judged_first"], 0);
}

TEST_F(JoinTest, CopiesAreToldInShortCapturesToo) {
  // The bridge made a copy of every fifth packet. So few packets do not show an order by how their delays scatter.
  const std::string sent = path("sent.pcapng");
  const std::string delivered = path("delivered.pcapng");
  ASSERT_EQ(run({"extract", "-Y", "frame.number <= 40", "-o", sent, softroce("rc-duplicate.tx.pcap")}).exit_code, 0);
  ASSERT_EQ(run({"extract", "-Y", "frame.number <= 53", "-o", delivered, softroce("rc-duplicate.rx.pcap")}).exit_code,
            0);
  const json given = object({"--offset", "0", sent, delivered});
  ASSERT_EQ(given["ways"]["a_to_b"]["duplicated"], 5);
  const json summary = object({sent, delivered});
  EXPECT_EQ(summary["ways"]["a_to_b"]["duplicated"], 5);
  EXPECT_EQ(summary["ways"]["unknown"]["second"], 0);
  EXPECT_THAT(summary["verdict"].get<std::string>(), HasSubstr("5 duplicated A "));
  for (const json& flow : summary["flows"]) EXPECT_EQ(flow["way_known_from"], "copies");
  EXPECT_EQ(object({delivered, sent})["ways"]["b_to_a"]["duplicated"], 5);
}

TEST_F(JoinTest, OtherTrafficHasNothingInCommon) {
  const json summary = object({tx_, softroce("rc-mix-v6.tx.pcap")});
  EXPECT_THAT(summary["verdict"].get<std::string>(), HasSubstr("no packet of A is in B"));
  EXPECT_EQ(summary["ways"]["unknown"]["matched"], 0);
  EXPECT_EQ(summary["ways"]["a_to_b"]["lost"], 0);
  EXPECT_EQ(join({tx_, softroce("rc-mix-v6.tx.pcap")}).exit_code, 0);
}

TEST_F(JoinTest, WrongCommandLinesAreRefused) {
  const Outcome one = join({tx_});
  EXPECT_EQ(one.exit_code, 2);
  EXPECT_THAT(one.err, HasSubstr("two captures"));
  const Outcome same = join({tx_, tx_});
  EXPECT_EQ(same.exit_code, 2);
  EXPECT_THAT(same.err, HasSubstr("for A and for B"));
  const Outcome offset = join({"--offset", "soon", tx_, rx_});
  EXPECT_EQ(offset.exit_code, 2);
  EXPECT_THAT(offset.err, HasSubstr("--offset: expected a duration"));
  for (const char* wrong : {"--5ms", "5000000000", "-5000000000", "-"}) {
    EXPECT_EQ(join({std::string{"--offset="} + wrong, tx_, rx_}).exit_code, 2) << wrong;
  }
  EXPECT_EQ(join({"--fate", "eaten", tx_, rx_}).exit_code, 2);
  EXPECT_EQ(join({"--within", "-1s", tx_, rx_}).exit_code, 2);
}

TEST_F(JoinTest, AFileThatCannotBeReadIsSaid) {
  EXPECT_EQ(join({tx_, path("absent.pcap")}).exit_code, 1);
  const std::string cut = save("cut.pcap", load(rx_).substr(0, 50'000));
  const Outcome outcome = join({tx_, cut});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the file ends inside the record"));
  EXPECT_THAT(outcome.out, HasSubstr("not judged"));
}

}  // namespace
}  // namespace roce::analyze::test
