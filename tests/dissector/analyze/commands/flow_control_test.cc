// SPDX-License-Identifier: BSD-2-Clause
// The output of roce-analyze about congestion notification, PFC and PAUSE.
#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"
#include "roce/wire/packet_spec.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

// `kStation` is the station that sends `kPfc`.
constexpr std::string_view kStation = "02:00:00:00:00:01";
constexpr std::string_view kPartner = "02:00:00:00:00:09";

struct TimedFrame {
  std::int64_t microseconds = 0;
  std::vector<std::byte> bytes;
};

/// Returns an RC_SEND_ONLY with VLAN tags of these priorities, the outermost first.
std::vector<std::byte> send(unsigned psn, std::string_view from, std::string_view to,
                            const std::vector<unsigned>& priorities) {
  PacketSpec spec = PacketSpec::for_opcode(*opcode_from_name("RC_SEND_ONLY"), RoceVersion::v2_ipv4);
  for (const auto& [name, value] : {std::pair<std::string_view, std::string>{"eth.src", std::string{from}},
                                    {"eth.dst", std::string{to}},
                                    {"ip.src", "192.0.2.9"},
                                    {"ip.dst", "192.0.2.1"},
                                    {"bth.dest_qp", "0x11"},
                                    {"bth.psn", std::to_string(psn)}}) {
    EXPECT_TRUE(spec.set(name, value).has_value()) << name;
  }
  auto bytes = spec.build();
  EXPECT_TRUE(bytes.has_value());
  constexpr std::ptrdiff_t kAddresses = 12;
  for (std::size_t i = priorities.size(); i-- > 0;) {
    const std::array tag{std::byte{0x81}, std::byte{0}, static_cast<std::byte>(priorities[i] << 5U), std::byte{7}};
    bytes->insert(bytes->begin() + kAddresses, tag.begin(), tag.end());
  }
  return *bytes;
}

