// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/port/start_daemon.h"

#include <fcntl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <vector>

#include "roce/link/file_descriptor.h"

namespace roce::verbs {

namespace {

using link::FileDescriptor;

constexpr int kNotStarted = 127;

/// Returns the environment without what loads our libraries, which the daemon does not need.
[[nodiscard]] std::vector<char*> environment_of_daemon() {
  std::vector<char*> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text{*entry};
    if (!text.starts_with("LD_PRELOAD=") && !text.starts_with("LD_LIBRARY_PATH=")) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

/// Runs a program whose output goes to `output`, and whose other standard files are nothing. Returns its process, which
/// sends no signal when it ends and which nobody waits for by accident; -1 with errno.
[[nodiscard]] pid_t run_apart(std::vector<char*> arguments, int output) {
  std::vector<char*> environment = environment_of_daemon();
  // A fork would run the handlers that the program has for forks. From here on only system calls are allowed.
  const auto child = static_cast<pid_t>(::syscall(SYS_clone, 0UL, nullptr, nullptr, nullptr, 0UL));
  if (child != 0) return child;
  const int nothing = ::open("/dev/null", O_RDWR);
  if (nothing >= 0 && ::dup2(nothing, STDIN_FILENO) >= 0 && ::dup2(nothing, STDERR_FILENO) >= 0 &&
      ::dup2(output, STDOUT_FILENO) >= 0) {
    ::execve(arguments.front(), arguments.data(), environment.data());
  }
  ::_exit(kNotStarted);
}

[[nodiscard]] std::string read_all(const FileDescriptor& from) {
  std::string text;
  std::array<char, 512> part{};
  for (;;) {
    const ssize_t got = ::read(from.get(), part.data(), part.size());
    if (got > 0) {
      text.append(part.data(), static_cast<std::size_t>(got));
    } else if (got == 0 || errno != EINTR) {
      return text;
    }
  }
}

}  // namespace

tl::expected<void, std::string> start_daemon(const std::string& program, const std::string& address,
                                             const std::string& interface) {
  const auto cannot = [&](const std::string& why) {
    return tl::unexpected("cannot start " + program + ": " + why +
                          "; install the whole package, or set ROCE_VERBS_PORTD=inside to do without it");
  };
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return cannot(std::strerror(errno));
  const FileDescriptor said{ends[0]};
  FileDescriptor output{ends[1]};
  std::vector<std::string> words{program, "--address", address, "--interface", interface};
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  const pid_t child = run_apart(std::move(arguments), output.get());
  if (child < 0) return cannot(std::strerror(errno));
  output = FileDescriptor{};
  std::string verdict = read_all(said);
  int status = 0;
  while (::waitpid(child, &status, __WALL) < 0 && errno == EINTR) {
  }
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (verdict.empty()) return cannot("it does not run here");
  if (verdict.back() == '\n') verdict.pop_back();
  return tl::unexpected(std::move(verdict));
}

}  // namespace roce::verbs
