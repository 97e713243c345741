// SPDX-License-Identifier: BSD-2-Clause
#include <cctype>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>

#include "dissector/analyze/program.h"
#include "support/source_tree.h"

namespace roce::analyze::test {
namespace {

using CaptureTruthTest = ProgramTest;
using nlohmann::json;

json truth(const std::string& scenario) {
  std::ifstream in(softroce(scenario + ".truth.json"));
  return json::parse(in);
}

/// Returns every capture of a truth file: its file name and what it should hold.
std::vector<std::pair<std::string, json>> captures_with_truth() {
  std::vector<std::pair<std::string, json>> captures;
  for (const auto& entry : std::filesystem::directory_iterator(roce::test::captures_folder() + "/softroce")) {
    if (entry.path().extension() != ".json") continue;
    std::ifstream in(entry.path());
    const json document = json::parse(in);
    for (const char* side : {"tx", "rx"}) {
      if (document.contains(side)) captures.emplace_back(document[side]["file"], document[side]);
    }
  }
  return captures;
}

TEST_F(CaptureTruthTest, CountsOfPacketsAndBadIcrcAgree) {
  const auto captures = captures_with_truth();
  ASSERT_GT(captures.size(), 30U);
  for (const auto& [file, expected] : captures) {
    SCOPED_TRACE(file);
    const Outcome run = decode({"--summary", softroce(file)});
    EXPECT_EQ(run.exit_code, 0);
    const auto roce = expected["roce"].get<std::size_t>();
    const auto bad = expected["icrc_bad"].get<std::size_t>();
    EXPECT_EQ(lines(run.out).size(), roce);
    const std::string summary = "roce-analyze: " + std::to_string(expected["frames"].get<std::size_t>()) + " frames, " +
                                std::to_string(roce) + " RoCE packets; ICRC: " + std::to_string(roce - bad) +
                                " good, " + std::to_string(bad) + " bad, 0 not checked\n";
    EXPECT_EQ(run.err, summary);

    const Outcome only_bad = decode({"--only-bad-icrc", softroce(file)});
    EXPECT_EQ(lines(only_bad.out).size(), bad);
    EXPECT_EQ(only_bad.err, "");
  }
}

TEST_F(CaptureTruthTest, OpcodesAgree) {
  // The truth files have shorter names for some opcodes.
  const std::map<std::string, std::string> names{{"RC_READ_REQ", "RC_READ_REQUEST"},
                                                 {"RC_READ_RESP_FIRST", "RC_READ_RESPONSE_FIRST"},
                                                 {"RC_READ_RESP_ONLY", "RC_READ_RESPONSE_ONLY"},
                                                 {"RC_READ_RESP_MIDDLE", "RC_READ_RESPONSE_MIDDLE"},
                                                 {"RC_READ_RESP_LAST", "RC_READ_RESPONSE_LAST"},
                                                 {"RC_ATOMIC_ACK", "RC_ATOMIC_ACKNOWLEDGE"},
                                                 {"RC_CMP_SWAP", "RC_COMPARE_SWAP"}};
  for (const std::string scenario : {"rc-mix-v4", "ud-mix", "uc-mix"}) {
    const json ops = truth(scenario)["tx"]["ops"];
    for (const auto& [name, count] : ops.items()) {
      SCOPED_TRACE(scenario + " " + name);
      const auto known = names.find(name);
      const std::string opcode = known != names.end() ? known->second : name;
      const Outcome run = decode({"--opcode", opcode, softroce(scenario + ".tx.pcap")});
      EXPECT_EQ(lines(run.out).size(), count.get<std::size_t>());
    }
  }
}

TEST_F(CaptureTruthTest, BadPacketsAreThoseThatWereCorrupted) {
  const json document = truth("rc-corrupt");
  std::multiset<std::pair<std::string, std::string>> expected;
  for (const json& event : document["events"]) {
    if (event["action"] == "corrupt") {
      expected.emplace(std::to_string(event["qpn"].get<unsigned>()), std::to_string(event["psn"].get<unsigned>()));
    }
  }
  ASSERT_EQ(expected.size(), 18U);
  const Outcome run = decode({"--only-bad-icrc", "--json", softroce("rc-corrupt.rx.pcap")});
  std::multiset<std::pair<std::string, std::string>> found;
  for (const std::string& line : lines(run.out)) {
    const json packet = json::parse(line);
    EXPECT_EQ(packet["icrc"]["status"], "bad");
    found.emplace(std::to_string(packet["bth"]["dest_qp"].get<unsigned>()),
                  std::to_string(packet["bth"]["psn"].get<unsigned>()));
  }
  EXPECT_EQ(found, expected);
}

TEST_F(CaptureTruthTest, OneBadPacketOfTheHostPeer) {
  const Outcome run = decode({"--only-bad-icrc", softroce("host-peer.tx.pcap")});
  EXPECT_EQ(run.exit_code, 0);
  ASSERT_EQ(lines(run.out).size(), 1U);
  EXPECT_NE(run.out.find("ICRC bad"), std::string::npos);
}

TEST_F(CaptureTruthTest, ExplainStaysOnTheSameLine) {
  const Outcome run = decode({"--only-bad-icrc", "--explain", softroce("rc-corrupt.rx.pcap")});
  const std::vector<std::string> found = lines(run.out);
  ASSERT_EQ(found.size(), 18U);
  for (const std::string& line : found) EXPECT_NE(line.find("one damaged byte"), std::string::npos) << line;
}

TEST_F(CaptureTruthTest, MarksAndNaksAreShown) {
  const json marked = truth("rc-ecn-ce")["rx"];
  std::size_t marks = 0;
  for (const std::string& line : lines(decode({softroce("rc-ecn-ce.rx.pcap")}).out)) marks += line.ends_with("  CE");
  EXPECT_EQ(marks, marked["ce"].get<std::size_t>());

  const json errors = truth("rc-errors")["tx"];
  const std::string text = decode({softroce("rc-errors.tx.pcap")}).out;
  const auto count = [&](std::string_view what) {
    std::size_t n = 0;
    for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
    return n;
  };
  EXPECT_EQ(count("NAK remote access error"), errors["naks"]["0x62"].get<std::size_t>());
  EXPECT_EQ(count("NAK remote operational error"), errors["naks"]["0x63"].get<std::size_t>());

  const json not_ready = truth("rc-rnr")["tx"];
  std::size_t rnr = 0;
  for (const std::string& line : lines(decode({softroce("rc-rnr.tx.pcap")}).out)) {
    rnr += line.find("RNR NAK ") != std::string::npos;
  }
  EXPECT_EQ(rnr, not_ready["rnr_naks"].get<std::size_t>());
}

}  // namespace
}  // namespace roce::analyze::test
