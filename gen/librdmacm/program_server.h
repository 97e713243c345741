// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>

#include "command_line/outcome.h"
#include "gen/librdmacm/program_report.h"
#include "gen/librdmacm/rping.h"
#include "gen/librdmacm/ucmatose.h"
#include "gen/librdmacm/udaddy.h"
#include "roce/live/rdma_cm.h"

namespace roce::gen {

/// The options of the servers of librdmacm's programs.
struct ProgramServerOptions {
  MessageOptions messages;  ///< for ucmatose and udaddy
  bool json = false;
};

/// Serves rping, ucmatose and udaddy at their ports, many clients at a time.
class ProgramServer {
 public:
  /// Listens; `cm` has to outlive the server. Failure: the communication manager refuses a port.
  [[nodiscard]] static Outcome<std::unique_ptr<ProgramServer>> open(live::RdmaCm& cm,
                                                                    const ProgramServerOptions& options);

  /// Continues the scripts, after a step of the communication manager,
  /// and prints the report of each that ends; true if something happened.
  bool step(Time now);
  /// True if there were clients and all have been gone for so long that none repeats its last message any more.
  [[nodiscard]] bool has_served(Time now);
  /// Ends the connections of all clients and tells the clients. Their unfinished exchanges are not reported.
  void close();
  /// True if one of the exchanges failed.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  /// A client. The script refers to the report.
  struct Running {
    ProgramReport report;
    std::unique_ptr<live::Script> script;
  };

  ProgramServer(live::RdmaCm& cm, const ProgramServerOptions& options) : cm_(cm), options_(options) {}
  [[nodiscard]] Outcome<void> listen();
  /// True if the host that asks for a connection already has as many as one host may have.
  [[nodiscard]] bool is_crowded_by(CommId id) const;
  Running& add(const char* program, CommId id);
  void begin(Running& running, live::Task<> task);
  void finish(Running& running, Time now);

  live::RdmaCm& cm_;
  ProgramServerOptions options_;
  std::list<Running> running_;
  Time last_ended_ = kNever;
  bool failed_ = false;
};

}  // namespace roce::gen
