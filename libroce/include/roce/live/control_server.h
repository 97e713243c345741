// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "roce/live/control_clients.h"

namespace roce::live {

/// The address on which a control server listens, or at which a client finds it.
struct ControlAddress {
  std::string socket{};    ///< path of a Unix socket, or
  std::string host{};      ///< host to connect to (not for servers) and
  std::uint16_t port = 0;  ///< TCP port; 0: the Unix socket
  std::string token{};     ///< secret that TCP clients have to know
};

/// Returns the path of the Unix socket of the peer on `interface` unless the user gives another: in the user's runtime
/// directory, or without one in /tmp with the user's number in its name.
[[nodiscard]] std::string default_control_socket(const std::string& interface);

/// Listens for clients of the control protocol (docs/control.md), any number of them.
class ControlServer {
 public:
  /// Listens on the TCP port, or on the Unix socket: its file gets mode 0600 and takes the place of one that nobody
  /// listens on. Failures: the address is taken, or not allowed.
  [[nodiscard]] static Result<std::unique_ptr<ControlServer>> open(ControlClients& clients,
                                                                   const ControlAddress& address);
  ~ControlServer();
  ControlServer(const ControlServer&) = delete;
  ControlServer& operator=(const ControlServer&) = delete;

 private:
  ControlServer(ControlClients& clients, ControlAddress address, int fd);
  void accept();

  ControlClients& clients_;
  ControlAddress address_;
  int fd_;
};

}  // namespace roce::live
