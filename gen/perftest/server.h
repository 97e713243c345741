// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "gen/handshake/handshake_notes.h"
#include "gen/perftest/channel.h"
#include "gen/perftest/connections.h"
#include "gen/perftest/options.h"
#include "gen/perftest/report.h"
#include "roce/live/driver.h"
#include "roce/live/endpoint.h"
#include "roce/live/rdma_cm.h"
#include "roce/live/script.h"
#include "roce/live/tcp.h"

namespace roce::command_line {
class Command;
}

namespace roce::gen {

/// The options of the server of a perftest program.
struct PerftestServerOptions {
  std::string program;  ///< its name; empty: no server
  PerftestOptions perftest;
  bool json = false;
  bool once = false;                   ///< end after the first client
  std::uint16_t port = kPerftestPort;  ///< port of RDMA CM
};

/// Adds --perftest and the options that begin with it.
void add_perftest_server_options(command_line::Command& command, PerftestServerOptions& options);

/// Serves one perftest program on a TCP port and, for clients with -R, by RDMA CM, many clients at a time.
class PerftestServer {
 public:
  /// Serves clients that connect to `listener`, or by `cm`, which has to outlive the server. Failure: options that do
  /// not fit, or an RDMA CM port that another program has.
  [[nodiscard]] static Outcome<std::unique_ptr<PerftestServer>> open(live::RdmaCm& cm,
                                                                     const PerftestServerOptions& options,
                                                                     live::Tcp listener);
  ~PerftestServer();
  PerftestServer(const PerftestServer&) = delete;
  PerftestServer& operator=(const PerftestServer&) = delete;

  /// Returns the name of the program that it serves.
  [[nodiscard]] std::string_view program() const { return to_string(perftest_.program); }
  /// Continues the exchanges, and prints the report of each that ends.
  [[nodiscard]] live::Driver::Step step(Time now);
  /// Ends all exchanges without a report; the next step of the communication manager tells the peers.
  void close() { clients_.clear(); }
  /// True if any exchange failed.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  /// A client. The script refers to the other members.
  struct Client {
    PerftestReport report;
    std::string address;                               // address of a client by TCP
    std::unique_ptr<TcpPerftestChannel> channel;       // channel of a client by TCP
    std::unique_ptr<PerftestConnections> connections;  // connections of a client by RDMA CM
    std::unique_ptr<live::Script> script;
  };

  PerftestServer(live::RdmaCm& cm, const PerftestServerOptions& options, const PerftestOptions& perftest,
                 live::Tcp listener);
  Client& add(std::string peer);
  void accept();
  void make_room();
  void finish(Client& client, Time now);
  void take(CommId wanted, Time now);
  [[nodiscard]] bool is_done(Time now);

  live::RdmaCm& cm_;
  live::Endpoint& endpoint_;
  PerftestServerOptions options_;
  PerftestOptions perftest_;
  live::Tcp listener_;
  HandshakeNotes notes_;
  std::list<Client> clients_;
  Time linger_until_{};
  bool has_served_ = false;
  bool failed_ = false;
};

}  // namespace roce::gen
