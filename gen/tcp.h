// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "gen/failure.h"
#include "roce/wire/types.h"

namespace roce::gen {

/// The address of a host, a name or an address; IPv4-mapped for IPv4. Failure: it is not known.
[[nodiscard]] Outcome<Gid> resolve_host(const std::string& host);

/// Who is at the other end of a connected socket, as what tells people apart: an IPv4 address, or the network of an
/// IPv6 address, of which one person may have very many. Not for people; "?" when the other end is gone.
[[nodiscard]] std::string address_of_peer(int fd);

/// A TCP socket that never waits.
class Tcp {
 public:
  /// Listens on all addresses, IPv4 and IPv6. Failure: the port is taken or not allowed.
  [[nodiscard]] static Outcome<Tcp> listen(std::uint16_t port);
  /// Begins to connect; writable once it is done, then `connected` says how it ended. `host` is a name or an address.
  [[nodiscard]] static Outcome<Tcp> connect(const std::string& host, std::uint16_t port);

  Tcp(Tcp&& other) noexcept;
  Tcp& operator=(Tcp&& other) noexcept;
  Tcp(const Tcp&) = delete;
  Tcp& operator=(const Tcp&) = delete;
  ~Tcp();

  /// The next connection to a listening socket; an `fd` below 0 if there is none.
  [[nodiscard]] Tcp accept();
  /// 0, or the errno that the connecting ended with.
  [[nodiscard]] int connected() const;

  enum class Read : std::uint8_t { nothing, some, closed };
  /// Appends what is there to `data`, which grows to `limit` bytes at most.
  Read read(std::string& data, std::size_t limit);
  /// False when the peer is gone or takes no more: what is written here fits every socket buffer.
  bool write(std::string_view data);

  [[nodiscard]] int fd() const { return fd_; }
  /// `192.0.2.1 port 4711`, the other end.
  [[nodiscard]] std::string peer_name() const;

 private:
  explicit Tcp(int fd) : fd_(fd) {}
  int fd_ = -1;
};

}  // namespace roce::gen
