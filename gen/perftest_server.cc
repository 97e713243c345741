// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest_server.h"

#include <fmt/format.h>
#include <poll.h>

#include "command_line/command.h"
#include "gen/perftest_session.h"

namespace roce::gen {

namespace {

/// So that strangers cannot take all memory: each has queue pairs and buffers of its own.
constexpr std::size_t kMaxClients = 64;

}  // namespace

void add_perftest_server_options(command_line::Command& command, PerftestServerOptions& options) {
  command
      .add_option("--perftest", options.program,
                  "Serve this program of perftest on the TCP port, instead of pingpong: ib_send_bw, ib_write_lat …")
      .type_name("PROGRAM")
      .check([](const std::string& name) {
        return find_perftest(name) ? std::string{} : fmt::format("\"{}\" is no program of perftest", name);
      });
  add_perftest_options(command, options.perftest, "perftest-");
}

Outcome<std::unique_ptr<PerftestServer>> PerftestServer::open(Endpoint& endpoint, const PerftestServerOptions& options,
                                                              Tcp listener) {
  PerftestOptions perftest = options.perftest;
  const std::optional<PerftestProgram> program = find_perftest(options.program);
  if (!program) return cannot(fmt::format("\"{}\" is no program of perftest", options.program));
  perftest.program = *program;
  const Outcome<PerftestOptions> completed = complete(perftest, endpoint.max_path_mtu());
  if (!completed) return tl::unexpected(completed.error());
  return std::unique_ptr<PerftestServer>{new PerftestServer{endpoint, options, *completed, std::move(listener)}};
}

PerftestServer::PerftestServer(Endpoint& endpoint, const PerftestServerOptions& options,
                               const PerftestOptions& perftest, Tcp listener)
    : endpoint_(endpoint), options_(options), perftest_(perftest), listener_(std::move(listener)) {
  endpoint_.driver().watch(listener_.fd(), POLLIN, [this](short) { accept(); });
}

PerftestServer::~PerftestServer() {
  endpoint_.driver().forget(listener_.fd());
}

void PerftestServer::accept() {
  for (Tcp tcp = listener_.accept(); tcp.fd() >= 0; tcp = listener_.accept()) {
    if (clients_.size() >= kMaxClients) continue;
    Client& client = clients_.emplace_back();
    client.report.program = perftest_.program;
    client.report.role = PerftestRole::server;
    client.report.peer = tcp.peer_name();
    client.channel = std::make_unique<TcpPerftestChannel>(endpoint_.driver(), std::move(tcp));
    client.script = std::make_unique<Script>(
        run_perftest(endpoint_, perftest_, PerftestRole::server, *client.channel, client.report));
  }
}

Driver::Step PerftestServer::step(Time now) {
  bool moved = false;
  for (auto it = clients_.begin(); it != clients_.end();) {
    moved |= it->script->step(now);
    if (!it->script->is_over()) {
      endpoint_.driver().wake_at(it->script->next_timeout());
      ++it;
      continue;
    }
    it->report.error = it->script->error();
    failed_ |= !it->report.error.empty();
    print_perftest(it->report, options_.json);
    it = clients_.erase(it);
    if (options_.once && clients_.empty()) return Driver::Step::done;
  }
  while (endpoint_.port().poll_event(now)) {
  }
  return moved ? Driver::Step::busy : Driver::Step::idle;
}

}  // namespace roce::gen
