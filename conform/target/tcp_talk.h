// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "conform/target/shell_command.h"
#include "roce/live/result.h"
#include "roce/live/tcp.h"

namespace roce::conform {

/// A server program on TCP, and how long it may take to be there and to answer.
struct TcpServer {
  std::string program{};  ///< its name, for failures
  std::string host{};     ///< a name or an address
  std::uint16_t port = 0;
  std::chrono::milliseconds patience{};
};

/// A conversation with a server program on TCP, which waits for each answer.
class TcpTalk {
 public:
  using Clock = std::chrono::steady_clock;

  /// Connects, and tries again while nobody listens. `started` is the command that starts the server; null if it runs
  /// anyway. Failures: no such host, nobody listens in time, the command ended before.
  [[nodiscard]] static live::Result<TcpTalk> connect(const TcpServer& server, ShellCommand* started);

  /// Sends bytes. Failure: the server has closed the connection.
  [[nodiscard]] live::Result<void> write(std::string_view bytes);
  /// Returns the next `size` bytes; `what` names them in failures. Failures: the server closes the connection, or says
  /// less in its time.
  [[nodiscard]] live::Result<std::string> read(std::size_t size, std::string_view what);

  /// True if `size` bytes have come; does not wait.
  [[nodiscard]] bool has(std::size_t size);
  /// True if nothing will come after what has come.
  [[nodiscard]] bool is_closed() const { return is_closed_; }
  /// Takes `size` bytes, or all that have come if they are fewer.
  [[nodiscard]] std::string take(std::size_t size);
  /// Waits until something comes; false if nothing does in the time of the server.
  [[nodiscard]] bool wait() const;

  /// Returns a failure of this server, whose name and address stand before `why`.
  [[nodiscard]] tl::unexpected<live::Error> failure(std::string_view why) const;

 private:
  TcpTalk(TcpServer server, live::Tcp tcp, Clock::time_point end)
      : server_(std::move(server)), tcp_(std::move(tcp)), end_(end) {}

  TcpServer server_;
  live::Tcp tcp_;
  Clock::time_point end_;
  std::string data_;        ///< read and not taken yet
  bool is_closed_ = false;  ///< by the server
};

}  // namespace roce::conform
