// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "roce/live/result.h"
#include "roce/wire/types.h"

namespace roce::live {

/// Returns the address of a host, given by name or address; IPv4-mapped for IPv4. Failure: it is not known.
[[nodiscard]] Result<Gid> resolve_host(const std::string& host);

/// Returns a key that tells the owners of connections apart: the peer's IPv4 address, or the network of its IPv6
/// address, because one owner may have very many of those. Not for printing; "?" if the other end is gone.
[[nodiscard]] std::string address_of_peer(int fd);

/// A TCP socket that never waits.
class Tcp {
 public:
  /// Listens on all addresses, IPv4 and IPv6. Failure: the port is taken or not allowed.
  [[nodiscard]] static Result<Tcp> listen(std::uint16_t port);
  /// Begins to connect; writable once that is over, and `connected` then tells how. `host` is a name or an address.
  [[nodiscard]] static Result<Tcp> connect(const std::string& host, std::uint16_t port);

  Tcp(Tcp&& other) noexcept;
  Tcp& operator=(Tcp&& other) noexcept;
  Tcp(const Tcp&) = delete;
  Tcp& operator=(const Tcp&) = delete;
  ~Tcp();

  /// Returns the next connection to a listening socket; its `fd` is below 0 if there is none.
  [[nodiscard]] Tcp accept();
  /// Returns 0, or the errno with which connecting failed.
  [[nodiscard]] int connected() const;

  enum class Read : std::uint8_t { nothing, some, closed };
  /// Appends what has arrived to `data`, which grows to at most `limit` bytes.
  Read read(std::string& data, std::size_t limit);
  /// Writes `data`; false if the peer is gone or takes no more: what is written here fits every socket buffer.
  bool write(std::string_view data);

  [[nodiscard]] int fd() const { return fd_; }
  /// Returns the other end, such as `192.0.2.1 port 4711`.
  [[nodiscard]] std::string peer_name() const;

 private:
  explicit Tcp(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace roce::live
