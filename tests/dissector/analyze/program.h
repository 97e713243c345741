// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roce/link/capture_reader.h"
#include "roce/link/capture_writer.h"
#include "roce/wire/types.h"
#include "support/hex.h"
#include "support/source_tree.h"
#include "support/temporary_folder.h"

namespace roce::analyze::test {

/// The outcome of a run of a program.
struct Outcome {
  int exit_code = -1;
  int signal = 0;
  std::string out;
  std::string err;
};

inline std::vector<std::string> lines(std::string_view text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    result.emplace_back(text.substr(0, end));
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return result;
}

inline std::string softroce(const std::string& name) {
  return roce::test::captures_folder() + "/softroce/" + name;
}

/// A test that runs roce-analyze and has a folder of its own.
class ProgramTest : public roce::test::FolderTest {
 protected:
  /// Writes a capture file of frames given as hex.
  std::string save_frames(const std::string& name, const std::vector<std::string>& frames,
                          const link::CaptureWriterOptions& options = {}) const {
    auto writer = link::CaptureWriter::create(path(name), options);
    EXPECT_TRUE(writer.has_value());
    std::int64_t time = 1'795'213'331'000'000'000;
    for (const std::string& frame : frames) {
      const std::vector<std::byte> bytes = roce::test::from_hex(frame);
      link::CaptureRecord record;
      record.bytes = bytes;
      record.original_length = static_cast<std::uint32_t>(bytes.size());
      record.timestamp_ns = time += 1000;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    EXPECT_TRUE(writer->close().has_value());
    return path(name);
  }

  /// Writes frames `from` … `to` (from 1, both included) of a capture as a pcapng file of its own.
  [[nodiscard]] std::string save_part(const std::string& name, const std::string& capture, std::uint64_t from,
                                      std::uint64_t to, bool with_drops = false) const {
    auto reader = link::CaptureReader::open(capture);
    auto writer = link::CaptureWriter::create(path(name));
    EXPECT_TRUE(reader.has_value() && writer.has_value());
    link::CaptureRecord record;
    while (reader->next(record)) {
      if (record.number < from || record.number > to) continue;
      record.interface_id = 0;
      if (with_drops && record.number == to) record.drop_count = 7;
      EXPECT_TRUE(writer->write(record).has_value());
    }
    if (with_drops) {
      link::CaptureStatistics statistics;
      statistics.timestamp_ns = 1'795'213'331'000'000'000;
      statistics.dropped_interface = 5;
      EXPECT_TRUE(writer->write_statistics(0, statistics).has_value());
    }
    EXPECT_TRUE(writer->close().has_value());
    return path(name);
  }

  /// Runs `roce-analyze decode` with arguments and this standard input; standard output goes to `out_file` when given.
  [[nodiscard]] Outcome decode(std::vector<std::string> arguments, std::string_view input = {},
                               const std::string& out_file = {}) const {
    arguments.insert(arguments.begin(), "decode");
    return run(std::move(arguments), input, out_file);
  }

  [[nodiscard]] Outcome run(std::vector<std::string> arguments, std::string_view input = {},
                            const std::string& out_file = {}) const {
    const std::string in = save("stdin", input);
    const std::string out = out_file.empty() ? path("stdout") : out_file;
    arguments.insert(arguments.begin(), ROCE_ANALYZE);
    std::vector<char*> argv;
    for (std::string& argument : arguments) argv.push_back(argument.data());
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, in.c_str(), O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, path("stderr").c_str(), O_WRONLY | O_CREAT | O_TRUNC,
                                     0600);
    pid_t child = 0;
    const int error = posix_spawn(&child, ROCE_ANALYZE, &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    Outcome result;
    EXPECT_EQ(error, 0) << "cannot start " << ROCE_ANALYZE;
    if (error != 0) return result;
    int status = 0;
    waitpid(child, &status, 0);
    if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
    if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
    if (out_file.empty()) result.out = load(out);
    result.err = load(path("stderr"));
    return result;
  }
};

/// The same in a locale with UTF-8, whatever that of the caller is.
class Utf8ProgramTest : public ProgramTest {
 protected:
  Utf8ProgramTest() { setenv("LC_ALL", "C.UTF-8", 1); }
  ~Utf8ProgramTest() override { unsetenv("LC_ALL"); }
};

}  // namespace roce::analyze::test
