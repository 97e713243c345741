// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "command_line/outcome.h"
#include "roce/wire/types.h"

namespace roce::conform {

/// An address and a port of TCP.
struct TcpAddress {
  Gid address{};
  std::uint16_t port = 0;

  /// Parses `192.0.2.1:4790` or `[2001:db8::1]:4790`; none if the text is neither.
  [[nodiscard]] static std::optional<TcpAddress> parse(const std::string& text);
  /// True if it stands for all addresses of the machine.
  [[nodiscard]] bool is_any() const;
};

/// A connection that has come in.
struct Incoming {
  int fd = -1;
  /// Tells the owners of connections apart, as live::address_of_peer does; empty if only the agent's user can connect.
  std::string owner{};
};

/// A socket that takes connections: a Unix socket of mode 0600, or TCP at one address.
class Listener {
 public:
  /// Listens on a Unix socket, whose file goes with the listener.
  [[nodiscard]] static Outcome<Listener> at_path(const std::string& path);
  /// Listens on TCP. Connections from other hosts than `peer`, if it is given, are closed at once.
  [[nodiscard]] static Outcome<Listener> at_address(const TcpAddress& address, const std::optional<Gid>& peer);
  Listener(Listener&& other) noexcept;
  Listener& operator=(Listener&&) = delete;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;
  ~Listener();

  [[nodiscard]] int fd() const { return fd_; }
  /// Takes the next connection; nullopt if none is waiting.
  [[nodiscard]] std::optional<Incoming> accept();

 private:
  Listener(int fd, std::string path, std::optional<Gid> peer) : fd_(fd), path_(std::move(path)), peer_(peer) {}

  int fd_;
  std::string path_;  // of the Unix socket; empty: TCP
  std::optional<Gid> peer_;
};

}  // namespace roce::conform
