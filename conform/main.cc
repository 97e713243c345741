// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "command_line/outcome.h"
#include "command_line/program.h"
#include "conform/commands/commands.h"
#include "files/standard_streams.h"

int main(int argc, char** argv) {
  using roce::ExitCode;
  roce::files::begin_program();
  roce::command_line::Program program{
      "roce-conform", "Judges whether a device keeps the rules of RDMA over Converged Ethernet, case by case."};
  program.set_version("roce-conform " ROCE_VERSION);
  program.require_subcommand();
  ExitCode code = ExitCode::ok;
  roce::conform::add_run(program, code);
  roce::conform::add_report(program, code);
  roce::conform::add_list(program, code);
  roce::conform::add_show(program, code);
  roce::conform::add_check(program, code);
  roce::conform::add_fuzz(program, code);
  try {
    if (!program.parse(argc, argv)) return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-conform: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  return roce::files::end_program("roce-conform", static_cast<int>(code), static_cast<int>(ExitCode::failed));
}
