// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/server.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>

#include "command_line/command.h"
#include "gen/perftest/rdma_channel.h"
#include "gen/perftest/session.h"
#include "roce/live/crowd.h"

namespace roce::gen {

namespace {

/// Limit of clients, because each has queue pairs and buffers of its own: strangers must not take all memory.
constexpr std::size_t kMaxClients = 64;
/// Limit of further connections, whose handshake is not complete.
constexpr std::size_t kMaxHandshakes = 64;
/// How long a client may repeat its last message of the communication manager because our answer was lost.
constexpr Duration kLinger = std::chrono::seconds{1};

/// Serves a client with -R, whose channel is the connection `wanted` instead of a TCP connection.
[[nodiscard]] live::Task<> serve_by_cm(live::RdmaCm& cm, CommId wanted, const PerftestOptions& options,
                                       PerftestConnections& connections, PerftestReport& report) {
  const Time now = co_await live::this_time{};
  RdmaPerftestChannel channel{cm, now};
  co_await channel.accept(wanted);
  co_await run_perftest(cm.endpoint(), options, PerftestRole::server, channel, report, &connections);
}

}  // namespace

void add_perftest_server_options(command_line::Command& command, PerftestServerOptions& options) {
  command
      .add_option(
          "--perftest", options.program,
          "Serve this program of perftest on the TCP port, instead of pingpong, and on the same port by RDMA CM: "
          "ib_send_bw, ib_write_lat …")
      .type_name("PROGRAM")
      .check([](const std::string& name) {
        return find_perftest(name) ? std::string{} : fmt::format("\"{}\" is no program of perftest", name);
      });
  add_perftest_options(command, options.perftest, "perftest-");
}

Outcome<std::unique_ptr<PerftestServer>> PerftestServer::open(live::RdmaCm& cm, const PerftestServerOptions& options,
                                                              live::Tcp listener) {
  PerftestOptions perftest = options.perftest;
  const std::optional<PerftestProgram> program = find_perftest(options.program);
  if (!program) return cannot(fmt::format("\"{}\" is no program of perftest", options.program));
  perftest.program = *program;
  const Outcome<PerftestOptions> completed = complete(perftest, cm.endpoint().max_path_mtu());
  if (!completed) return tl::unexpected(completed.error());
  std::unique_ptr<PerftestServer> server{new PerftestServer{cm, options, *completed, std::move(listener)}};
  const ServiceId service{PortSpace::tcp, options.port};
  const live::Result<void> listening =
      cm.listen(service, [&served = *server](CommId wanted, Time now) { served.take(wanted, now); });
  if (!listening) return tl::unexpected(listening.error());
  return server;
}

PerftestServer::PerftestServer(live::RdmaCm& cm, const PerftestServerOptions& options, const PerftestOptions& perftest,
                               live::Tcp listener)
    : cm_(cm),
      endpoint_(cm.endpoint()),
      options_(options),
      perftest_(perftest),
      listener_(std::move(listener)),
      notes_(cm.endpoint().driver(), options.json) {
  endpoint_.driver().watch(listener_.fd(), POLLIN, [this](short) { accept(); });
}

PerftestServer::~PerftestServer() {
  endpoint_.driver().forget(listener_.fd());
}

PerftestServer::Client& PerftestServer::add(std::string peer) {
  Client& client = clients_.emplace_back();
  client.report.program = perftest_.program;
  client.report.role = PerftestRole::server;
  client.report.peer = std::move(peer);
  return client;
}

void PerftestServer::accept() {
  for (std::size_t i = 0; i < kMaxHandshakes; ++i) {
    live::Tcp tcp = listener_.accept();
    if (tcp.fd() < 0) return;
    if (clients_.size() >= kMaxClients + kMaxHandshakes) continue;
    make_room();
    Client& client = add(tcp.peer_name());
    client.address = live::address_of_peer(tcp.fd());
    client.channel = std::make_unique<TcpPerftestChannel>(endpoint_.driver(), std::move(tcp));
    client.script = std::make_unique<live::Script>(
        run_perftest(endpoint_, perftest_, PerftestRole::server, *client.channel, client.report));
  }
}

void PerftestServer::make_room() {
  std::vector<std::list<Client>::iterator> waiting;
  for (auto it = clients_.begin(); it != clients_.end(); ++it) {
    if (it->channel != nullptr && it->report.version.empty()) waiting.push_back(it);
  }
  if (waiting.size() < kMaxHandshakes) return;
  const auto displaced = *live::whom_to_displace(waiting, [](const auto& client) { return client->address; });
  displaced->report.error = "too many connections came before this one completed its handshake";
  finish(*displaced, endpoint_.now());
  clients_.erase(displaced);
}

void PerftestServer::finish(Client& client, Time now) {
  failed_ |= !client.report.error.empty();
  if (!client.report.version.empty() || notes_.may_tell(now)) print_perftest(client.report, options_.json);
  has_served_ = true;
  if (client.report.by_cm) linger_until_ = now + kLinger;
}

void PerftestServer::take(CommId wanted, Time now) {
  const Gid from = cm_.manager().find(wanted)->peer.remote;
  // Nothing in a request tells what its connection is for: the first of a client is its channel, those of its queue
  // pairs follow the barrier. If two clients have one address, the earlier may be given a connection of the later.
  const auto waits = std::ranges::find_if(clients_, [&from](const Client& client) {
    return client.connections != nullptr && client.connections->wants(from);
  });
  if (waits != clients_.end()) {
    waits->connections->take(wanted);
    return;
  }
  if (clients_.size() >= kMaxClients + kMaxHandshakes) {
    (void)cm_.manager().reject(wanted, {.reason = CmRejReason::no_resources}, now);
    return;
  }
  Client& client = add(to_string(from));
  client.report.by_cm = true;
  client.connections = std::make_unique<PerftestConnections>(cm_, live::ConnectPlan{.to = from});
  client.script =
      std::make_unique<live::Script>(serve_by_cm(cm_, wanted, perftest_, *client.connections, client.report));
}

bool PerftestServer::is_done(Time now) {
  if (!options_.once || !clients_.empty() || !has_served_) return false;
  if (now >= linger_until_) return true;
  endpoint_.driver().wake_at(linger_until_);
  return false;
}

live::Driver::Step PerftestServer::step(Time now) {
  bool moved = false;
  for (auto it = clients_.begin(); it != clients_.end();) {
    moved |= it->script->step(now);
    if (!it->script->is_over()) {
      endpoint_.driver().wake_at(it->script->next_timeout());
      ++it;
      continue;
    }
    it->report.error = it->script->error();
    finish(*it, now);
    it = clients_.erase(it);
  }
  notes_.step(now);
  if (is_done(now)) return live::Driver::Step::done;
  while (endpoint_.port().poll_event(now)) {
  }
  return moved ? live::Driver::Step::busy : live::Driver::Step::idle;
}

}  // namespace roce::gen
