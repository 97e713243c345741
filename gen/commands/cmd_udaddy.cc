// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "gen/librdmacm/program_client.h"
#include "gen/librdmacm/udaddy.h"

namespace roce::gen {

namespace {

[[nodiscard]] Outcome<ExitCode> run(const MessageClientOptions& command) {
  return run_client(command.client, "udaddy",
                    [&](live::RdmaCm& cm, const live::ConnectPlan& plan, ProgramReport& report) {
                      return udaddy_client(cm, plan, command.messages, report);
                    });
}

}  // namespace

void add_udaddy(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("udaddy", "Be the client of udaddy, whose UD queue pair is found by SIDR");
  auto options = std::make_shared<MessageClientOptions>();
  options->client.port = kUdaddyPort;
  add_message_client_options(command, *options, 4096U);
  command.footer(
      "Examples:\n"
      "  roce-gen udaddy -i eth0 192.0.2.7                where udaddy runs\n"
      "  roce-gen udaddy -i eth0 -C 100 -S 1000 192.0.2.7   where udaddy -C 100 -S 1000 runs\n"
      "Datagrams that are lost are not sent again: then it fails.\n"
      "Exit code: 0 all messages went and came, 1 the exchange failed, 2 wrong command line.");
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
