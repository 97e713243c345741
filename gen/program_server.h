// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <list>
#include <memory>

#include "gen/program_report.h"
#include "gen/rdma_cm.h"
#include "gen/rping.h"
#include "gen/ucmatose.h"
#include "gen/udaddy.h"

namespace roce::gen {

/// What the servers of librdmacm's programs are told.
struct ProgramServerOptions {
  MessageOptions messages;  ///< of ucmatose and udaddy
  bool json = false;
};

/// Serves rping, ucmatose and udaddy at their ports, as many clients at a time as come.
class ProgramServer {
 public:
  /// Listens; `cm` has to outlive the server. Failure: what the communication manager refuses.
  [[nodiscard]] static Outcome<std::unique_ptr<ProgramServer>> open(RdmaCm& cm, const ProgramServerOptions& options);

  /// Lets the scripts go on, after a step of the communication manager, and prints the report of each that ends; true
  /// if something happened.
  bool step(Time now);
  /// Whether there were clients and all of them are gone, for so long that none repeats its last message any more.
  [[nodiscard]] bool has_served(Time now);
  /// Ends the connections of all clients that are there, and tells them so. What they had begun is not reported.
  void close();
  /// Whether one of them failed.
  [[nodiscard]] bool failed() const { return failed_; }

 private:
  /// The script refers to the report.
  struct Running {
    ProgramReport report;
    std::unique_ptr<Script> script;
  };

  ProgramServer(RdmaCm& cm, const ProgramServerOptions& options) : cm_(cm), options_(options) {}
  [[nodiscard]] Outcome<void> listen();
  /// Whether the host that asks for a connection has as many as one host may have.
  [[nodiscard]] bool is_crowded_by(CommId id) const;
  Running& add(const char* program, CommId id);
  void begin(Running& running, Task<> task);
  void finish(Running& running, Time now);

  RdmaCm& cm_;
  ProgramServerOptions options_;
  std::list<Running> running_;
  Time last_ended_ = kNever;
  bool failed_ = false;
};

}  // namespace roce::gen
