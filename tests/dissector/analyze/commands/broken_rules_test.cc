// SPDX-License-Identifier: BSD-2-Clause
// The outputs of roce-analyze that report which rules of the protocol are broken.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "dissector/analyze/program.h"
#include "roce/wire/packet_spec.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class BrokenRulesTest : public ProgramTest {
 protected:
  using Fields = std::vector<std::pair<std::string_view, std::string>>;

  /// Saves packets from 192.0.2.9, one per microsecond.
  [[nodiscard]] std::string save_packets(const std::vector<std::pair<std::string_view, Fields>>& packets) const {
    auto writer = link::CaptureWriter::create(path("packets.pcapng"));
    EXPECT_TRUE(writer.has_value());
    std::int64_t number = 0;
    for (const auto& [opcode, fields] : packets) {
      PacketSpec spec = PacketSpec::for_opcode(*opcode_from_name(opcode), RoceVersion::v2_ipv4);
      Fields all{{"ip.src", "192.0.2.9"}, {"ip.dst", "192.0.2.1"}, {"bth.dest_qp", "0x11"}};
      all.insert(all.end(), fields.begin(), fields.end());
      for (const auto& [name, value] : all) EXPECT_TRUE(spec.set(name, value).has_value()) << name;
      const auto bytes = spec.build();
      EXPECT_TRUE(bytes.has_value());
      link::CaptureRecord record;
      record.bytes = *bytes;
      record.original_length = static_cast<std::uint32_t>(bytes->size());
      record.timestamp_ns = 1'795'213'331'000'000'000 + ++number * 1000;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    EXPECT_TRUE(writer->close().has_value());
    return path("packets.pcapng");
  }

  /// Saves packets: the second breaks RC-REQ-30 (order of a message's packets), the fourth W-BTH-2 (version is 0).
  [[nodiscard]] std::string save_broken() const {
    return save_packets({{"RC_SEND_ONLY", {{"bth.psn", "100"}}},
                         {"RC_SEND_LAST", {{"bth.psn", "101"}, {"payload", "0102030405060708"}}},
                         {"RC_SEND_ONLY", {{"bth.psn", "102"}}},
                         {"RC_SEND_ONLY", {{"bth.psn", "103"}, {"bth.tver", "1"}}}});
  }

  [[nodiscard]] std::vector<json> events(std::vector<std::string> arguments) const {
    arguments.insert(arguments.begin(), {"events", "--json"});
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    std::vector<json> all;
    for (const std::string& line : lines(outcome.out)) all.push_back(json::parse(line));
    return all;
  }
};

TEST_F(BrokenRulesTest, EventsNameTheRule) {
  const std::string file = save_broken();
  const std::vector<json> all = events({file});
  ASSERT_THAT(all, SizeIs(2));
  EXPECT_EQ(all[0]["verdict"], "rule_broken");
  EXPECT_EQ(all[0]["rule"], "RC-REQ-30");
  EXPECT_EQ(all[0]["frame"], 2);
  EXPECT_EQ(all[0]["severity"], "error");
  EXPECT_THAT(all[0]["text"].get<std::string>(), HasSubstr("breaks RC-REQ-30: its opcode cannot follow"));
  EXPECT_EQ(all[1]["rule"], "W-BTH-2");
  EXPECT_EQ(all[1]["frame"], 4);
  const std::string table = run({"events", file}).out;
  EXPECT_THAT(table, HasSubstr("breaks W-BTH-2: its transport header version is not 0"));
  EXPECT_THAT(run({"events", "--csv", file}).out, HasSubstr(",rule\r\n"));
}

TEST_F(BrokenRulesTest, FilterByRule) {
  const std::string file = save_broken();
  const std::vector<json> found = events({"-Y", "roce.analysis.rule == \"RC-REQ-30\"", file});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]["frame"], 2);
  EXPECT_THAT(events({"-Y", "roce.analysis.rule", file}), SizeIs(2));
  EXPECT_THAT(events({"-Y", "roce.analysis.rule_broken and bth.tver == 1", file}), SizeIs(1));
}

TEST_F(BrokenRulesTest, TheSummaryHasThemAmongTheWorst) {
  const std::string file = save_broken();
  const json summary = json::parse(run({"summary", "--json", file}).out);
  EXPECT_EQ(summary["clean"], false);
  EXPECT_THAT(summary["verdict"].get<std::string>(), HasSubstr("rules of the protocol are broken: 1 W-BTH-2 (its tr"));
  EXPECT_EQ(summary["findings"][0]["verdict"], "rule_broken");
  EXPECT_EQ(summary["findings"][0]["count"], 2);
  EXPECT_EQ(summary["worst_streams"][0]["rules"], (json{{"RC-REQ-30", 1}, {"W-BTH-2", 1}}));
  EXPECT_THAT(run({"summary", file}).out, HasSubstr("1 RC-REQ-30 (its opcode cannot follow"));
}

TEST_F(BrokenRulesTest, CnpsAreJudgedWhenTheirIntervalIsGiven) {
  std::vector<std::pair<std::string_view, Fields>> cnps;
  for (int i = 1; i <= 30; ++i) cnps.push_back({"CNP", {{"ip.id", std::to_string(i)}}});
  const std::string file = save_packets(cnps);
  EXPECT_THAT(events({"--verdict", "rule_broken", file}), IsEmpty());
  const std::vector<json> found = events({"--verdict", "rule_broken", "--cnp-interval", "50us", file});
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0]["rule"], "CC-01");
  EXPECT_EQ(found[0]["elapsed_ns"], 1000);
  const json summary = json::parse(run({"summary", "--json", "--cnp-interval", "50us", file}).out);
  EXPECT_EQ(summary["findings"][0]["verdict"], "rule_broken") << "threads are told too";
  for (const std::string wrong : {"0", "fast", "-1us"}) {
    const Outcome outcome = run({"events", "--cnp-interval=" + wrong, file});
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_THAT(outcome.err, HasSubstr("--cnp-interval takes a time such as 50us"));
  }
}

}  // namespace
}  // namespace roce::analyze::test
