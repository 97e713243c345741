// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <memory>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "gen/librdmacm/program_client.h"
#include "gen/librdmacm/rping.h"

namespace roce::gen {

namespace {

struct RpingCommand {
  ClientOptions client;
  RpingOptions rping;
};

[[nodiscard]] Outcome<ExitCode> run(const RpingCommand& command) {
  return run_client(command.client, "rping",
                    [&](live::RdmaCm& cm, const live::ConnectPlan& plan, ProgramReport& report) {
                      return rping_client(cm, plan, command.rping, report);
                    });
}

}  // namespace

void add_rping(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("rping", "Be the client of rping -s, connected by RDMA CM");
  auto options = std::make_shared<RpingCommand>();
  options->client.port = kRpingPort;
  add_client_options(command, options->client);
  command.add_option("-C,--count", options->rping.count, "Pings").range(1U, 1'000'000'000U).capture_default_str();
  command.add_option("-S,--size", options->rping.size, "Bytes of a ping")
      .range(16U, kRpingMaxSize)
      .capture_default_str();
  command.footer(
      "Examples:\n"
      "  roce-gen rping -i eth0 192.0.2.7                where rping -s runs\n"
      "  roce-gen rping -i eth0 -C 1000 -S 4096 192.0.2.7\n"
      "Each echo is compared with its ping.\n"
      "Exit code: 0 all pings came back right, 1 the exchange failed, 2 wrong command line.");
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
