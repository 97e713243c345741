// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/input/growing_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "roce/link/capture_writer.h"
#include "support/temporary_folder.h"

namespace roce::analyze {
namespace {

class GrowingFolderTest : public roce::test::FolderTest {
 protected:
  /// Writes a capture of `frames` frames from the second `start` on.
  void write(const std::string& name, std::int64_t start, int frames = 1) const {
    auto writer = link::CaptureWriter::create(path(name));
    ASSERT_TRUE(writer);
    const std::array<std::byte, 60> bytes{};
    for (int i = 0; i < frames; ++i) {
      link::CaptureRecord record;
      record.bytes = bytes;
      record.original_length = 60;
      record.timestamp_ns = start * 1'000'000'000 + i;
      ASSERT_TRUE(writer->write(record));
    }
    ASSERT_TRUE(writer->close());
  }
  std::string next() {
    const auto file = folder_.next();
    return file ? std::filesystem::path{file->path}.filename().string() : "";
  }

  GrowingFolder folder_{path(".")};
};

TEST_F(GrowingFolderTest, ReturnsEachFileOnceInTheOrderOfTheFirstPackets) {
  EXPECT_FALSE(folder_.look());
  write("b", 2);
  write("c", 1);
  EXPECT_TRUE(folder_.look());
  EXPECT_EQ(next(), "c");
  write("a", 3);
  EXPECT_EQ(next(), "b");
  EXPECT_EQ(next(), "a");
  EXPECT_EQ(next(), "");
  EXPECT_EQ(folder_.missed(), 0);
}

TEST_F(GrowingFolderTest, TakesAFileOnceItsHeaderIsThere) {
  std::ofstream{path("new")} << "\xd4\xc3";
  EXPECT_EQ(next(), "");
  std::ofstream{path("notes.txt")} << "no capture";
  EXPECT_EQ(next(), "");
  write("new", 1, 0);
  EXPECT_EQ(next(), "new");
}

TEST_F(GrowingFolderTest, CountsFilesThatWereRemovedBeforeTheyWereReturned) {
  write("a", 1);
  write("b", 2);
  write("c", 3);
  EXPECT_EQ(next(), "a");
  std::filesystem::remove(path("b"));
  EXPECT_EQ(next(), "c");
  EXPECT_EQ(folder_.missed(), 1);
}

TEST_F(GrowingFolderTest, FindsAFileThatIsBegunAnewUnderItsName) {
  write("0", 1, 5);
  write("1", 2, 5);
  EXPECT_EQ(next(), "0");
  folder_.note_read(path("0"), std::filesystem::file_size(path("0")));
  EXPECT_EQ(next(), "1");
  write("replacement", 3, 2);
  // As a ring of fixed names does: the same file, emptied and written again.
  std::filesystem::copy_file(path("replacement"), path("0"), std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(path("replacement"));
  EXPECT_EQ(next(), "0");
  EXPECT_EQ(next(), "");
}

}  // namespace
}  // namespace roce::analyze
