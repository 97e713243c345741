// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "gen/librdmacm/program_client.h"
#include "gen/librdmacm/ucmatose.h"

namespace roce::gen {

namespace {

[[nodiscard]] Outcome<ExitCode> run(const MessageClientOptions& command) {
  return run_client(command.client, "ucmatose",
                    [&](live::RdmaCm& cm, const live::ConnectPlan& plan, ProgramReport& report) {
                      return ucmatose_client(cm, plan, command.messages, report);
                    });
}

}  // namespace

void add_ucmatose(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("ucmatose", "Be the client of ucmatose, connected by RDMA CM");
  auto options = std::make_shared<MessageClientOptions>();
  options->client.port = kUcmatosePort;
  add_message_client_options(command, *options, 1U << 20);
  command.footer(
      "Examples:\n"
      "  roce-gen ucmatose -i eth0 192.0.2.7                where ucmatose runs\n"
      "  roce-gen ucmatose -i eth0 -C 100 -S 1000 192.0.2.7   where ucmatose -C 100 -S 1000 runs\n"
      "The server sends first, then the client; then the server ends the connection.\n"
      "Exit code: 0 all messages went and came, 1 the exchange failed, 2 wrong command line.");
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
