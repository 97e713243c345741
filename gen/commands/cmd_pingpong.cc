// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"
#include "runtime/note.h"

#include <fmt/core.h>

#include <memory>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "gen/pingpong/connection.h"
#include "gen/pingpong/options.h"
#include "gen/pingpong/report.h"
#include "options/program_endpoint.h"
#include "roce/live/endpoint.h"
#include "roce/live/tcp.h"

namespace roce::gen {

namespace {

struct ClientOptions {
  options::ProgramOptions endpoint;
  PingpongOptions pingpong;
  std::uint16_t port = kPingpongPort;
  std::string host;
};

[[nodiscard]] Outcome<ExitCode> run(const ClientOptions& options) {
  Outcome<std::unique_ptr<options::ProgramEndpoint>> opened = options::ProgramEndpoint::open(options.endpoint);
  if (!opened) return tl::unexpected(opened.error());
  live::Endpoint& endpoint = (*opened)->first();
  runtime::print_note("ready", endpoint.description(), options.endpoint.json);
  live::Result<live::Tcp> tcp = live::Tcp::connect(options.host, options.port);
  if (!tcp) return tl::unexpected(tcp.error());
  PingpongConnection connection{endpoint,
                                options.pingpong,
                                PingpongSession::Role::client,
                                std::move(*tcp),
                                fmt::format("{} port {}", options.host, options.port),
                                endpoint.now()};
  const live::Result<bool> ran = endpoint.driver().run([&](Time time) {
    const bool moved = connection.step(time);
    while (endpoint.port().poll_event(time)) {
    }
    if (connection.state() == PingpongConnection::State::over) return live::Driver::Step::done;
    endpoint.driver().wake_at(connection.next_timeout());
    return moved ? live::Driver::Step::busy : live::Driver::Step::idle;
  });
  if (!ran) return tl::unexpected(ran.error());
  print_pingpong(connection, PingpongSession::Role::client, options.endpoint.json);
  if (Outcome<void> closed = (*opened)->close(); !closed) return tl::unexpected(closed.error());
  return connection.succeeded() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_pingpong(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("pingpong", "Be the client of an ibv_*_pingpong server or of roce-gen peer");
  auto options = std::make_shared<ClientOptions>();
  options::add_endpoint_options(command, options->endpoint);
  add_pingpong_options(command, options->pingpong, options->port);
  command.add_option("host", options->host, "Host on which the server listens").required();
  command.footer(
      "Examples:\n"
      "  roce-gen pingpong -i eth0 192.0.2.7           where ibv_rc_pingpong -d mlx5_0 -g 3 -c runs\n"
      "  roce-gen pingpong -i eth0 -k srq -n 100 192.0.2.7\n"
      "Exit code: 0 all messages went and came back right, 1 the exchange failed, 2 wrong command line.");
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
