// SPDX-License-Identifier: BSD-2-Clause
// Wireshark's command-line tools as the other side: they read what the writer wrote, and the reader reads what they
// wrote.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sstream>

#include "capture_builder.h"
#include "roce/link/capture_file.h"
#include "support/source_tree.h"
#include "support/temporary_folder.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr std::int64_t kTime = 1'700'000'000'123'456'789;

// Returns the output of `command`, both streams together; fails the test if the command does.
std::string run(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) throw std::runtime_error("cannot run " + command);
  std::string output;
  std::array<char, 4096> chunk{};
  while (const std::size_t count = std::fread(chunk.data(), 1, chunk.size(), pipe)) output.append(chunk.data(), count);
  EXPECT_EQ(pclose(pipe), 0) << command << "\n" << output;
  return output;
}

std::vector<std::string> lines_with(const std::string& output, char separator) {
  std::vector<std::string> lines;
  std::istringstream in(output);
  for (std::string line; std::getline(in, line);) {
    if (line.find(separator) != std::string::npos) lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> captures() {
  std::vector<std::string> files;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(roce::test::captures_folder())) {
    if (entry.path().extension() == ".pcap") files.push_back(entry.path().string());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::vector<Record> read_file(const std::string& file) {
  auto reader = CaptureReader::open(file);
  if (!reader) throw std::runtime_error(reader.error().message);
  auto records = read_all(*reader);
  EXPECT_FALSE(reader->error()) << reader->error()->message;
  EXPECT_THAT(reader->warnings(), IsEmpty());
  return records;
}

class Tools : public roce::test::FolderTest {
 protected:
  // Returns number, seconds, captured and original length of each frame, as tshark sees them.
  std::vector<std::string> frames(const std::string& file) {
    return lines_with(
        run("tshark -n -r '" + file + "' -T fields -e frame.number -e frame.time_epoch -e frame.cap_len -e frame.len"),
        '\t');
  }
  static std::vector<std::string> frames(const std::vector<Record>& records) {
    std::vector<std::string> lines;
    for (const Record& record : records) {
      char line[100];
      std::snprintf(line, sizeof line, "%zu\t%lld.%09lld\t%zu\t%u", lines.size() + 1,
                    static_cast<long long>(record.timestamp_ns / 1'000'000'000),
                    static_cast<long long>(record.timestamp_ns % 1'000'000'000), record.data.size(),
                    record.original_length);
      lines.emplace_back(line);
    }
    return lines;
  }
};

TEST_F(Tools, TsharkSeesTheSameFrames) {
  const auto files = captures();
  ASSERT_FALSE(files.empty());
  // tshark takes a third of a second to start, so it reads only a few; the conversions below cover all captures.
  const std::size_t stride = files.size() / 4 + 1;
  for (std::size_t i = 0; i < files.size(); i += stride)
    EXPECT_EQ(frames(read_file(files[i])), frames(files[i])) << files[i];
}

TEST_F(Tools, ConvertedCapturesHaveTheSameRecords) {
  ASSERT_FALSE(captures().empty());
  for (const std::string& file : captures()) {
    const auto expected = read_file(file);
    for (const std::string type : {"pcapng", "nsecpcap", "pcap"}) {
      run("editcap -F " + type + " '" + file + "' '" + path(type) + "'");
      auto records = read_file(path(type));
      if (type == "pcap") {
        // The plain format has microseconds only.
        auto rounded = expected;
        for (Record& record : rounded) record.timestamp_ns -= record.timestamp_ns % 1000;
        EXPECT_EQ(records, rounded) << file;
      } else {
        EXPECT_EQ(records, expected) << file << " as " << type;
      }
    }
  }
}

TEST_F(Tools, EditcapConvertsWhatWasWrittenBackToTheSameRecords) {
  ASSERT_FALSE(captures().empty());
  const std::string source = captures().front();
  const auto expected = read_file(source);
  for (const CaptureFormat format : {CaptureFormat::pcap_ns, CaptureFormat::pcapng}) {
    for (const std::string suffix : {"", ".gz", ".zst"}) {
      auto reader = CaptureReader::open(source);
      CaptureWriterOptions options;
      options.format = format;
      options.interface = reader->interfaces()[0];
      auto writer = CaptureWriter::create(path("written" + suffix), options);
      CaptureRecord record;
      while (reader->next(record)) ASSERT_TRUE(writer->write(record));
      ASSERT_TRUE(writer->close());
      EXPECT_EQ(read_file(path("written" + suffix)), expected);
      // editcap recognises the compression by itself.
      run("editcap -F nsecpcap '" + path("written" + suffix) + "' '" + path("back") + "'");
      EXPECT_EQ(read_file(path("back")), expected);
    }
  }
}

TEST_F(Tools, MergecapOfTwoLinkTypesKeepsBoth) {
  CaptureWriterOptions options;
  options.format = CaptureFormat::pcap_ns;
  for (const std::uint16_t link_type : {std::uint16_t{1}, std::uint16_t{113}}) {
    options.interface.link_type = link_type;
    auto writer = CaptureWriter::create(path(std::to_string(link_type)), options);
    for (std::int64_t i = 0; i < 3; ++i) {
      CaptureRecord record;
      const std::string data(60, static_cast<char>('0' + i));
      record.bytes = std::as_bytes(std::span(data));
      record.timestamp_ns = kTime + 10 * i + link_type % 2;
      record.link_type = link_type;
      ASSERT_TRUE(writer->write(record));
    }
    ASSERT_TRUE(writer->close());
  }
  run("mergecap -w '" + path("merged") + "' '" + path("1") + "' '" + path("113") + "'");
  const auto merged = read_file(path("merged"));
  ASSERT_THAT(merged, SizeIs(6));
  std::array<int, 2> count{};
  for (const Record& record : merged) {
    ASSERT_TRUE(record.link_type == 1 || record.link_type == 113);
    ++count[record.link_type == 1 ? 0 : 1];
  }
  EXPECT_EQ(count[0], 3);
  EXPECT_EQ(count[1], 3);
  EXPECT_EQ(frames(merged), frames(path("merged")));
}

TEST_F(Tools, CommentsDropsInterfacesAndStatisticsAreSeen) {
  CaptureWriterOptions options;
  options.interface.name = "eth0";
  options.interface.description = "uplink";
  options.application = "written by a test";
  auto writer = CaptureWriter::create(path("file"), options);
  CaptureInterface cooked;
  cooked.link_type = 276;
  cooked.name = "any";
  ASSERT_TRUE(writer->add_interface(cooked));
  const std::string data(60, 'x');
  CaptureRecord record;
  record.bytes = std::as_bytes(std::span(data));
  record.timestamp_ns = kTime;
  record.comment = "this packet is odd";
  record.drop_count = 17;
  record.flags = 2;
  ASSERT_TRUE(writer->write(record));
  record = {};
  record.bytes = std::as_bytes(std::span(data));
  record.interface_id = 1;
  record.link_type = 276;
  record.timestamp_ns = kTime + 1;
  ASSERT_TRUE(writer->write(record));
  CaptureStatistics statistics;
  statistics.timestamp_ns = kTime + 2;
  statistics.received = 4711;
  statistics.dropped_interface = 42;
  ASSERT_TRUE(writer->write_statistics(0, statistics));
  ASSERT_TRUE(writer->close());

  const auto fields = lines_with(run("tshark -n -r '" + path("file") +
                                     "' -T fields -e frame.time_epoch -e frame.interface_name -e frame.comment"
                                     " -e frame.packet_flags_direction -e frame.drop_count"),
                                 '\t');
  ASSERT_THAT(fields, SizeIs(2));
  EXPECT_THAT(fields[0], HasSubstr("1700000000.123456789\teth0\tthis packet is odd"));
  EXPECT_THAT(fields[1], HasSubstr("1700000000.123456790\tany"));
  const std::string verbose = run("tshark -n -V -r '" + path("file") + "'");
  EXPECT_THAT(verbose, HasSubstr("Outbound"));
  EXPECT_THAT(verbose, HasSubstr("Linux cooked-mode capture v2"));
  const std::string summary = run("capinfos '" + path("file") + "'");
  EXPECT_THAT(summary, HasSubstr("written by a test"));
  EXPECT_THAT(summary, HasSubstr("Number of packets:   2"));
  EXPECT_THAT(summary, HasSubstr("Number of interfaces in file: 2"));
  EXPECT_THAT(summary, HasSubstr("Description = uplink"));
  EXPECT_THAT(summary, HasSubstr("Number of stat entries = 1"));

  // And through editcap back again.
  run("editcap -F pcapng '" + path("file") + "' '" + path("again") + "'");
  const auto again = read_file(path("again"));
  ASSERT_THAT(again, SizeIs(2));
  EXPECT_EQ(again[0].comment, "this packet is odd");
  EXPECT_EQ(again[0].drop_count, 17U);
  EXPECT_EQ(again[0].flags, 2U);
  EXPECT_EQ(again[1].link_type, 276);
}

TEST_F(Tools, PacketsWithoutATimeAreSeen) {
  auto writer = CaptureWriter::create(path("file"));
  const std::string data(61, 'x');
  CaptureRecord record;
  record.bytes = std::as_bytes(std::span(data));
  ASSERT_TRUE(writer->write(record));
  ASSERT_TRUE(writer->close());
  EXPECT_THAT(lines_with(run("tshark -n -r '" + path("file") + "' -T fields -e frame.len -e frame.cap_len"), '\t'),
              ::testing::ElementsAre("61\t61"));
}

TEST_F(Tools, CompressedByTheCommandLineTools) {
  ASSERT_FALSE(captures().empty());
  const std::string source = captures().front();
  run("gzip -c '" + source + "' > '" + path("a") + "'");
  EXPECT_EQ(read_file(path("a")), read_file(source));
  auto writer = CaptureWriter::create(path("b.gz"));
  ASSERT_TRUE(writer->write({}));
  ASSERT_TRUE(writer->close());
  run("gzip -t '" + path("b.gz") + "'");
}

}  // namespace
}  // namespace roce::link::test
