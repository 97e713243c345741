// SPDX-License-Identifier: BSD-2-Clause
#include "gen/cmd_perftest.h"

#include <fmt/core.h>

#include <cstdio>
#include <memory>
#include <optional>

#include "command_line/program.h"
#include "gen/endpoint.h"
#include "gen/perftest_channel.h"
#include "gen/perftest_options.h"
#include "gen/perftest_report.h"
#include "gen/perftest_session.h"
#include "gen/pingpong_report.h"
#include "gen/script.h"
#include "gen/tcp.h"

namespace roce::gen {

namespace {

struct ClientOptions {
  EndpointOptions endpoint;
  PerftestOptions perftest;
  std::uint16_t port = kPerftestPort;
  std::string program;
  std::string host;
};

[[nodiscard]] Task<> be_client(Endpoint& endpoint, const PerftestOptions& options, TcpPerftestChannel& channel,
                               PerftestReport& report) {
  co_await channel.establish();
  co_await run_perftest(endpoint, options, PerftestRole::client, channel, report);
}

[[nodiscard]] Outcome<ExitCode> run(ClientOptions options) {
  const std::optional<PerftestProgram> program = find_perftest(options.program);
  if (!program) {
    return cannot(
        fmt::format("\"{}\" is no program of perftest; there are send, write, read and atomic, each with _bw and _lat",
                    options.program));
  }
  options.perftest.program = *program;
  Outcome<std::unique_ptr<Endpoint>> opened = Endpoint::open(options.endpoint);
  if (!opened) return tl::unexpected(opened.error());
  Endpoint& endpoint = **opened;
  const Outcome<PerftestOptions> perftest = complete(options.perftest, endpoint.max_path_mtu());
  if (!perftest) return tl::unexpected(perftest.error());
  print_note("ready", endpoint.description(), options.endpoint.json);
  Outcome<Tcp> tcp = Tcp::connect(options.host, options.port);
  if (!tcp) return tl::unexpected(tcp.error());
  PerftestReport report;
  report.program = *program;
  report.role = PerftestRole::client;
  report.peer = fmt::format("{} port {}", options.host, options.port);
  TcpPerftestChannel channel{endpoint.driver(), std::move(*tcp)};
  std::optional<Script> script;
  script.emplace(be_client(endpoint, *perftest, channel, report));
  const Outcome<bool> ran = endpoint.driver().run([&](Time time) {
    const bool moved = script->step(time);
    while (endpoint.port().poll_event(time)) {
    }
    if (script->is_over()) return Driver::Step::done;
    endpoint.driver().wake_at(script->next_timeout());
    return moved ? Driver::Step::busy : Driver::Step::idle;
  });
  if (!ran) return tl::unexpected(ran.error());
  report.error = *ran ? script->error() : "stopped by a signal";
  // The counters come with the end of the queue pairs.
  script.reset();
  print_perftest(report, options.endpoint.json);
  if (Outcome<void> closed = endpoint.close(); !closed) return tl::unexpected(closed.error());
  return report.error.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_perftest(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("perftest", "Be the client of a program of perftest, or of roce-gen peer --perftest");
  auto options = std::make_shared<ClientOptions>();
  add_endpoint_options(command, options->endpoint);
  command
      .add_option("program", options->program,
                  "send_bw, send_lat, write_bw, write_lat, read_bw, read_lat, atomic_bw or atomic_lat, with or without "
                  "ib_ before it")
      .required();
  command.add_option("host", options->host, "Host on which the server listens").required();
  command.add_option("-p,--port", options->port, "TCP port of the handshake").range(1, 65535).capture_default_str();
  add_perftest_options(command, options->perftest);
  command.footer(
      "Examples:\n"
      "  roce-gen perftest -i eth0 ib_write_bw 192.0.2.7       where ib_write_bw -d mlx5_0 -x 3 runs\n"
      "  roce-gen perftest -i eth0 send_lat -n 10000 -s 64 192.0.2.7\n"
      "                                                        where ib_send_lat -d rxe0 -x 1 -n 10000 -s 64 runs\n"
      "Exit code: 0 the exchange completed, 1 it failed, 2 wrong command line.");
  command.callback([options, &code] {
    const Outcome<ExitCode> ended = run(*options);
    if (!ended) fmt::print(stderr, "roce-gen: {}\n", ended.error().message);
    code = ended ? *ended : ended.error().code;
  });
}

}  // namespace roce::gen
