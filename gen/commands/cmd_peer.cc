// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"
#include "runtime/note.h"

#include <fmt/core.h>
#include <poll.h>

#include <array>
#include <list>
#include <memory>
#include <optional>

#include "command_line/ending.h"
#include "command_line/number_text.h"
#include "command_line/program.h"
#include "gen/handshake/handshake_notes.h"
#include "gen/librdmacm/program_server.h"
#include "gen/peer/peer_shards.h"
#include "gen/perftest/server.h"
#include "gen/pingpong/connection.h"
#include "gen/pingpong/options.h"
#include "gen/pingpong/report.h"
#include "options/program_endpoint.h"
#include "options/written_files.h"
#include "roce/live/control_server.h"
#include "roce/live/crowd.h"
#include "roce/live/dcbx_text.h"
#include "roce/live/endpoint.h"
#include "roce/live/tcp.h"
#include "roce/live/token_file.h"

namespace roce::gen {

namespace {

/// How long the last messages may take to go out at the end.
constexpr Duration kSettleTime = std::chrono::milliseconds{100};

/// Limits on pingpong clients at a time, and on connections whose handshake is not over yet.
constexpr std::size_t kMaxConnections = 256;
constexpr std::size_t kMaxHandshakes = 64;

struct PeerOptions {
  options::ProgramOptions endpoint;
  PingpongOptions pingpong;
  std::uint16_t port = kPingpongPort;
  std::string control;
  std::uint16_t control_port = 0;
  std::string token_file;
  std::string memory_limit = "4G";
  MessageOptions messages;  // for the programs of librdmacm
  PerftestServerOptions perftest;
  bool once = false;
};

/// The pingpong server, which serves many clients at a time.
class Peer {
 public:
  Peer(live::Endpoint& endpoint, const PeerOptions& options, live::Tcp listener)
      : endpoint_(endpoint),
        options_(options),
        listener_(std::move(listener)),
        notes_(endpoint.driver(), options.endpoint.json) {
    endpoint_.driver().watch(listener_.fd(), POLLIN, [this](short) { accept(); });
  }

  [[nodiscard]] live::Driver::Step step(Time time) {
    bool moved = false;
    for (auto it = connections_.begin(); it != connections_.end();) {
      PingpongConnection& connection = *it->connection;
      moved |= connection.step(time);
      if (!it->reported && connection.state() >= PingpongConnection::State::lingering) {
        it->reported = true;
        if (connection.has_begun() || notes_.may_tell(time)) {
          print_pingpong(connection, PingpongSession::Role::server, options_.endpoint.json);
        }
        failed_ |= !connection.succeeded();
      }
      if (connection.state() == PingpongConnection::State::over) {
        it = connections_.erase(it);
        if (options_.once && connections_.empty()) return live::Driver::Step::done;
      } else {
        endpoint_.driver().wake_at(connection.next_timeout());
        ++it;
      }
    }
    notes_.step(time);
    while (endpoint_.port().poll_event(time)) {
    }
    return moved ? live::Driver::Step::busy : live::Driver::Step::idle;
  }

  /// True if any exchange failed.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  void accept() {
    for (std::size_t i = 0; i < kMaxHandshakes; ++i) {
      live::Tcp tcp = listener_.accept();
      if (tcp.fd() < 0) return;
      if (connections_.size() >= kMaxConnections + kMaxHandshakes) continue;
      make_room();
      std::string name = tcp.peer_name();
      std::string address = live::address_of_peer(tcp.fd());
      auto connection =
          std::make_unique<PingpongConnection>(endpoint_, options_.pingpong, PingpongSession::Role::server,
                                               std::move(tcp), std::move(name), endpoint_.now());
      connections_.push_back({std::move(connection), std::move(address)});
    }
  }

  void make_room() {
    std::vector<const Served*> waiting;
    for (const Served& served : connections_) {
      if (served.connection->state() == PingpongConnection::State::handshake) waiting.push_back(&served);
    }
    if (waiting.size() < kMaxHandshakes) return;
    (*live::whom_to_displace(waiting, [](const Served* served) { return served->address; }))->connection->displace();
  }

