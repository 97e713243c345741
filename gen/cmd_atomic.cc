// SPDX-License-Identifier: BSD-2-Clause
#include "gen/cmd_atomic.h"

#include <CLI/CLI.hpp>
#include <map>

#include "gen/exchange_command.h"

namespace roce::gen {

void add_atomic(CLI::App& app, ExitCode& code) {
  auto command = std::make_shared<ExchangeCommand>();
  command->exchange.kind = ExchangeKind::fetch_add;
  CLI::App* atomic =
      add_exchange(app, code, "atomic", "Atomics on the peer's memory, the value of each compared", command);
  const std::map<std::string, ExchangeKind> kinds{{"fetch_add", ExchangeKind::fetch_add},
                                                  {"compare_swap", ExchangeKind::compare_swap}};
  atomic->add_option("--operation", command->exchange.kind, "fetch_add or compare_swap")
      ->transform(CLI::CheckedTransformer(kinds).description(""))
      ->default_str("fetch_add")
      ->type_name("KIND");
  atomic->footer(
      "Example:\n"
      "  roce-gen atomic -i eth0 --operation compare_swap -n 1000 --token-file secret 192.0.2.7:18516\n"
      "Exit code: 0 every atomic completed and was right, 1 the exchange failed, 2 wrong command line.");
}

}  // namespace roce::gen
