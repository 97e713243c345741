// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "command_line/outcome.h"
#include "command_line/program.h"
#include "gen/exchange/exchange_options.h"
#include "options/program_endpoint.h"

namespace roce::gen {

/// The options of a command that runs an exchange.
struct ExchangeCommand {
  options::ProgramOptions endpoint;
  ExchangeOptions exchange;
  std::string target;  ///< path of a Unix socket, or HOST:PORT
  std::string token_file;
  std::string sizes = "4096";
  std::string rate;
  std::string report;  ///< file of the page; empty: none
};

/// Adds a subcommand that runs an exchange of the kind in `command`, with the options that all of them have; more can
/// be added to what is returned. It sets `code` to its exit code; `code` and `program` have to outlive the parsing.
command_line::Command add_exchange(command_line::Program& program, ExitCode& code, const std::string& name,
                                   const std::string& what, const std::shared_ptr<ExchangeCommand>& command);

/// Parses `4096`, `64,1024,4096`, or `64-4096` (the powers of two from
/// one to the other). Failure: any other text, or more than 2^30.
[[nodiscard]] Outcome<SizePlan> parse_sizes(const std::string& text);

}  // namespace roce::gen
