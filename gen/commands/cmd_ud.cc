// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "gen/exchange/exchange_command.h"

namespace roce::gen {

void add_ud(command_line::Program& program, ExitCode& code) {
  auto command = std::make_shared<ExchangeCommand>();
  command->exchange.kind = ExchangeKind::datagram;
  command->sizes = "1024";
  command_line::Command ud =
      add_exchange(program, code, "ud", "Datagrams (UD), compared as the peer receives them", command);
  ud.add_flag("--allow-loss", command->exchange.allow_loss, "Lost datagrams are counted, and no failure");
  ud.footer(
      "Example:\n"
      "  roce-gen ud -i eth0 -s 1024 -n 1000 --allow-loss --token-file secret 192.0.2.7:18516\n"
      "Exit code: 0 the datagrams that arrived are right and none is lost, 1 the exchange failed, 2 wrong command "
      "line.");
}

}  // namespace roce::gen
