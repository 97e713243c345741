// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "dissector/analyze/frames.h"
#include "dissector/analyze/program.h"
#include "roce/link/capture_reader.h"

namespace roce::analyze::test {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

/// A record with its own copy of the bytes.
struct Frame {
  std::string bytes;
  std::int64_t time = 0;
  std::uint32_t length = 0;
  std::string comment;
  std::optional<std::uint64_t> drops;
  std::optional<std::uint32_t> flags;
  std::string interface;
};

class AnalysisCopyTest : public ProgramTest {
 protected:
  struct Capture {
    std::vector<Frame> frames;
    std::vector<link::CaptureInterface> interfaces;
  };

  static Capture read(const std::string& file) {
    Capture capture;
    auto reader = link::CaptureReader::open(file);
    EXPECT_TRUE(reader.has_value()) << file;
    if (!reader) return capture;
    link::CaptureRecord record;
    while (reader->next(record)) {
      capture.frames.push_back({{reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size()},
                                record.timestamp_ns,
                                record.original_length,
                                std::string{record.comment},
                                record.drop_count,
                                record.flags,
                                reader->interfaces()[record.interface_id].name});
    }
    EXPECT_FALSE(reader->error());
    EXPECT_TRUE(reader->warnings().empty());
    capture.interfaces = reader->interfaces();
    return capture;
  }

  [[nodiscard]] std::vector<json> events(const std::string& file) const {
    std::vector<json> all;
    for (const std::string& line : lines(run({"events", "--json", file}).out)) all.push_back(json::parse(line));
    return all;
  }

