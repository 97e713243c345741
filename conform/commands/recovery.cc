// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/recovery.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "conform/target/shell_command.h"

namespace roce::conform {

namespace {

using Clock = ShellCommand::Clock;

std::vector<std::string> environment_of(const Death& death) {
  return {fmt::format("ROCE_DAMAGE={}", to_string(death.damage)), fmt::format("ROCE_DEATH={}", death.what),
          fmt::format("ROCE_INSTANCES={}", fmt::join(death.instances, "\n"))};
}

TargetResult<void> run_command(const std::string& command, const Death& death, Clock::time_point end) {
  TargetResult<ShellCommand> running = ShellCommand::start(command, environment_of(death), ShellCommand::Output::ours);
  if (!running) return tl::unexpected(running.error());
  if (running->wait_until(end)) return running->result();
  running->end({});
  return tl::unexpected(std::string{"the command took too long; see --recover-time"});
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
