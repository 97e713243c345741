// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "gen/exchange/exchange_command.h"

namespace roce::gen {

void add_read(command_line::Program& program, ExitCode& code) {
  auto command = std::make_shared<ExchangeCommand>();
  command->exchange.kind = ExchangeKind::read;
  command_line::Command read =
      add_exchange(program, code, "read", "RDMA READ from the peer's memory, each compared", command);
  read.footer(
      "Example:\n"
      "  roce-gen read -i eth0 -s 64k -n 1000 --token-file secret 192.0.2.7:18516\n"
      "Exit code: 0 every READ completed and was right, 1 the exchange failed, 2 wrong command line.");
}

}  // namespace roce::gen
