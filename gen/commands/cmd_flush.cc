// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "gen/exchange/exchange_command.h"

namespace roce::gen {

void add_flush(command_line::Program& program, ExitCode& code) {
  auto command = std::make_shared<ExchangeCommand>();
  command->exchange.kind = ExchangeKind::flush;
  command_line::Command flush =
      add_exchange(program, code, "flush", "RDMA WRITE and FLUSH of what was written, compared at the end", command);
  flush.footer(
      "Example:\n"
      "  roce-gen flush -i eth0 -s 4096 -n 1000 --token-file secret 192.0.2.7:18516\n"
      "Exit code: 0 every FLUSH completed and the data are right, 1 the exchange failed, 2 wrong command line.");
}

}  // namespace roce::gen
