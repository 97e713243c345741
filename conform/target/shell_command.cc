// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/shell_command.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace roce::conform {

namespace {

constexpr std::chrono::milliseconds kPatience{1000};

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

}  // namespace

TargetResult<ShellCommand> ShellCommand::start(const std::string& command, const std::vector<std::string>& extra,
                                               Output output) {
  std::vector<std::string> words{"/bin/sh", "-c", command};
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  environment.insert(environment.end(), extra.begin(), extra.end());
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> variables = pointers_to(environment);
  posix_spawn_file_actions_t files;
  ::posix_spawn_file_actions_init(&files);
  if (output == Output::dropped) {
    ::posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    ::posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  }
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/bin/sh", &files, &attributes, arguments.data(), variables.data());
  ::posix_spawnattr_destroy(&attributes);
  ::posix_spawn_file_actions_destroy(&files);
  if (error != 0) return tl::unexpected(fmt::format("cannot start /bin/sh: {}", std::strerror(error)));
  return ShellCommand{child};
}

ShellCommand::ShellCommand(ShellCommand&& other) noexcept : child_(std::exchange(other.child_, 0)) {}

ShellCommand& ShellCommand::operator=(ShellCommand&& other) noexcept {
  std::swap(child_, other.child_);
  return *this;
}

ShellCommand::~ShellCommand() {
  end(kPatience);
}

bool ShellCommand::wait_until(Clock::time_point end) const {
  if (child_ == 0) return true;
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, child_, 0));
  if (process < 0) return false;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  pollfd ended{process, POLLIN, 0};
  const int count = ::poll(&ended, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000)));
  ::close(process);
  return count > 0;
}

TargetResult<void> ShellCommand::result() {
  int status = 0;
  while (child_ != 0 && ::waitpid(child_, &status, 0) < 0 && errno == EINTR) {
  }
  child_ = 0;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status)) return tl::unexpected(fmt::format("the command ended with status {}", WEXITSTATUS(status)));
  return tl::unexpected(fmt::format("the command was ended by signal {}", WTERMSIG(status)));
}

void ShellCommand::end(std::chrono::milliseconds patience) {
  if (child_ == 0) return;
  if (patience.count() != 0 && !wait_until(Clock::now())) ::kill(-child_, SIGTERM);
  if (!wait_until(Clock::now() + patience)) ::kill(-child_, SIGKILL);
  (void)result();
}

}  // namespace roce::conform
