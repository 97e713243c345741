// SPDX-License-Identifier: BSD-2-Clause
// Many hosts that send to one: `incast`, and what the summary says of it.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "dissector/analyze/program.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

std::string capture() {
  return roce::test::captures_folder() + "/fabric/incast.pcapng.gz";
}

class Incast : public ProgramTest {};

TEST_F(Incast, FindsTheSendersAndTheLossesOfTheSimulatedOne) {
  const Outcome outcome = run({"incast", "--json", capture()});
  EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
  const std::vector<std::string> said = lines(outcome.out);
  ASSERT_THAT(said, SizeIs(2));
  const json host = json::parse(said[0]);
  // captures/fabric/incast.yaml: h1 to h6 send to h0, and all but h1 begin at 100 us.
  EXPECT_EQ(host["destination"], "10.0.0.1");
  EXPECT_EQ(host["senders"].size(), 6U);
  EXPECT_EQ(host["fullest"]["senders"], 6U);
  EXPECT_GE(host["fullest"]["time_ns"], 100'000);
  // The link has 10 Gbit/s.
  EXPECT_GT(host["busiest"]["bits_per_second"], 9e9);
  EXPECT_LE(host["busiest"]["bits_per_second"], 10e9);
  std::uint64_t bytes = 0;
  std::uint64_t lost = 0;
  for (const json& level : host["by_senders_at_once"]) {
    bytes += level["bytes"].get<std::uint64_t>();
    lost += level["lost"].get<std::uint64_t>();
    EXPECT_TRUE(level["senders"] != 1 || level["lost"] == 0U) << level;
  }
  for (const json& sender : host["senders"]) {
    bytes -= sender["bytes"].get<std::uint64_t>();
    lost -= sender["lost"].get<std::uint64_t>();
  }
  EXPECT_EQ(bytes, 0U);
  EXPECT_EQ(lost, 0U);
  const json statement = json::parse(said[1]);
  EXPECT_EQ(statement["severity"], "warning");
  EXPECT_THAT(statement["statement"].get<std::string>(), HasSubstr("This is an incast"));
}

TEST_F(Incast, LossesAreThoseOfTheEvents) {
  const json host = json::parse(lines(run({"incast", "--json", capture()}).out).at(0));
  std::uint64_t lost = 0;
  for (const json& level : host["by_senders_at_once"]) lost += level["lost"].get<std::uint64_t>();
  std::uint64_t seen = 0;
  for (const std::string& line : lines(run({"events", "--json", capture()}).out)) {
    const json event = json::parse(line);
    if (event["verdict"] == "request_lost_before" || event["verdict"] == "unexplained") {
      seen += event["psn_count"].get<std::uint64_t>();
    }
  }
  EXPECT_GT(seen, 0U);
  EXPECT_EQ(lost, seen);
}

TEST_F(Incast, TheSummarySaysWhereToLook) {
  EXPECT_THAT(run({capture()}).out, HasSubstr("of the lost packets are of connections between 10.0.0.1 and"));
  EXPECT_THAT(run({softroce("rc-drop-random.rx.pcap")}).out, Not(HasSubstr("roce-analyze incast")));
}

TEST_F(Incast, TwoHostsAreNone) {
  const Outcome outcome = run({"incast", softroce("rc-drop-random.rx.pcap")});
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_THAT(outcome.out, Not(HasSubstr("at once, ")));
  EXPECT_THAT(outcome.out, Not(HasSubstr("incast")));
}

TEST_F(Incast, RefusesWhatItCannotReadTwice) {
  const Outcome outcome = run({"incast", "-"});
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_THAT(outcome.out, IsEmpty());
  EXPECT_THAT(lines(outcome.err), ElementsAre(HasSubstr("reads its input twice: 'standard input' cannot be")));
}

TEST_F(Incast, RefusesAWindowThatIsNone) {
  for (const char* const window : {"0", "-1us", "999ns", "2min", "soon", "1e400"}) {
    const Outcome outcome = run({"incast", "--window", window, capture()});
    EXPECT_EQ(outcome.exit_code, 2) << window;
    EXPECT_THAT(lines(outcome.err), ElementsAre(HasSubstr("--window takes a duration from 1us to 1min"))) << window;
  }
}

TEST_F(Incast, OfADamagedCaptureTellsWhatWasRead) {
  std::filesystem::copy_file(capture(), path("cut.pcapng.gz"));
  std::filesystem::resize_file(path("cut.pcapng.gz"), std::filesystem::file_size(capture()) / 2);
  const Outcome outcome = run({"incast", "--json", path("cut.pcapng.gz")});
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_THAT(outcome.err, HasSubstr("the file was cut"));
  EXPECT_EQ(json::parse(lines(outcome.out).at(0))["destination"], "10.0.0.1");
}

}  // namespace
}  // namespace roce::analyze::test
