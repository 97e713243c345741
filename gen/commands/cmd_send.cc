// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "gen/exchange/exchange_command.h"

namespace roce::gen {

void add_send(command_line::Program& program, ExitCode& code) {
  auto command = std::make_shared<ExchangeCommand>();
  command->exchange.kind = ExchangeKind::send;
  command_line::Command send =
      add_exchange(program, code, "send", "SEND messages, compared as the peer receives them", command);
  send.footer(
      "Examples (on the other host, or in another network namespace: roce-gen peer -i eth0):\n"
      "  roce-gen send -i eth0 /run/user/1000/roce-gen-eth0.sock\n"
      "  roce-gen send -i eth0 -s 1-64k -q 4 -D 10 --token-file secret 192.0.2.7:18516\n"
      "Exit code: 0 every message completed and was right, 1 the exchange failed, 2 wrong command line.");
}

}  // namespace roce::gen
