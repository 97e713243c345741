// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "command_line/program.h"
#include "gen/endpoint_options.h"
#include "gen/exchange_options.h"
#include "gen/exit_code.h"
#include "gen/failure.h"

namespace roce::gen {

/// All that a command that runs an exchange can be told.
struct ExchangeCommand {
  EndpointOptions endpoint;
  ExchangeOptions exchange;
  std::string target;  ///< path of a Unix socket, or HOST:PORT
  std::string token_file;
  std::string sizes = "4096";
  std::string rate;
};

/// Adds a subcommand that runs an exchange of `kind`, with the options they all have; more can be added to what is
/// returned. `code` is what it ended with; it has to outlive the parsing, as `program`.
command_line::Command add_exchange(command_line::Program& program, ExitCode& code, const std::string& name,
                                   const std::string& what, const std::shared_ptr<ExchangeCommand>& command);

/// `4096`, `64,1024,4096`, or `64-4096` (powers of two from the one to the other). Failure: something else, or more
/// than 2^30.
[[nodiscard]] Outcome<SizePlan> parse_sizes(const std::string& text);

}  // namespace roce::gen
