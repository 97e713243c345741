// SPDX-License-Identifier: BSD-2-Clause
// Captures that are read while they grow.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <vector>

#include "capture_builder.h"
#include "support/temporary_folder.h"

namespace roce::link::test {
namespace {

using ::testing::HasSubstr;
using ::testing::SizeIs;

constexpr std::uint32_t kMicroseconds = 0xA1B2C3D4;

FileBuilder capture_of(std::string_view format, std::size_t records) {
  FileBuilder file;
  if (format == "pcapng") {
    file.section().interface();
  } else {
    file.pcap_header(kMicroseconds);
  }
  for (std::size_t i = 1; i <= records; ++i) {
    const std::string data(10 + 97 * i % 1400, static_cast<char>('a' + i % 26));
    if (format == "pcapng") {
      file.enhanced(0, i, data);
    } else {
      file.pcap_record(1, static_cast<std::uint32_t>(i), data);
    }
  }
  return file;
}

/// A file that somebody writes in pieces of `step` bytes, one whenever the reader waits.
class FollowedCapture : public roce::test::FolderTest, public ::testing::WithParamInterface<const char*> {
 protected:
  void append(std::span<const std::byte> bytes) const {
    std::ofstream file(path("capture"), std::ios::binary | std::ios::app);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }

  /// Returns the records that are read of the first `size` bytes of `file`.
  [[nodiscard]] std::vector<std::string> follow(const FileBuilder& file, std::size_t size, std::size_t step) const {
    std::filesystem::remove(path("capture"));
    append({});
    std::span<const std::byte> left{file.bytes().data(), size};
    auto reader = CaptureReader::follow(path("capture"), [&](int fd) {
      EXPECT_EQ(fd, -1) << "a regular file is always readable";
      if (left.empty()) return false;
      const std::size_t now = std::min(step, left.size());
      append(left.first(now));
      left = left.subspan(now);
      return true;
    });
    EXPECT_TRUE(reader) << reader.error().message;
    if (!reader) return {};
    std::vector<std::string> records = texts(*reader);
    EXPECT_FALSE(reader->error()) << reader->error()->message;
    return records;
  }

