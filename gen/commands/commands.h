// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/outcome.h"

namespace roce::command_line {
class Program;
}

namespace roce::gen {

// Each adds the command of roce-gen with its name, which runs while `program` parses its command line and sets `code`
// to its exit code. `program` and `code` have to outlive the parsing.

void add_atomic(command_line::Program& program, ExitCode& code);
void add_cnp(command_line::Program& program, ExitCode& code);
void add_craft(command_line::Program& program, ExitCode& code);
void add_fabric(command_line::Program& program, ExitCode& code);
void add_flush(command_line::Program& program, ExitCode& code);
void add_gids(command_line::Program& program, ExitCode& code);
void add_mckey(command_line::Program& program, ExitCode& code);
void add_pause(command_line::Program& program, ExitCode& code);
void add_peer(command_line::Program& program, ExitCode& code);
void add_perftest(command_line::Program& program, ExitCode& code);
void add_pingpong(command_line::Program& program, ExitCode& code);
void add_read(command_line::Program& program, ExitCode& code);
void add_relay(command_line::Program& program, ExitCode& code);
void add_rping(command_line::Program& program, ExitCode& code);
void add_send(command_line::Program& program, ExitCode& code);
void add_ucmatose(command_line::Program& program, ExitCode& code);
void add_ud(command_line::Program& program, ExitCode& code);
void add_udaddy(command_line::Program& program, ExitCode& code);
void add_write(command_line::Program& program, ExitCode& code);

}  // namespace roce::gen
