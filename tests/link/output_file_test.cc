// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/output_file.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/temporary_folder.h"

namespace roce::link::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::span<const std::byte> bytes(std::string_view text) {
  return std::as_bytes(std::span{text});
}

class Output : public roce::test::FolderTest {
 protected:
  OutputFile create(const std::string& file) {
    auto made = OutputFile::create(file);
    if (!made) throw std::runtime_error(made.error().message);
    return std::move(*made);
  }
  /// Returns the names of the files in the folder.
  [[nodiscard]] std::vector<std::string> names() const {
    std::vector<std::string> found;
    for (const auto& entry : std::filesystem::directory_iterator{path(".")}) found.push_back(entry.path().filename());
    std::sort(found.begin(), found.end());
    return found;
  }
};

TEST_F(Output, StandsBesideItsPlaceUntilItIsWhole) {
  save("a", bytes("old"));
  OutputFile file = create(path("a"));
  ASSERT_TRUE(file.write(bytes("ne")));
  EXPECT_THAT(names(), ElementsAre("a", "a.partial"));
  EXPECT_EQ(load(path("a")), "old");
  ASSERT_TRUE(file.write(bytes("w")));
  ASSERT_TRUE(file.close());
  ASSERT_TRUE(file.close());
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(load(path("a")), "new");
}

TEST_F(Output, WhatIsNotClosedIsNotThere) {
  save("a", bytes("old"));
  ASSERT_TRUE(create(path("a")).write(bytes("new")));
  ASSERT_TRUE(create(path("b")).write(bytes("new")));
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(load(path("a")), "old");
}

TEST_F(Output, WhatASignalEndsIsNotThere) {
  save("a", bytes("old"));
  const pid_t child = fork();
  if (child == 0) {
    std::signal(SIGTERM, [](int signal) {
      OutputFile::remove_unfinished();
      std::_Exit(signal);
    });
    auto replaced = OutputFile::create(path("a"));
    auto made = OutputFile::create(path("b"));
    if (!replaced || !made || !made->write(bytes("new"))) std::_Exit(99);
    std::raise(SIGTERM);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(WEXITSTATUS(status), SIGTERM);
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(load(path("a")), "old");
}

TEST_F(Output, LeftoversOfOthersStay) {
  save("a.partial", bytes("theirs"));
  OutputFile file = create(path("a"));
  OutputFile other = create(path("a"));
  ASSERT_TRUE(file.write(bytes("first")));
  ASSERT_TRUE(other.write(bytes("second")));
  ASSERT_TRUE(other.close());
  ASSERT_TRUE(file.close());
  EXPECT_THAT(names(), ElementsAre("a", "a.partial"));
  EXPECT_EQ(load(path("a")), "first");
  EXPECT_EQ(load(path("a.partial")), "theirs");
}

TEST_F(Output, AFullDiskLeavesTheOldFile) {
  save("a", bytes("old"));
  rlimit limit{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &limit), 0);
  const rlimit small{1000, limit.rlim_max};
  const auto before = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  OutputFile replaced = create(path("a"));
  OutputFile made = create(path("b"));
  const std::string long_text(2000, 'x');
  const auto failed = replaced.write(bytes(long_text));
  const auto failed_too = made.write(bytes(long_text));
  EXPECT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
  std::signal(SIGXFSZ, before);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, path("a") + ": cannot write: File too large; the old file stays as it was");
  ASSERT_FALSE(failed_too);
  EXPECT_EQ(failed_too.error().message, path("b") + ": cannot write: File too large; no file was written");
  EXPECT_FALSE(replaced.write(bytes("x")));
  EXPECT_FALSE(replaced.close());
  EXPECT_THAT(names(), ElementsAre("a"));
  EXPECT_EQ(load(path("a")), "old");
}

TEST_F(Output, LinksAreFollowed) {
  save("a", bytes("old"));
  std::filesystem::create_directory(path("folder"));
  std::filesystem::create_symlink("../a", path("folder/link"));
  std::filesystem::create_symlink(path("folder/link"), path("link"));
  std::filesystem::create_symlink("new", path("dangling"));
  for (const char* name : {"link", "dangling"}) {
    OutputFile file = create(path(name));
    ASSERT_TRUE(file.write(bytes("new")));
    ASSERT_TRUE(file.close());
    EXPECT_TRUE(std::filesystem::is_symlink(path(name)));
  }
  EXPECT_EQ(load(path("a")), "new");
  EXPECT_EQ(load(path("new")), "new");
  EXPECT_THAT(names(), ElementsAre("a", "dangling", "folder", "link", "new"));
}

TEST_F(Output, KeepsTheModeOfTheOldFile) {
  save("a", bytes("old"));
  ASSERT_EQ(chmod(path("a").c_str(), 0604), 0);
  ASSERT_TRUE(create(path("a")).close());
  struct stat status {};
  ASSERT_EQ(stat(path("a").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 07777U, 0604U);
}

TEST_F(Output, PipesAreWrittenAtOnce) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  std::string read;
  std::thread reader{[&] { read = load(path("pipe")); }};
  {
    OutputFile file = create(path("pipe"));
    ASSERT_TRUE(file.write(bytes("through")));
    ASSERT_TRUE(file.close());
  }
  reader.join();
  EXPECT_EQ(read, "through");
  EXPECT_THAT(names(), ElementsAre("pipe"));
}

TEST_F(Output, ADescriptorOfThisProcessIsWrittenOn) {
  const int fd = open(path("a").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_GE(fd, 0);
  ASSERT_EQ(write(fd, "before ", 7), 7);
  OutputFile file = create("/proc/self/fd/" + std::to_string(fd));
  ASSERT_TRUE(file.write(bytes("behind")));
  ASSERT_TRUE(file.close());
  close(fd);
  EXPECT_EQ(load(path("a")), "before behind");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(Output, WhatCannotBeWrittenIsRefusedBeforeAnything) {
  const auto refused = [](const std::string& file) {
    const auto made = OutputFile::create(file);
    return made ? "made" : made.error().message;
  };
  EXPECT_THAT(refused(path(".")), HasSubstr("is a directory"));
  EXPECT_THAT(refused(path("none/a")), HasSubstr("none/a: cannot create: No such file"));
  EXPECT_THAT(refused("/proc/self/fd/12345"), HasSubstr("cannot"));
  EXPECT_THAT(names(), ElementsAre());
}

TEST_F(Output, LongNamesHaveRoomForTheirSuffix) {
  const std::string name(255, 'n');
  OutputFile file = create(path(name));
  ASSERT_TRUE(file.write(bytes("x")));
  ASSERT_TRUE(file.close());
  EXPECT_THAT(names(), ElementsAre(name));
}

}  // namespace
}  // namespace roce::link::test
