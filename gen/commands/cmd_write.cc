// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "gen/exchange/exchange_command.h"

namespace roce::gen {

void add_write(command_line::Program& program, ExitCode& code) {
  auto command = std::make_shared<ExchangeCommand>();
  command->exchange.kind = ExchangeKind::write;
  command_line::Command write =
      add_exchange(program, code, "write", "RDMA WRITE into the peer's memory, compared at the end", command);
  write.footer(
      "Examples:\n"
      "  roce-gen write -i eth0 -s 1M -n 1000 --token-file secret 192.0.2.7:18516\n"
      "  roce-gen write -i eth0 --rate 100kpps -s 16 -D 5 --token-file secret 192.0.2.7:18516\n"
      "Exit code: 0 every WRITE completed and was right, 1 the exchange failed, 2 wrong command line.");
}

}  // namespace roce::gen
