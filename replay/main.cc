// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "command_line/outcome.h"
#include "command_line/program.h"
#include "files/standard_streams.h"
#include "replay/commands/commands.h"

int main(int argc, char** argv) {
  using roce::ExitCode;
  roce::files::begin_program();
  roce::command_line::Program program{"roce-replay", "Plays captures of RDMA over Converged Ethernet again."};
  program.set_version("roce-replay " ROCE_VERSION);
  program.require_subcommand();
  program.set_config("--config", "Options from a file: a section a command, OPTION = VALUE, e.g. [rewrite] json = true")
      .type_name("FILE");
  ExitCode code = ExitCode::ok;
  roce::replay::add_converse(program, code);
  roce::replay::add_rewrite(program, code);
  roce::replay::add_send(program, code);
  roce::replay::add_info(program, code);
  try {
    if (!program.parse(argc, argv)) return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-replay: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  return roce::files::end_program("roce-replay", static_cast<int>(code), static_cast<int>(ExitCode::failed));
}
