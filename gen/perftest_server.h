// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>
#include <string>
#include <string_view>

#include "gen/driver.h"
#include "gen/endpoint.h"
#include "gen/perftest_channel.h"
#include "gen/perftest_options.h"
#include "gen/perftest_report.h"
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
  bool once = false;  ///< it is done after the first client
};

/// Adds --perftest and the options that begin with it.
void add_perftest_server_options(command_line::Command& command, PerftestServerOptions& options);

/// Serves one perftest program on a TCP port, as many clients at a time as come.
class PerftestServer {
 public:
  /// Serves who connects to `listener`; `endpoint` has to outlive the server. Failure: options that do not fit.
  [[nodiscard]] static Outcome<std::unique_ptr<PerftestServer>> open(Endpoint& endpoint,
                                                                     const PerftestServerOptions& options,
                                                                     Tcp listener);
  ~PerftestServer();
  PerftestServer(const PerftestServer&) = delete;
  PerftestServer& operator=(const PerftestServer&) = delete;

  /// Which program it serves.
  [[nodiscard]] std::string_view program() const { return to_string(perftest_.program); }
  /// Lets the exchanges go on, and prints the report of each that ends.
  [[nodiscard]] Driver::Step step(Time now);
  /// Whether any exchange failed.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  /// The script refers to the others.
  struct Client {
    PerftestReport report;
    std::unique_ptr<TcpPerftestChannel> channel;
    std::unique_ptr<Script> script;
  };

  PerftestServer(Endpoint& endpoint, const PerftestServerOptions& options, const PerftestOptions& perftest,
                 Tcp listener);
  void accept();

  Endpoint& endpoint_;
  PerftestServerOptions options_;
  PerftestOptions perftest_;
  Tcp listener_;
  std::list<Client> clients_;
  bool failed_ = false;
};

}  // namespace roce::gen
