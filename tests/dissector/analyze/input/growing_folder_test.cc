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
  folder_.leave(std::filesystem::file_size(path("0")));
  EXPECT_EQ(next(), "1");
  // As a ring of fixed names does: the same file, emptied and written again, whatever its length.
  for (const int frames : {2, 5, 9}) {
    write("replacement", 3 + frames, frames);
    std::filesystem::copy_file(path("replacement"), path("0"), std::filesystem::copy_options::overwrite_existing);
    std::filesystem::remove(path("replacement"));
    EXPECT_EQ(next(), "0") << frames << " frames";
    EXPECT_EQ(next(), "");
  }
  EXPECT_EQ(folder_.missed(), 0);
}

TEST_F(GrowingFolderTest, CountsAFileThatIsBegunAnewBeforeItWasReturned) {
  write("0", 1);
  write("1", 2);
  EXPECT_TRUE(folder_.look());
  write("replacement", 3);
  std::filesystem::copy_file(path("replacement"), path("0"), std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(path("replacement"));
  EXPECT_EQ(next(), "1");
  EXPECT_EQ(next(), "0");
  EXPECT_EQ(next(), "");
  EXPECT_EQ(folder_.missed(), 1);
}

TEST_F(GrowingFolderTest, PassesOverTheCompressedCopyOfAPiece) {
  write("a.pcapng", 1);
  EXPECT_EQ(next(), "a.pcapng");
  write("b.pcapng", 2);
  write("a.pcapng.gz", 1);
  std::filesystem::remove(path("a.pcapng"));
  EXPECT_EQ(next(), "b.pcapng");
  EXPECT_EQ(next(), "");
  // One that was compressed before anybody looked is read.
  write("0.pcapng.gz", 3);
  EXPECT_EQ(next(), "0.pcapng.gz");
}

TEST_F(GrowingFolderTest, SaysThatAFileHasGrownAfterItWasLeft) {
  write("a", 1, 2);
  EXPECT_EQ(next(), "a");
  write("b", 2, 2);
  folder_.leave(std::filesystem::file_size(path("a")));
  EXPECT_EQ(next(), "b");
  EXPECT_EQ(folder_.left_early(), 0);
  write("more", 1, 3);
  std::filesystem::copy_file(path("more"), path("a"), std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(path("more"));
  EXPECT_EQ(next(), "");
  EXPECT_EQ(folder_.left_early(), 1);
}

TEST_F(GrowingFolderTest, PutsAFileInItsPlaceOnceItHasATime) {
  write("z", 1, 0);
  write("y", 9);
  EXPECT_TRUE(folder_.look());
  write("first", 1);
  std::filesystem::copy_file(path("first"), path("z"), std::filesystem::copy_options::overwrite_existing);
  std::filesystem::remove(path("first"));
  EXPECT_EQ(next(), "z");
  EXPECT_EQ(next(), "y");
  EXPECT_EQ(next(), "");
}

}  // namespace
}  // namespace roce::analyze
