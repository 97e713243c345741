// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/input_files.h"

#include <gmock/gmock.h>

#include "dissector/analyze/program.h"
#include "support/vectors.h"

namespace roce::analyze::test {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr std::int64_t kStart = 1'795'213'331'000'000'000;

class InputFilesTest : public ProgramTest {
 protected:
  /// Writes a capture whose packets have these times, in microseconds after `kStart`.
  std::string capture(const std::string& name, const std::vector<std::int64_t>& times_us,
                      link::CaptureFormat format = link::CaptureFormat::pcap_ns) const {
    link::CaptureWriterOptions options;
    options.format = format;
    auto writer = link::CaptureWriter::create(path(name), options);
    EXPECT_TRUE(writer.has_value());
    const std::vector<std::byte> bytes = roce::test::from_hex(roce::test::kT1.hex);
    for (const std::int64_t time_us : times_us) {
      link::CaptureRecord record;
      record.bytes = bytes;
      record.original_length = static_cast<std::uint32_t>(bytes.size());
      record.timestamp_ns = kStart + time_us * 1000;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    EXPECT_TRUE(writer->close().has_value());
    return path(name);
  }
  std::string folder(const std::string& name) const {
    std::filesystem::create_directory(path(name));
    return path(name);
  }
};

InputFiles expand(const std::vector<std::string>& arguments, bool sort = false) {
  return expand_inputs(arguments, {.sort_by_time = sort});
}

std::vector<std::string> names(const InputFiles& inputs) {
  std::vector<std::string> result;
  for (const InputFile& file : inputs.files) result.push_back(std::filesystem::path{file.path}.filename().string());
  return result;
}

TEST_F(InputFilesTest, ADirectoryIsItsCapturesInTheOrderOfTheirPackets) {
  const std::string ring = folder("ring");
  capture("ring/c.pcap", {100});
  capture("ring/b", {300, 50}, link::CaptureFormat::pcapng);
  capture("ring/a.txt", {200});
  capture("ring/0-without-packets.pcap", {});
  save("ring/README", "which is no capture");
  save("ring/empty.pcap", "");
  folder("ring/sub");
  capture("ring/sub/not-looked-at.pcap", {1});
  ASSERT_EQ(mkfifo(path("ring/pipe").c_str(), 0600), 0);
  const InputFiles inputs = expand({ring});
  EXPECT_THAT(names(inputs), ElementsAre("c.pcap", "a.txt", "b", "0-without-packets.pcap"));
  EXPECT_EQ(inputs.files[0].first_ns, kStart + 100'000);
  EXPECT_EQ(inputs.files[0].size_bytes, std::filesystem::file_size(path("ring/c.pcap")));
  EXPECT_TRUE(inputs.files[0].is_regular);
  EXPECT_THAT(inputs.errors, IsEmpty());
  ASSERT_EQ(inputs.warnings.size(), 1U);
  EXPECT_THAT(inputs.warnings[0],
              AllOf(HasSubstr(ring), HasSubstr("passed over what is no capture file: README, empty.pcap, pipe, sub")));
}

TEST_F(InputFilesTest, ManyOtherFilesAreOneMessage) {
  const std::string ring = folder("ring");
  for (int i = 0; i < 100; ++i) save("ring/" + std::to_string(100 + i), "no capture");
  const InputFiles inputs = expand({ring});
  ASSERT_EQ(inputs.warnings.size(), 1U);
  EXPECT_THAT(inputs.warnings[0], HasSubstr("100, 101, 102, 103, 104 and 95 more"));
  ASSERT_EQ(inputs.errors.size(), 1U);
  EXPECT_THAT(inputs.errors[0], HasSubstr("holds no capture file"));
}

TEST_F(InputFilesTest, GivenFilesKeepTheirOrderUnlessSorted) {
  const std::string late = capture("late", {300});
  const std::string early = capture("early", {100});
  const std::string ring = folder("ring");
  capture("ring/between", {200});
  EXPECT_THAT(names(expand({late, ring, early})), ElementsAre("late", "between", "early"));
  EXPECT_THAT(names(expand({late, ring, early}, true)), ElementsAre("early", "between", "late"));
  EXPECT_THAT(names(expand({"-", late, early}, true)), ElementsAre("early", "late", "-"));
}

TEST_F(InputFilesTest, AFileIsReadOnceUnderAllItsNames) {
  const std::string ring = folder("ring");
  const std::string file = capture("ring/a", {100});
  std::filesystem::create_symlink(file, path("link"));
  std::filesystem::create_hard_link(file, path("hard"));
  const InputFiles inputs = expand({path("link"), file, path("hard"), ring, path("link")});
  EXPECT_THAT(names(inputs), ElementsAre("link"));
  EXPECT_THAT(inputs.warnings,
              ElementsAre("'" + path("link") + "' and '" + file + "' are the same file; it is read once",
                          "'" + path("link") + "' and '" + path("hard") + "' are the same file; it is read once",
                          "'" + path("link") + "' and '" + file + "' are the same file; it is read once",
                          "'" + path("link") + "' was given twice; it is read once"));
  EXPECT_THAT(inputs.errors, IsEmpty());
}

TEST_F(InputFilesTest, WhatIsNotThereIsAnErrorAndTheRestIsRead) {
  const std::string file = capture("a", {100});
  const InputFiles inputs = expand({path("none"), file});
  EXPECT_THAT(names(inputs), ElementsAre("a"));
  EXPECT_THAT(inputs.errors, ElementsAre("cannot read '" + path("none") + "': No such file or directory"));
}

TEST_F(InputFilesTest, PipesAreLeftAlone) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  const InputFiles inputs = expand({path("pipe"), path("pipe"), "-"}, true);
  EXPECT_THAT(names(inputs), ElementsAre("pipe", "-"));
  EXPECT_FALSE(inputs.files[0].is_regular);
  EXPECT_EQ(inputs.warnings.size(), 1U);
}

TEST_F(InputFilesTest, StandardInputIsNotTakenForAFileOfThatName) {
  const InputFiles inputs = expand({"-"});
  ASSERT_EQ(inputs.files.size(), 1U);
  EXPECT_EQ(inputs.files[0].path, "-");
  EXPECT_FALSE(inputs.files[0].is_regular);
}

TEST_F(InputFilesTest, GivenFilesThatAreNoCapturesAreLeftToTheReader) {
  const std::string text = save("text", "which is no capture");
  const InputFiles inputs = expand({text}, true);
  EXPECT_THAT(names(inputs), ElementsAre("text"));
  EXPECT_THAT(inputs.errors, IsEmpty());
}

}  // namespace
}  // namespace roce::analyze::test
