// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <utility>

#include "command_line/outcome.h"
#include "gen/relay/relay.h"
#include "gen/relay/relay_metrics.h"
#include "roce/link/output_file.h"

namespace roce::gen {

/// Writes each action of a relay as a line of JSON. The file gets its name when it is closed (see link::OutputFile).
class RelayLog {
 public:
  [[nodiscard]] static Outcome<RelayLog> create(const std::string& path);

  /// Writes a line; `rules` are those of the engine.
  void write(const impair::LogRecord& record, const impair::RuleSet& rules);
  /// Hands what was written to the operating system.
  void flush();
  /// Ends the file. Failure: not everything could be written.
  [[nodiscard]] Outcome<void> close();

 private:
  static constexpr std::size_t kBlock = 64 << 10;
  explicit RelayLog(link::OutputFile file) : file_(std::move(file)) {}

  link::OutputFile file_;
  std::string text_;  // lines not written yet
};

/// Returns a line about the traffic now; `before` is what `counters` was `interval` ago.
[[nodiscard]] std::string relay_live_line(const RelayInterfaces& interfaces,
                                          const std::array<RelayCounters, 2>& counters,
                                          const std::array<RelayCounters, 2>& before, Duration interval);
/// Prints the totals, for people or as a JSON object.
void print_relay_totals(const RelayInterfaces& interfaces, const Relay& relay, Duration duration, bool json);

}  // namespace roce::gen