class FlowControlTest : public ProgramTest {
 protected:
  [[nodiscard]] std::string save_timed(const std::string& name, const std::vector<TimedFrame>& frames) const {
    auto writer = link::CaptureWriter::create(path(name));
    EXPECT_TRUE(writer.has_value());
    for (const TimedFrame& frame : frames) {
      link::CaptureRecord record;
      record.bytes = frame.bytes;
      record.original_length = static_cast<std::uint32_t>(frame.bytes.size());
      record.timestamp_ns = 1'795'213'331'000'000'000 + frame.microseconds * 1000;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    EXPECT_TRUE(writer->close().has_value());
    return path(name);
  }

  /// Saves a capture whose first frame pauses priority 3, followed by packets of several priorities.
  [[nodiscard]] std::string save_paused() const {
    return save_timed("paused.pcapng", {{0, roce::test::from_hex(kPfc)},
                                        {5, send(100, kPartner, kStation, {3})},
                                        {50, send(101, kPartner, kStation, {3})},
                                        {51, send(102, kPartner, kStation, {0})},
                                        {52, send(103, kPartner, kStation, {})},
                                        {53, send(104, kPartner, kStation, {3, 0})},
                                        {54, send(105, kPartner, kStation, {0, 3})},
                                        {55, send(106, kStation, kPartner, {3})}});
  }

  [[nodiscard]] std::vector<json> ndjson(std::vector<std::string> arguments) const {
    std::vector<json> all;
    const Outcome outcome = run(std::move(arguments));
    EXPECT_EQ(outcome.exit_code, 0) << outcome.err;
    for (const std::string& line : lines(outcome.out)) all.push_back(json::parse(line));
    return all;
  }
};

std::set<int> frames_of(const std::vector<json>& events) {
  std::set<int> frames;
  for (const json& event : events) frames.insert(event["frame"].get<int>());
  return frames;
}

TEST_F(FlowControlTest, SentWhilePaused) {
  const std::string file = save_paused();
  const std::vector<json> events =
      ndjson({"events", "--json", "--verdict", "sent_while_paused", "--link-speed", "100G", file});
  // Frame 2 comes too early to count, and of several VLAN tags the outermost counts.
  EXPECT_THAT(frames_of(events), ElementsAre(3, 6));
  ASSERT_FALSE(events.empty());
  EXPECT_EQ(events[0]["other"], 1);
  EXPECT_EQ(events[0]["elapsed_ns"], 50'000);
  EXPECT_EQ(events[0]["severity"], "warning");
  EXPECT_EQ(events[0]["rule"], "CC-06");
  EXPECT_THAT(frames_of(ndjson({"events", "--json", "--verdict", "sent_while_paused", "--link-speed", "100G", "-Y",
                                "roce.analysis.sent_while_paused and frame.number > 3", file})),
              ElementsAre(6))
      << "a filter knows it when the packet is seen";
}

TEST_F(FlowControlTest, TheSummaryCountsIt) {
  const Outcome outcome = run({"summary", "--json", "--link-speed", "100G", save_paused()});
  const json summary = json::parse(outcome.out);
  EXPECT_EQ(summary["clean"], false);
  EXPECT_THAT(summary["verdict"].get<std::string>(), HasSubstr("2 packets were on their way to stations that had pa"));
  const auto& findings = summary["findings"];
  const auto found = std::find_if(findings.begin(), findings.end(),
                                  [](const json& finding) { return finding["verdict"] == "sent_while_paused"; });
  ASSERT_NE(found, findings.end());
  EXPECT_EQ((*found)["count"], 2);
  std::uint64_t in_streams = 0;
  std::uint64_t by_rule = 0;
  for (const json& stream : summary["worst_streams"]) in_streams += stream["verdicts"].value("sent_while_paused", 0U);
  EXPECT_EQ(in_streams, 2U);
  for (const json& stream : summary["worst_streams"]) by_rule += stream["rules"].value("CC-06", 0U);
  EXPECT_EQ(by_rule, 2U);
  ASSERT_THAT(summary["pauses"], SizeIs(1));
  const json& pause = summary["pauses"][0];
  EXPECT_EQ(pause["source"], kStation);
  ASSERT_THAT(pause["priorities"], SizeIs(2));
  EXPECT_EQ(pause["priorities"][0]["priority"], 3);
  EXPECT_EQ(pause["priorities"][0]["quanta"], 65'535);
  EXPECT_EQ(pause["priorities"][0]["paused_ns"], 55'000) << "as far as the capture goes";
  EXPECT_EQ(pause["priorities"][1]["priority"], 4);
  EXPECT_EQ(pause["priorities"][1]["xon"], 1);
  EXPECT_EQ(pause["priorities"][1]["paused_ns"], 0);
}

TEST_F(FlowControlTest, WithoutALinkSpeedItIsUnknown) {
  const std::string file = save_paused();
  EXPECT_THAT(ndjson({"events", "--json", "--verdict", "sent_while_paused", file}), IsEmpty());
  const json summary = json::parse(run({"summary", "--json", file}).out);
  EXPECT_TRUE(summary["pauses"][0]["priorities"][0]["paused_ns"].is_null());
  const std::string text = run({"summary", file}).out;
  EXPECT_THAT(text, HasSubstr("1 station asked for silence"));
  EXPECT_THAT(text, HasSubstr("Flow control: who asked for silence"));
  EXPECT_THAT(text, HasSubstr(kStation));
  EXPECT_THAT(text, HasSubstr("--link-speed 100G"));
  EXPECT_THAT(run({"summary", "--link-speed", "100G", file}).out, Not(HasSubstr("--link-speed")));
}

TEST_F(FlowControlTest, TheTimelineHasThePauses) {
  const std::vector<json> rows = ndjson({"timeline", "--json", "--interval", "1s", save_paused()});
  ASSERT_THAT(rows, SizeIs(1));
  EXPECT_EQ(rows[0]["xoff"], 1);
  EXPECT_EQ(rows[0]["packets"], 7) << "of RoCE";
}

TEST_F(FlowControlTest, WhatIsNoSpeedIsRefused) {
  for (const std::string speed : {"fast", "100", "0G", "-1G", "100Gbyte", "1e99G"}) {
    const Outcome outcome = run({"summary", "--link-speed=" + speed, save_paused()});
    EXPECT_EQ(outcome.exit_code, 2) << speed;
    EXPECT_THAT(outcome.err, HasSubstr("--link-speed takes bits a second such as 100G"));
    EXPECT_THAT(outcome.err, HasSubstr("'" + speed + "'"));
  }
}

TEST_F(FlowControlTest, MarksAreThoseOfTheDataPackets) {
  const std::string file = softroce("rc-ecn-ce.rx.pcap");
  // The bridge that marked them kept a log.
  const json truth = json::parse(load(softroce("rc-ecn-ce.truth.json")));
  const auto marked = std::count_if(truth["events"].begin(), truth["events"].end(), [](const json& event) {
    return event["action"] == "ce" && event["op"] != "RC_ACKNOWLEDGE";
  });
  ASSERT_GT(marked, 0);
  std::ptrdiff_t marks = 0;
  std::uint64_t cnps = 0;
  for (const json& stream : ndjson({"streams", "--json", file})) {
    for (const json& congestion : stream["congestion"]) {
      marks += congestion["marks"].get<std::ptrdiff_t>();
      cnps += congestion["cnps"].get<std::uint64_t>();
      EXPECT_EQ(congestion["marks"], congestion["marks_since_cnp"]);
      EXPECT_EQ(congestion["mark_to_cnp"]["count"], 0);
    }
  }
  EXPECT_EQ(marks, marked);
  EXPECT_EQ(cnps, 0U) << "Soft-RoCE sends none";
  const std::string text = run({"summary", file}).out;
  EXPECT_THAT(text, HasSubstr("Congestion notification"));
  EXPECT_THAT(text, HasSubstr("had CE marks, and no CNP was seen"));
}

TEST_F(FlowControlTest, WithoutEitherTheSummaryDoesNotMentionThem) {
  const std::string text = run({"summary", softroce("rc-mix-v4.tx.pcap")}).out;
  EXPECT_THAT(text, Not(HasSubstr("Congestion notification")));
  EXPECT_THAT(text, Not(HasSubstr("Flow control")));
}

TEST_F(FlowControlTest, PausesGoOnInTheNextFile) {
  const std::string file = save_paused();
  for (const std::uint64_t cut : {1U, 2U, 4U, 7U}) {
    SCOPED_TRACE(cut);
    const std::string first = save_part("1.pcapng", file, 1, cut);
    const std::string second = save_part("2.pcapng", file, cut + 1, 8);
    for (const char* const command : {"summary", "streams"}) {
      EXPECT_EQ(run({command, "--json", "--link-speed", "100G", "--carry", path("state"), first}).exit_code, 0);
      const Outcome pieces = run({command, "--json", "--link-speed", "100G", "--after", path("state"), second});
      EXPECT_THAT(pieces.out, HasSubstr("sent_while_paused"));
      EXPECT_EQ(pieces.out, run({command, "--json", "--link-speed", "100G", first, second}).out);
    }
  }
}

}  // namespace
}  // namespace roce::analyze::test
