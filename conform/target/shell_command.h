// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "conform/target/target.h"

namespace roce::conform {

/// A command that the shell runs, in a process group of its own and with no signal blocked. The end of this object ends
/// one that still runs.
class ShellCommand {
 public:
  using Clock = std::chrono::steady_clock;
  enum class Output : std::uint8_t { ours, dropped };

  /// Starts a command with the variables `extra`, such as `A=1`, beside those of this process. Error: there is no
  /// shell.
  [[nodiscard]] static TargetResult<ShellCommand> start(const std::string& command,
                                                        const std::vector<std::string>& extra, Output output);
  ShellCommand(ShellCommand&& other) noexcept;
  ShellCommand& operator=(ShellCommand&& other) noexcept;
  ShellCommand(const ShellCommand&) = delete;
  ShellCommand& operator=(const ShellCommand&) = delete;
  ~ShellCommand();

  /// Waits until it has ended; false if it still runs at `end`.
  [[nodiscard]] bool wait_until(Clock::time_point end) const;
  /// Waits until it has ended. Error: its status is not 0, or a signal ended it.
  [[nodiscard]] TargetResult<void> result();
  /// Ends it and what it has started in its process group, by SIGTERM, and by SIGKILL after `patience`.
  void end(std::chrono::milliseconds patience);

 private:
  explicit ShellCommand(pid_t child) : child_(child) {}
  pid_t child_ = 0;  ///< 0: nothing runs
};

}  // namespace roce::conform
