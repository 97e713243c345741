// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/recovery.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <thread>
#include <utility>
#include <vector>

namespace roce::conform {

namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> environment_of(const Death& death) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) environment.emplace_back(*entry);
  environment.push_back(fmt::format("ROCE_DAMAGE={}", to_string(death.damage)));
  environment.push_back(fmt::format("ROCE_DEATH={}", death.what));
  environment.push_back(fmt::format("ROCE_INSTANCES={}", fmt::join(death.instances, "\n")));
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  pointers.reserve(texts.size() + 1);
  for (std::string& text : texts) pointers.push_back(text.data());
  pointers.push_back(nullptr);
  return pointers;
}

/// Starts a command of the shell in a process group of its own, with no signal blocked: a run blocks those that stop
/// it.
TargetResult<pid_t> start(const std::string& command, std::vector<std::string> environment) {
  std::vector<std::string> words{"/bin/sh", "-c", command};
  const std::vector<char*> arguments = pointers_to(words);
  const std::vector<char*> variables = pointers_to(environment);
  posix_spawnattr_t attributes;
  ::posix_spawnattr_init(&attributes);
  ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK);
  ::posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t none;
  sigemptyset(&none);
  ::posix_spawnattr_setsigmask(&attributes, &none);
  pid_t child = 0;
  const int error = ::posix_spawn(&child, "/bin/sh", nullptr, &attributes, arguments.data(), variables.data());
  ::posix_spawnattr_destroy(&attributes);
  if (error != 0) return tl::unexpected(fmt::format("cannot start /bin/sh: {}", std::strerror(error)));
  return child;
}

/// Waits for the end of a process, which does not hold this one up after `end`. False if it still runs.
bool wait_until(pid_t child, Clock::time_point end) {
  const int process = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
  if (process < 0) return false;
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now()).count();
  pollfd ended{process, POLLIN, 0};
  const int count = ::poll(&ended, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000)));
  ::close(process);
  return count > 0;
}

TargetResult<void> run_command(const std::string& command, const Death& death, Clock::time_point end) {
  const TargetResult<pid_t> child = start(command, environment_of(death));
  if (!child) return tl::unexpected(child.error());
  const bool has_ended = wait_until(*child, end);
  if (!has_ended) ::kill(-*child, SIGKILL);
  int status = 0;
  while (::waitpid(*child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!has_ended) return tl::unexpected(std::string{"the command took too long; see --recover-time"});
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  if (WIFEXITED(status)) return tl::unexpected(fmt::format("the command ended with status {}", WEXITSTATUS(status)));
  return tl::unexpected(fmt::format("the command was ended by signal {}", WTERMSIG(status)));
}

TargetResult<void> connect_again(LinkWays& ways, Clock::time_point end) {
  constexpr auto pause = std::chrono::milliseconds{50};
  for (;;) {
    const live::Result<void> opened = ways.open();
    if (opened) return {};
    if (Clock::now() + pause >= end) return tl::unexpected(opened.error().message);
    // Nothing tells when an agent begins to listen.
    std::this_thread::sleep_for(pause);
  }
}

}  // namespace

Recovery recovery_by_command(std::string command, Duration limit, std::shared_ptr<LinkWays> ways) {
  return [command = std::move(command), limit, ways = std::move(ways)](const Death& death) -> TargetResult<void> {
    const Clock::time_point end = Clock::now() + limit;
    if (TargetResult<void> done = run_command(command, death, end); !done) return done;
    return connect_again(*ways, end);
  };
}

}  // namespace roce::conform
