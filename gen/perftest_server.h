// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "gen/driver.h"
#include "gen/endpoint.h"
#include "gen/handshake_notes.h"
#include "gen/perftest_channel.h"
#include "gen/perftest_connections.h"
#include "gen/perftest_options.h"
#include "gen/perftest_report.h"
#include "gen/rdma_cm.h"
#include "gen/script.h"
#include "gen/tcp.h"

namespace roce::command_line {
class Command;
}

namespace roce::gen {

/// What the server of a perftest program is told.
struct PerftestServerOptions {
  std::string program;  ///< its name; empty: there is no such server
  PerftestOptions perftest;
  bool json = false;
  bool once = false;                   ///< it is done after the first client
  std::uint16_t port = kPerftestPort;  ///< by RDMA CM
};

/// Adds --perftest and the options that begin with it.
void add_perftest_server_options(command_line::Command& command, PerftestServerOptions& options);

/// Serves one perftest program on a TCP port and, for clients with -R, by RDMA CM, as many at a time as come.
class PerftestServer {
 public:
  /// Serves who connects to `listener`, or by `cm`, which has to outlive the server. Failure: options that do not fit,
  /// or a port that another program has by RDMA CM.
  [[nodiscard]] static Outcome<std::unique_ptr<PerftestServer>> open(RdmaCm& cm, const PerftestServerOptions& options,
                                                                     Tcp listener);
  ~PerftestServer();
  PerftestServer(const PerftestServer&) = delete;
  PerftestServer& operator=(const PerftestServer&) = delete;

  /// Which program it serves.
  [[nodiscard]] std::string_view program() const { return to_string(perftest_.program); }
  /// Lets the exchanges go on, and prints the report of each that ends.
  [[nodiscard]] Driver::Step step(Time now);
  /// Ends all exchanges, unreported; the next step of the communication manager tells the peers.
  void close() { clients_.clear(); }
  /// Whether any exchange failed.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  /// The script refers to the others.
  struct Client {
    PerftestReport report;
    std::string address;                               // by TCP
    std::unique_ptr<TcpPerftestChannel> channel;       // one of the two
    std::unique_ptr<PerftestConnections> connections;  // one of the two
    std::unique_ptr<Script> script;
  };

  PerftestServer(RdmaCm& cm, const PerftestServerOptions& options, const PerftestOptions& perftest, Tcp listener);
  Client& add(std::string peer);
  void accept();
  void make_room();
  void finish(Client& client, Time now);
  void take(CommId wanted, Time now);
  [[nodiscard]] bool is_done(Time now);

  RdmaCm& cm_;
  Endpoint& endpoint_;
  PerftestServerOptions options_;
  PerftestOptions perftest_;
  Tcp listener_;
  HandshakeNotes notes_;
  std::list<Client> clients_;
  Time linger_until_{};
  bool has_served_ = false;
  bool failed_ = false;
};

}  // namespace roce::gen