  live::Endpoint& endpoint_;
  const PeerOptions& options_;
  live::Tcp listener_;
  HandshakeNotes notes_;
  struct Served {
    std::unique_ptr<PingpongConnection> connection;
    std::string address;
    bool reported = false;  // its result has been printed
  };
  std::list<Served> connections_;
  bool failed_ = false;
};

[[nodiscard]] Outcome<ExitCode> run(const PeerOptions& options) {
  const std::array reading{files::FileUse{"--token-file", options.token_file}};
  if (const auto conflict = files::find_conflict(reading, options::written_files(options.endpoint)))
    return cannot(*conflict);
  const Outcome<std::unique_ptr<options::ProgramEndpoint>> program = options::ProgramEndpoint::open(options.endpoint);
  if (!program) return tl::unexpected(program.error());
  live::Endpoint& endpoint = (*program)->first();
  live::Result<live::Tcp> listener = live::Tcp::listen(options.port);
  if (!listener) return tl::unexpected(listener.error());
  live::ControlAddress address;
  address.socket = options.control.empty() ? live::default_control_socket(options.endpoint.interface) : options.control;
  address.port = options.control_port;
  if (address.port != 0) {
    if (options.token_file.empty()) {
      return cannot("a control port lets others write this program's memory; give it a secret with --token-file");
    }
    live::Result<std::string> token = live::read_token(options.token_file);
    if (!token) return tl::unexpected(token.error());
    address.token = std::move(*token);
  }
  const live::Result<std::unique_ptr<live::RdmaCm>> cm = live::RdmaCm::open(endpoint);
  if (!cm) return tl::unexpected(cm.error());
  const std::optional<std::uint64_t> memory_limit = command_line::read_size(options.memory_limit);
  if (!memory_limit) return cannot(command_line::size_mistake("--memory-limit", options.memory_limit));
  PeerShards others{(*program)->shards(), address.token, *memory_limit};
  const auto tell = [json = options.endpoint.json](const std::string& text) {
    runtime::print_note("refused", text, json);
  };
  auto clients = std::make_unique<live::ControlClients>(endpoint, cm->get(), others.terms(0), others.hand_over(), tell);
  live::Result<std::unique_ptr<live::ControlServer>> control = live::ControlServer::open(*clients, address);
  if (!control) return tl::unexpected(control.error());
  const Outcome<std::unique_ptr<ProgramServer>> programs =
      ProgramServer::open(**cm, {.messages = options.messages, .json = options.endpoint.json});
  if (!programs) return tl::unexpected(programs.error());
  std::unique_ptr<PerftestServer> perftest;
  if (!options.perftest.program.empty()) {
    PerftestServerOptions served = options.perftest;
    served.json = options.endpoint.json;
    served.once = options.once;
    served.port = options.port;
    Outcome<std::unique_ptr<PerftestServer>> opened = PerftestServer::open(**cm, served, std::move(*listener));
    if (!opened) return tl::unexpected(opened.error());
    perftest = std::move(*opened);
  }
  std::optional<Peer> peer;
  if (!perftest) peer.emplace(endpoint, options, std::move(*listener));
  const std::string where = address.port != 0 ? fmt::format("TCP port {}", address.port) : address.socket;
  runtime::print_note(
      "ready",
      fmt::format("{}; {} clients on TCP port {}{}, rping, ucmatose and udaddy by RDMA CM, control on {}",
                  endpoint.description(), perftest ? perftest->program() : "pingpong", options.port,
                  perftest ? " or with -R" : "", where),
      options.endpoint.json);
  others.start();
  const live::Result<bool> ran = endpoint.driver().run([&](Time time) {
    bool moved = clients->step();
    moved |= (*cm)->step(time);
    moved |= (*programs)->step(time);
    const live::Driver::Step stepped = perftest ? perftest->step(time) : peer->step(time);
    if (options.once && (*programs)->has_served(time)) return live::Driver::Step::done;
    return stepped == live::Driver::Step::idle && moved ? live::Driver::Step::busy : stepped;
  });
  control->reset();
  clients.reset();
  if (Outcome<void> ended = others.stop(); !ended) return tl::unexpected(ended.error());
  if (!ran) return tl::unexpected(ran.error());
  (*programs)->close();
  if (perftest) perftest->close();
  (*cm)->step(endpoint.now());
  endpoint.driver().settle(endpoint.now() + kSettleTime);
  if (Outcome<void> closed = (*program)->close(); !closed) return tl::unexpected(closed.error());
  const bool tcp_failed = perftest ? perftest->failed() : peer->failed();
  return tcp_failed || (*programs)->failed() ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_peer(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("peer", "Stay up and answer like an RNIC");
  auto options = std::make_shared<PeerOptions>();
  options::add_endpoint_options(command, options->endpoint);
  options::add_shards_option(command, options->endpoint);
  add_pingpong_options(command, options->pingpong, options->port);
  command
      .add_option("--control", options->control,
                  "Unix socket of the control protocol (default: roce-gen-INTERFACE.sock in $XDG_RUNTIME_DIR)")
      .type_name("PATH");
  command
      .add_option("--control-port", options->control_port,
                  "TCP port of the control protocol instead; needs --token-file")
      .range(1, 65535);
  command.add_option("--token-file", options->token_file, "File with the secret that clients on TCP have to know")
      .type_name("FILE");
  command
      .add_option("--memory-limit", options->memory_limit,
                  "Memory that all clients of the control protocol have together, in bytes, or with k, M or G")
      .type_name("SIZE")
      .capture_default_str();
  command.add_flag("--once", options->once, "End after the first exchange");
  command.add_option("--cm-count", options->messages.count, "The -C of ucmatose and udaddy")
      .range(1U, 10'000U)
      .capture_default_str();
  command.add_option("--cm-size", options->messages.size, "The -S of ucmatose and udaddy")
      .range(1U, 1U << 20)
      .capture_default_str();
  add_perftest_server_options(command, options->perftest);
  command
      .add_option(
          "--pfc", options->endpoint.pfc,
          "Hold PRIORITY of the other end by PFC from when a receive queue or SRQ of it has LOW receives left until "
          "it has ENOUGH; may be repeated (raw)")
      .type_name("PRIORITY:LOW:ENOUGH")
      .allow_extra_args(false);
  command
      .add_option("--dcbx", options->endpoint.dcbx,
                  "Agree with the other end of the wire by DCBX on shares and on the priorities without loss: parts "
                  "with commas between them, willing=both|ets|pfc|none, pfc=PRIORITIES, shares=PRIORITIES:PERCENT/..., "
                  "recommend, app=KIND:NUMBER:PRIORITY, capability=N (raw)")
      .type_name("SETTINGS")
      .check([](const std::string& text) {
        const live::Result<port::DcbxConfig> config = live::parse_dcbx(text);
        return config ? std::string{} : config.error().message;
      });
  command.footer(
      "Examples:\n"
      "  roce-gen peer -i eth0                    then elsewhere: ibv_rc_pingpong -d mlx5_0 -g 3 -c HOST\n"
      "                                           or rping -c -a HOST -C 10 -V, ucmatose -s HOST, udaddy -s HOST\n"
      "  roce-gen peer -i eth0 -k ud -s 1024      then elsewhere: ibv_ud_pingpong -d rxe0 -g 1 HOST\n"
      "  roce-gen peer -i eth0 --perftest ib_write_bw\n"
      "                                           then elsewhere: ib_write_bw -d mlx5_0 -x 3 HOST, with or without -R\n"
      "  roce-gen peer -i eth0 --link udp         without any privilege\n"
      "  roce-gen peer -i eth0 --shards 2         two threads; then: roce-gen write -i eth0 --shards 2 -q 2 "
      "./peer.sock\n"
      "  roce-gen peer -i eth0 --metrics 9400     then here: curl -s http://127.0.0.1:9400/metrics\n"
      "  roce-gen peer -i eth0 --dcbx willing=both\n"
      "                                           takes the switch's PFC, and the shares that it recommends\n"
      "  roce-gen peer -i ./sim.sock --link stream --ip 192.0.2.7/24\n"
      "                                           at a simulation that listens on that socket (docs/stream-link.md)\n"
      "Exit code: 0 every exchange completed, 1 one failed, 2 wrong command line or no such interface.");
  command.callback([options, &code] { code = command_line::ending_of("roce-gen", run(*options)); });
}

}  // namespace roce::gen
