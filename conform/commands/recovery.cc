// SPDX-License-Identifier: BSD-2-Clause
#include "conform/commands/recovery.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <chrono>
#include <thread>
#include <utility>
#include <vector>

#include "conform/language/functions.h"
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

std::string find_mistake_of_time(const std::string& text) {
  constexpr std::uint64_t day = 86'400'000'000'000;
  const std::optional<std::uint64_t> time = read_time(text);
  return time && *time <= day ? "" : fmt::format("expected a time such as 90s, at most a day, found {}", text);
}

void add_recovery_options(command_line::Command& command, RecoveryChoice& choice, const command_line::Option& agent) {
  command
      .add_option(
          "--recover-command", choice.command,
          "On a wire: run this by the shell when the device stopped answering, and go on once its agent is there")
      .type_name("COMMAND")
      .needs(agent);
  command.add_option("--recover-time", choice.time, "Give up a device that is not back after this time, such as 90s")
      .type_name("TIME")
      .check(find_mistake_of_time)
      .capture_default_str();
}

Recovery recovery_of(const RecoveryChoice& choice, std::shared_ptr<LinkWays> ways) {
  if (choice.command.empty()) return {};
  const auto limit = static_cast<Duration::rep>(read_time(choice.time).value_or(0));
  return recovery_by_command(choice.command, Duration{limit}, std::move(ways));
}

Recovery recovery_by_command(std::string command, Duration limit, std::shared_ptr<LinkWays> ways) {
  return [command = std::move(command), limit, ways = std::move(ways)](const Death& death) -> TargetResult<void> {
    const Clock::time_point end = Clock::now() + limit;
    if (TargetResult<void> done = run_command(command, death, end); !done) return done;
    return connect_again(*ways, end);
  };
}

}  // namespace roce::conform
