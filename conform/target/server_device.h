// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "conform/target/server_program.h"
#include "conform/target/shell_command.h"
#include "conform/target/wire.h"

namespace roce::conform {

/// The way to a device that a server program uses, and how the program is started.
struct ServerSettings {
  std::string interface {};                    ///< the tester's
  const ServerProgram* program = nullptr;      ///< never null
  std::string host{};                          ///< name or address of the device, and of the program on TCP
  std::uint16_t port = 0;                      ///< TCP or RDMA CM; 0: the program's
  std::string command{};                       ///< of the shell; starts the program. Empty: it runs, and runs again
  std::chrono::milliseconds patience{10'000};  ///< for a server that is to listen and to answer
  bool to_others = false;                      ///< frames to other addresses than the device's leave too
};

/// A device that is tested through a server program without an agent: each instance meets a server of its own.
class ServerDevice {
 public:
  /// Opens the link and meets a server once, to see that it is one. Failures: those of `Wire::open`, of `TcpTalk` and
  /// of `introduce`.
  [[nodiscard]] static live::Result<std::unique_ptr<ServerDevice>> open(const ServerSettings& settings);

  [[nodiscard]] Wire& wire() const { return *wire_; }
  [[nodiscard]] const ServerProgram& program() const { return *settings_.program; }

  /// Starts the server, if a command says how, and tells it the tester's QP. Failures: as for `open`.
  [[nodiscard]] live::Result<ServerSession> meet(const OwnQp& own);
  /// Ends the server that was started. The session has to be gone.
  void part() { started_.reset(); }

 private:
  explicit ServerDevice(const ServerSettings& settings) : settings_(settings) {}

  ServerSettings settings_;
  std::unique_ptr<Wire> wire_;
  std::optional<ShellCommand> started_{};
};

}  // namespace roce::conform
