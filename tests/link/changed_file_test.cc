// SPDX-License-Identifier: BSD-2-Clause
// Captures that somebody else writes to while they are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "capture_builder.h"
#include "support/temporary_folder.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;

constexpr std::uint32_t kMicroseconds = 0xA1B2C3D4;
constexpr std::size_t kRecords = 500;
// Makes the file longer than what is read of it at once, so that what is cut off is not in memory yet.
constexpr std::size_t kLength = 10'000;

/// The formats, each made of records that contain their number.
class ChangedFile : public roce::test::FolderTest, public ::testing::WithParamInterface<const char*> {
 protected:
  [[nodiscard]] std::string make(const std::string& name, char fill = '.') const {
    const bool is_pcapng = std::string_view{GetParam()} == "pcapng";
    FileBuilder file;
    if (is_pcapng) {
      file.section().interface();
    } else {
      file.pcap_header(kMicroseconds);
    }
    for (std::size_t i = 1; i <= kRecords; ++i) {
      const std::string data = std::to_string(i) + std::string(kLength, fill);
      if (is_pcapng) {
        file.enhanced(0, i, data);
      } else {
        file.pcap_record(1, static_cast<std::uint32_t>(i), data);
      }
    }
    return save(name, file.bytes());
  }

  /// Reads on to the end; returns how many records there were, all of them right.
  static std::uint64_t read_on(CaptureReader& reader, char fill = '.') {
    CaptureRecord record;
    std::uint64_t number = 0;
    while (reader.next(record)) {
      number = record.number;
      EXPECT_EQ(text(record.bytes), std::to_string(number) + std::string(kLength, fill));
    }
    return number;
  }
};

INSTANTIATE_TEST_SUITE_P(Formats, ChangedFile, ::testing::Values("pcap", "pcapng"),
                         [](const auto& variant) { return std::string{variant.param}; });

TEST_P(ChangedFile, WhatWasCutOffIsAnError) {
  for (const std::uintmax_t left : {std::uintmax_t{0}, std::uintmax_t{100}, std::uintmax_t{kLength * kRecords / 2}}) {
    SCOPED_TRACE(left);
    const std::string file = make("a");
    const std::uintmax_t size = std::filesystem::file_size(file);
    auto reader = CaptureReader::open(file);
    ASSERT_TRUE(reader);
    CaptureRecord record;
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(reader->next(record));
    std::filesystem::resize_file(file, left);
    const std::uint64_t read = read_on(*reader);
    EXPECT_LT(read, kRecords);
    ASSERT_TRUE(reader->error());
    EXPECT_THAT(reader->error()->message, HasSubstr(file + ": byte " + std::to_string(*reader->error()->offset)));
    EXPECT_THAT(reader->error()->message, HasSubstr("cut while it was read: it had " + std::to_string(size) +
                                                    " bytes when it was opened, it has " + std::to_string(left)));
    EXPECT_THAT(reader->error()->message, HasSubstr("packets before it were read"));
    EXPECT_FALSE(reader->next(record));
  }
}

TEST_P(ChangedFile, WhatIsAddedIsLeftAlone) {
  const std::string file = make("a");
  auto reader = CaptureReader::open(file);
  ASSERT_TRUE(reader);
  CaptureRecord record;
  ASSERT_TRUE(reader->next(record));
  std::ofstream(file, std::ios::binary | std::ios::app) << "half a record";
  EXPECT_EQ(read_on(*reader), kRecords);
  EXPECT_FALSE(reader->error()) << reader->error()->message;
}

TEST_P(ChangedFile, AFileThatWasReplacedIsReadToItsEnd) {
  const std::string file = make("a");
  auto reader = CaptureReader::open(file);
  ASSERT_TRUE(reader);
  CaptureRecord record;
  ASSERT_TRUE(reader->next(record));
  std::filesystem::rename(make("b", '!'), file);
  EXPECT_EQ(read_on(*reader), kRecords);
  EXPECT_FALSE(reader->error()) << reader->error()->message;
}

}  // namespace
}  // namespace roce::link::test
