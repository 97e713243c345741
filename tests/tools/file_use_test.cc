// SPDX-License-Identifier: BSD-2-Clause
#include "files/file_use.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <vector>

#include "support/temporary_folder.h"

namespace roce::files {
namespace {

using ::testing::HasSubstr;

class FileUseTest : public roce::test::FolderTest {
 protected:
  FileUseTest() { save("a", "text"); }

  /// Returns the message when `in` is read and the files of `out` are written; empty without a conflict.
  [[nodiscard]] static std::string conflict(const std::string& in, const std::vector<std::string>& out) {
    const std::vector<FileUse> read{{"IN", in}};
    std::vector<FileUse> written;
    for (const std::string& each : out) written.push_back({"--out" + std::to_string(written.size()), each});
    return find_conflict(read, written).value_or("");
  }
};

TEST_F(FileUseTest, AFileIsKnownByAllItsNames) {
  std::filesystem::create_symlink("a", path("soft"));
  std::filesystem::create_hard_link(path("a"), path("hard"));
  const int fd = open(path("a").c_str(), O_RDONLY | O_CLOEXEC);
  for (const std::string& name :
       {path("a"), path("soft"), path("hard"), path("../") + folder().filename().string() + "/a",
        "/proc/self/fd/" + std::to_string(fd), "/dev/fd/" + std::to_string(fd)}) {
    EXPECT_THAT(conflict(path("a"), {name}),
                HasSubstr("cannot write '" + name + "' (--out0): it is the file that is read"));
    EXPECT_THAT(conflict(name, {path("a")}), HasSubstr("it is the file that is read"));
  }
  close(fd);
  EXPECT_THAT(conflict(path("soft"), {path("a")}),
              HasSubstr("is read as '" + path("soft") + "' (IN); choose another name"));
}

TEST_F(FileUseTest, BothEndsOfAPipeAreOneFile) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  EXPECT_NE(conflict(path("pipe"), {path("pipe")}), "");
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  EXPECT_NE(conflict("/proc/self/fd/" + std::to_string(ends[0]), {"/dev/fd/" + std::to_string(ends[1])}), "");
}

TEST_F(FileUseTest, TwoThatAreWrittenMustDiffer) {
  EXPECT_THAT(conflict("", {path("new"), path("./new")}), HasSubstr("--out0 writes too"));
  EXPECT_THAT(conflict("", {path("a"), path("a")}), HasSubstr("--out0 writes too"));
  EXPECT_EQ(conflict("", {path("new"), path("newer"), ""}), "");
}

TEST_F(FileUseTest, WhatIsDifferentGoesTogether) {
  std::filesystem::copy_file(path("a"), path("copy"));
  EXPECT_EQ(conflict(path("a"), {path("copy"), path("new"), "/dev/null"}), "");
  EXPECT_EQ(conflict("/dev/null", {"/dev/null"}), "");
  EXPECT_EQ(conflict("", {""}), "");
}

}  // namespace
}  // namespace roce::files
