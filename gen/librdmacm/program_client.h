// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "command_line/outcome.h"
#include "gen/librdmacm/datagram_side.h"
#include "gen/librdmacm/program_report.h"
#include "options/program_endpoint.h"
#include "roce/live/rdma_cm.h"

namespace roce::gen {

/// The options of the clients of all programs of librdmacm.
struct ClientOptions {
  options::ProgramOptions endpoint;
  std::string host;                ///< a name or an address
  std::uint16_t port = 0;          ///< RDMA port of the server
  std::uint8_t traffic_class = 0;  ///< traffic class of the connection, in both directions
};

/// Adds the options to a command; `options.port` holds the default port.
void add_client_options(command_line::Command& command, ClientOptions& options);

/// The options of a client whose messages have a count and a size.
struct MessageClientOptions {
  ClientOptions client;
  MessageOptions messages;
};

/// Adds the options of such a client, whose messages have at most `max_size` bytes.
void add_message_client_options(command_line::Command& command, MessageClientOptions& options, std::uint32_t max_size);

/// Makes the script of a client that talks to the server of `plan`.
using ClientScript =
    std::function<live::Task<>(live::RdmaCm& cm, const live::ConnectPlan& plan, ProgramReport& report)>;

/// Runs the client of one of librdmacm's programs to its end and prints its report. Failure: there is no such interface
/// or host.
[[nodiscard]] Outcome<ExitCode> run_client(const ClientOptions& options, const std::string& program,
                                           const ClientScript& script);

/// Runs a script without an RDMA CM connection to its end, and prints the report. Failure: the link is gone.
[[nodiscard]] Outcome<ExitCode> run_to_the_end(options::ProgramEndpoint& program, live::Script& script,
                                               ProgramReport& report, bool json);

}  // namespace roce::gen
