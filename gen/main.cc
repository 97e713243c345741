// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "command_line/outcome.h"
#include "command_line/program.h"
#include "files/standard_streams.h"
#include "gen/commands/commands.h"

int main(int argc, char** argv) {
  using roce::ExitCode;
  roce::files::begin_program();
  roce::command_line::Program program{
      "roce-gen", "Speaks RDMA over Converged Ethernet: a live peer, generator and relay without an RNIC."};
  program.set_version("roce-gen " ROCE_VERSION);
  program.require_subcommand();
  program
      .set_config("--config", "Options from a file: a section a command, OPTION = VALUE, e.g. [peer] interface = eth0")
      .type_name("FILE");
  ExitCode code = ExitCode::ok;
  roce::gen::add_peer(program, code);
  roce::gen::add_pingpong(program, code);
  roce::gen::add_perftest(program, code);
  roce::gen::add_rping(program, code);
  roce::gen::add_ucmatose(program, code);
  roce::gen::add_udaddy(program, code);
  roce::gen::add_mckey(program, code);
  roce::gen::add_send(program, code);
  roce::gen::add_write(program, code);
  roce::gen::add_read(program, code);
  roce::gen::add_atomic(program, code);
  roce::gen::add_flush(program, code);
  roce::gen::add_ud(program, code);
  roce::gen::add_relay(program, code);
  roce::gen::add_fabric(program, code);
  roce::gen::add_craft(program, code);
  roce::gen::add_cnp(program, code);
  roce::gen::add_pause(program, code);
  roce::gen::add_gids(program, code);
  try {
    if (!program.parse(argc, argv)) return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-gen: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  return roce::files::end_program("roce-gen", static_cast<int>(code), static_cast<int>(ExitCode::failed));
}