  static std::vector<std::string> texts(CaptureReader& reader) {
    std::vector<std::string> records;
    CaptureRecord record;
    while (reader.next(record)) {
      records.emplace_back(reinterpret_cast<const char*>(record.bytes.data()), record.bytes.size());
      EXPECT_EQ(record.number, records.size());
    }
    return records;
  }
};
INSTANTIATE_TEST_SUITE_P(All, FollowedCapture, ::testing::Values("pcap", "pcapng"),
                         [](const auto& variant) { return std::string{variant.param}; });

TEST_P(FollowedCapture, ReadsWhatComesHoweverItIsCut) {
  const FileBuilder file = capture_of(GetParam(), 40);
  auto whole = CaptureReader::from_memory(file.bytes());
  ASSERT_TRUE(whole);
  const std::vector<std::string> expected = texts(*whole);
  ASSERT_THAT(expected, SizeIs(40));
  for (const std::size_t step : {std::size_t{1}, std::size_t{7}, std::size_t{333}, file.bytes().size()}) {
    EXPECT_EQ(follow(file, file.bytes().size(), step), expected) << "in steps of " << step << " bytes";
  }
}

TEST_P(FollowedCapture, LeavesOutARecordThatIsNotWholeWhenNoMoreIsWanted) {
  const FileBuilder nine = capture_of(GetParam(), 9);
  const FileBuilder ten = capture_of(GetParam(), 10);
  for (std::size_t size = nine.bytes().size(); size < ten.bytes().size(); size += 5) {
    EXPECT_THAT(follow(ten, size, 100), SizeIs(9)) << size << " bytes";
  }
}

TEST_P(FollowedCapture, DamageIsAnErrorAsInAnyCapture) {
  FileBuilder file = capture_of(GetParam(), 3);
  const std::size_t good = file.bytes().size();
  file.u32(5).u32(7).u32(0xFFFFFFFF).u32(0xFFFFFFFF);
  append(file.bytes());
  auto reader = CaptureReader::follow(path("capture"), [](int) { return false; });
  ASSERT_TRUE(reader);
  EXPECT_THAT(texts(*reader), SizeIs(3));
  ASSERT_TRUE(reader->error());
  EXPECT_THAT(reader->error()->message, HasSubstr("byte " + std::to_string(good)));
}

TEST_P(FollowedCapture, AFileThatBecomesShorterIsAnError) {
  append(capture_of(GetParam(), 3).bytes());
  auto reader = CaptureReader::follow(path("capture"), [&](int) {
    std::filesystem::resize_file(path("capture"), 30);
    return true;
  });
  ASSERT_TRUE(reader);
  EXPECT_THAT(texts(*reader), SizeIs(3));
  ASSERT_TRUE(reader->error());
  EXPECT_THAT(reader->error()->message, HasSubstr("was cut while it was followed"));
  EXPECT_THAT(reader->error()->message, HasSubstr("it has 30"));
}

TEST_P(FollowedCapture, APipeEndsWithItsWriter) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  const int writer = ::open(path("pipe").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_GE(writer, 0);
  const FileBuilder file = capture_of(GetParam(), 5);
  std::span<const std::byte> left{file.bytes()};
  bool is_closed = false;
  auto reader = CaptureReader::follow(path("pipe"), [&](int fd) {
    pollfd state{fd, POLLIN, 0};
    EXPECT_EQ(::poll(&state, 1, 0), 0) << "it waits although there is something to read";
    if (left.empty()) {
      EXPECT_FALSE(is_closed);
      is_closed = true;
      ::close(writer);
      return true;
    }
    const std::size_t now = std::min(std::size_t{500}, left.size());
    EXPECT_EQ(::write(writer, left.data(), now), static_cast<ssize_t>(now));
    left = left.subspan(now);
    EXPECT_EQ(::poll(&state, 1, 0), 1);
    return true;
  });
  ASSERT_TRUE(reader);
  EXPECT_THAT(texts(*reader), SizeIs(5));
  EXPECT_FALSE(reader->error());
  EXPECT_TRUE(is_closed);
}

TEST_F(FollowedCapture, CompressedFilesAreRefused) {
  append(FileBuilder().u32(0x00088B1F).u32(0).u32(0).u32(0).bytes());
  const auto reader = CaptureReader::follow(path("capture"), [](int) { return false; });
  ASSERT_FALSE(reader);
  EXPECT_THAT(reader.error().message, HasSubstr("is compressed, and cannot be followed"));
}

TEST_F(FollowedCapture, AFileThatStaysWithoutAHeaderHasNoRecords) {
  for (const std::size_t size : {std::size_t{0}, std::size_t{3}, std::size_t{20}}) {
    std::filesystem::remove(path("capture"));
    append(std::span{capture_of("pcap", 1).bytes()}.first(size));
    auto reader = CaptureReader::follow(path("capture"), [](int) { return false; });
    ASSERT_TRUE(reader) << reader.error().message;
    EXPECT_THAT(texts(*reader), SizeIs(0));
    EXPECT_FALSE(reader->error());
  }
}

TEST_F(FollowedCapture, APipeWithoutAWriterIsWaitedFor) {
  ASSERT_EQ(::mkfifo(path("pipe").c_str(), 0600), 0);
  int waits = 0;
  auto reader = CaptureReader::follow(path("pipe"), [&](int) { return ++waits < 3; });
  ASSERT_TRUE(reader) << reader.error().message;
  EXPECT_THAT(texts(*reader), SizeIs(0));
  EXPECT_EQ(waits, 3);
}

TEST_P(FollowedCapture, AFileThatWasRemovedEndsWithWhatItHas) {
  append(capture_of(GetParam(), 3).bytes());
  auto reader = CaptureReader::follow(path("capture"), [&](int) {
    std::filesystem::remove(path("capture"));
    return true;
  });
  ASSERT_TRUE(reader);
  EXPECT_THAT(texts(*reader), SizeIs(3));
  EXPECT_FALSE(reader->error());
}

}  // namespace
}  // namespace roce::link::test
