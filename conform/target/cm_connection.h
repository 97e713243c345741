// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>

#include "conform/target/wire.h"
#include "roce/cm/connection_manager.h"
#include "roce/live/result.h"

namespace roce::conform {

/// A server program that takes connections by RDMA CM, and how long it may take to be there and to answer.
struct CmServer {
  std::string program{};   ///< its name, for failures
  std::uint16_t port = 0;  ///< of the TCP port space
  std::chrono::milliseconds patience{};
};

/// A connection by RDMA CM that the tester asked a server program for.
class CmConnection {
 public:
  /// Connects a QP of the tester, and asks again while it is rejected. `wire` has to outlive it. Failures: nobody
  /// answers in time, or accepts.
  [[nodiscard]] static live::Result<std::unique_ptr<CmConnection>> open(Wire& wire, const CmServer& server, Qpn own,
                                                                        PathMtu path_mtu);

  /// Returns what both sides agreed on, as the tester's QP has it.
  [[nodiscard]] const cm::Agreement& agreement() const { return agreement_; }
  /// Takes a message that came to QP1, and answers it if it wants an answer.
  void take(const Packet& packet);
  /// Ends the connection. Waits until the program has agreed, but not longer than a second.
  void close();

 private:
  CmConnection(Wire& wire, cm::ConnectionManager manager) : wire_(wire), manager_(std::move(manager)) {}

  void send_messages();
  /// Returns the next event of the communication manager; empty if there is none until `end`.
  [[nodiscard]] std::optional<cm::Event> wait_for_event(Time end);

  Wire& wire_;
  cm::ConnectionManager manager_;
  CommId id_{};
  cm::Agreement agreement_{};
};

}  // namespace roce::conform
