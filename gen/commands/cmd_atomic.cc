// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "gen/exchange/exchange_command.h"

namespace roce::gen {

void add_atomic(command_line::Program& program, ExitCode& code) {
  auto command = std::make_shared<ExchangeCommand>();
  command->exchange.kind = ExchangeKind::fetch_add;
  command_line::Command atomic =
      add_exchange(program, code, "atomic", "Atomics on the peer's memory, the value of each compared", command);
  atomic
      .add_choice("--operation", command->exchange.kind,
                  {{"fetch_add", ExchangeKind::fetch_add}, {"compare_swap", ExchangeKind::compare_swap}},
                  "fetch_add or compare_swap")
      .default_str("fetch_add")
      .type_name("KIND");
  atomic.footer(
      "Example:\n"
      "  roce-gen atomic -i eth0 --operation compare_swap -n 1000 --token-file secret 192.0.2.7:18516\n"
      "Exit code: 0 every atomic completed and was right, 1 the exchange failed, 2 wrong command line.");
}

}  // namespace roce::gen