  /// Saves the capture with two interfaces, comments, drop counts, flags and statistics.
  [[nodiscard]] std::string save_rich(const std::string& name) const {
    link::CaptureWriterOptions options;
    options.interface.name = "left";
    options.interface.snaplen = 4096;
    auto writer = link::CaptureWriter::create(path(name), options);
    link::CaptureInterface right;
    right.name = "right";
    right.description = "towards the spine";
    EXPECT_TRUE(writer.has_value() && writer->add_interface(right).has_value());
    auto reader = link::CaptureReader::open(drops_);
    link::CaptureRecord record;
    while (reader->next(record)) {
      record.interface_id = record.number % 2 == 0 ? 1 : 0;
      if (record.number % 10 == 2) record.comment = "seen by hand";
      if (record.number == 30) record.drop_count = 3;
      record.flags = 1;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    link::CaptureStatistics statistics;
    statistics.timestamp_ns = 1'795'213'331'000'000'000;
    statistics.dropped_os = 9;
    EXPECT_TRUE(writer->write_statistics(1, statistics).has_value());
    EXPECT_TRUE(writer->close().has_value());
    return path(name);
  }

  const std::string drops_ = softroce("rc-drop-requests.rx.pcap");
};

TEST_F(AnalysisCopyTest, AnnotatedCaptureIsTheSameWithComments) {
  const Outcome outcome = run({"annotate", drops_, path("out.pcapng")});
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  const Capture before = read(drops_);
  const Capture after = read(path("out.pcapng"));
  std::map<std::size_t, std::set<std::string>> expected;
  for (const json& event : events(drops_)) {
    expected[event["frame"].get<std::size_t>()].insert(event["verdict"].get<std::string>());
  }
  ASSERT_EQ(after.frames.size(), before.frames.size());
  for (std::size_t i = 0; i < before.frames.size(); ++i) {
    SCOPED_TRACE(i + 1);
    EXPECT_EQ(after.frames[i].bytes, before.frames[i].bytes);
    EXPECT_EQ(after.frames[i].time, before.frames[i].time);
    EXPECT_EQ(after.frames[i].length, before.frames[i].length);
    const auto found = expected.find(i + 1);
    EXPECT_EQ(after.frames[i].comment.empty(), found == expected.end());
    if (found == expected.end()) continue;
    for (const std::string& verdict : found->second) EXPECT_THAT(after.frames[i].comment, HasSubstr(verdict));
  }
  // An analysis of the annotated capture finds the same number of events.
  const std::vector<json> again = events(path("out.pcapng"));
  EXPECT_EQ(again.size(), events(drops_).size());
}

TEST_F(AnalysisCopyTest, AnnotatedCaptureKeepsWhatWasThere) {
  const std::string rich = save_rich("rich.pcapng");
  ASSERT_EQ(run({"annotate", "--severity", "error", rich, path("out.pcapng.gz")}).exit_code, 0);
  const Capture before = read(rich);
  const Capture after = read(path("out.pcapng.gz"));
  ASSERT_EQ(after.frames.size(), before.frames.size());
  bool has_both = false;
  for (std::size_t i = 0; i < before.frames.size(); ++i) {
    SCOPED_TRACE(i + 1);
    EXPECT_TRUE(after.frames[i].comment.starts_with(before.frames[i].comment));
    has_both = has_both ||
               (!before.frames[i].comment.empty() && after.frames[i].comment.size() > before.frames[i].comment.size());
    EXPECT_EQ(after.frames[i].drops, before.frames[i].drops);
    EXPECT_EQ(after.frames[i].flags, before.frames[i].flags);
    EXPECT_EQ(after.frames[i].interface, before.frames[i].interface);
    EXPECT_EQ(after.frames[i].comment.find("note"), std::string::npos);
  }
  EXPECT_TRUE(has_both);
  ASSERT_EQ(after.interfaces.size(), 2U);
  EXPECT_EQ(after.interfaces[0].snaplen, 4096U);
  EXPECT_EQ(after.interfaces[1].description, "towards the spine");
  ASSERT_TRUE(after.interfaces[1].statistics);
  EXPECT_EQ(after.interfaces[1].statistics->dropped_os, 9U);
  EXPECT_FALSE(after.interfaces[0].statistics);
}

TEST_F(AnalysisCopyTest, TsharkShowsTheComments) {
  if (std::system("tshark --version >/dev/null 2>&1") != 0) GTEST_SKIP() << "tshark is not installed";
  ASSERT_EQ(run({"annotate", drops_, path("out.pcapng")}).exit_code, 0);
  const auto tshark = [&](const std::string& arguments, const std::string& file) {
    const std::string command = "tshark -r '" + file + "' " + arguments + " >'" + path("tshark") + "' 2>/dev/null";
    EXPECT_EQ(std::system(command.c_str()), 0) << command;
    return load(path("tshark"));
  };
  std::set<std::string> frames;
  for (const json& event : events(drops_)) frames.insert(std::to_string(event["frame"].get<int>()));
  std::set<std::string> shown;
  for (const std::string& line : lines(tshark("-Y frame.comment -T fields -e frame.number", path("out.pcapng")))) {
    shown.insert(line);
  }
  EXPECT_EQ(shown, frames);
  EXPECT_EQ(tshark("-x", path("out.pcapng")).size(), tshark("-x", drops_).size());
  EXPECT_EQ(tshark("-T fields -e frame.time_epoch -e frame.len -e udp.payload", path("out.pcapng")),
            tshark("-T fields -e frame.time_epoch -e frame.len -e udp.payload", drops_));
}

TEST_F(AnalysisCopyTest, AnnotateRefusesWhatCannotWork) {
  const std::string rich = save_rich("rich.pcapng");
  const std::string bytes = load(rich);
  EXPECT_EQ(run({"annotate", rich}).exit_code, 2);
  const Outcome itself = run({"annotate", rich, rich});
  EXPECT_EQ(itself.exit_code, 2);
  EXPECT_THAT(itself.err, HasSubstr("the file that is read"));
  EXPECT_EQ(load(rich), bytes);
  EXPECT_EQ(run({"annotate", rich, path("out.pcap")}).exit_code, 2);
  EXPECT_EQ(run({"annotate", "-", path("out.pcapng")}, "").exit_code, 2);
  EXPECT_EQ(run({"annotate", path("missing"), path("out.pcapng")}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("out.pcapng")));
  EXPECT_EQ(run({"annotate", rich, path("no/such/folder.pcapng")}).exit_code, 1);
  EXPECT_EQ(run({"annotate", rich, "/dev/full"}).exit_code, 1);
}

TEST_F(AnalysisCopyTest, DamagedAndEmptyCapturesAreCopiedAsFarAsTheyGo) {
  const std::string whole = load(save_rich("rich.pcapng"));
  std::string broken = whole;
  broken.replace(broken.size() / 2, 4000, 4000, '\xFF');
  const Outcome damaged = run({"annotate", save("broken.pcapng", broken), path("out.pcapng")});
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_GT(read(path("out.pcapng")).frames.size(), 20U);
  EXPECT_EQ(run({"annotate", save_frames("empty.pcapng", {}), path("empty-out.pcapng")}).exit_code, 0);
  EXPECT_TRUE(read(path("empty-out.pcapng")).frames.empty());
}

TEST_F(AnalysisCopyTest, ExtractOfAStream) {
  const std::string file = softroce("rc-rnr.tx.pcap");
  std::size_t total = 0;
  for (const int stream : {0, 1, 2}) {
    const std::string out = path(std::to_string(stream) + ".pcapng");
    ASSERT_EQ(run({"extract", "--stream", std::to_string(stream), "-o", out, file}).exit_code, 0);
    const Capture part = read(out);
    total += part.frames.size();
    EXPECT_EQ(lines(run({"streams", "--json", out}).out).size(), 1U);
  }
  EXPECT_EQ(total, 251U);
}

TEST_F(AnalysisCopyTest, ExtractAroundAnEvent) {
  const std::vector<json> all = events(drops_);
  const auto lost =
      std::find_if(all.begin(), all.end(), [](const json& event) { return event["verdict"] == "request_lost_before"; });
  ASSERT_NE(lost, all.end());
  const std::string number = std::to_string((*lost)["event"].get<int>());
  ASSERT_EQ(run({"extract", "--event", number, "--around", "1ms", "-o", path("near.pcapng"), drops_}).exit_code, 0);
  const Capture whole = read(drops_);
  const Capture near = read(path("near.pcapng"));
  const std::int64_t center = whole.frames[(*lost)["frame"].get<std::size_t>() - 1].time;
  ASSERT_FALSE(near.frames.empty());
  EXPECT_LT(near.frames.size(), 30U);
  bool has_it = false;
  for (const Frame& frame : near.frames) {
    EXPECT_LE(std::abs(frame.time - center), 1'000'000);
    has_it = has_it || frame.comment.find("request_lost_before") != std::string::npos;
  }
  EXPECT_TRUE(has_it);
  EXPECT_EQ(run({"extract", "--event", "100000", "-o", path("none.pcapng"), drops_}).exit_code, 2);
  EXPECT_FALSE(std::filesystem::exists(path("none.pcapng")));
}

TEST_F(AnalysisCopyTest, ExtractByFilter) {
  ASSERT_EQ(run({"extract", "-Y", "roce.analysis.nak_sequence_error", "-o", path("naks.pcapng"), drops_}).exit_code, 0);
  std::set<int> frames;
  for (const json& event : events(drops_)) {
    if (event["verdict"] == "nak_sequence_error") frames.insert(event["frame"].get<int>());
  }
  EXPECT_EQ(read(path("naks.pcapng")).frames.size(), frames.size());
}

TEST_F(AnalysisCopyTest, ExtractRefusesWhatCannotWork) {
  EXPECT_EQ(run({"extract", "-o", path("out.pcapng"), drops_}).exit_code, 2);
  EXPECT_EQ(run({"extract", "--stream", "0", drops_}).exit_code, 2);
  EXPECT_EQ(run({"extract", "--stream", "0", "--event", "1", "-o", path("out.pcapng"), drops_}).exit_code, 2);
  EXPECT_EQ(run({"extract", "--event", "1", "--around", "soon", "-o", path("out.pcapng"), drops_}).exit_code, 2);
  EXPECT_EQ(run({"extract", "--stream", "0", "-o", path("out.pcapng"), path("missing")}).exit_code, 1);
  EXPECT_FALSE(std::filesystem::exists(path("out.pcapng")));
  EXPECT_EQ(run({"extract", "--stream", "0", "-o", path("no/folder.pcapng"), drops_}).exit_code, 1);
}

}  // namespace
}  // namespace roce::analyze::test
