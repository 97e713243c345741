// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdio>
#include <memory>
#include <string>

#include "gen/failure.h"
#include "gen/relay.h"
#include "gen/relay_metrics.h"

namespace roce::gen {

/// Writes each action of a relay as a line of JSON.
class RelayLog {
 public:
  [[nodiscard]] static Outcome<RelayLog> create(const std::string& path);

  /// `rules` are those of the engine.
  void write(const impair::LogRecord& record, const impair::RuleSet& rules);
  /// Hands what was written to the operating system.
  void flush();
  /// Failure: not everything could be written.
  [[nodiscard]] Outcome<void> close();

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  RelayLog(std::string path, std::FILE* file) : path_(std::move(path)), file_(file) {}

  std::string path_;
  std::unique_ptr<std::FILE, Close> file_;
  bool failed_ = false;
};

/// One line of what passed; `before` is what `counters` was `interval` ago.
[[nodiscard]] std::string relay_live_line(const RelayInterfaces& interfaces,
                                          const std::array<RelayCounters, 2>& counters,
                                          const std::array<RelayCounters, 2>& before, Duration interval);
/// Prints the totals: for people, or as a JSON object.
void print_relay_totals(const RelayInterfaces& interfaces, const Relay& relay, Duration duration, bool json);

}  // namespace roce::gen
