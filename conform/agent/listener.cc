// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/listener.h"

#include <fmt/format.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "command_line/number_text.h"
#include "conform/agent/socket_address.h"
#include "roce/live/tcp.h"
#include "roce/live/unix_socket.h"
#include "roce/port/address_text.h"

namespace roce::conform {

namespace {

constexpr int kBacklog = 16;

/// Returns the address of the other end; that of nobody if it is gone.
[[nodiscard]] Gid host_of_peer(int fd) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  Gid host;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&storage), &size) != 0) return host;
  if (storage.ss_family == AF_INET6) {
    std::memcpy(host.octets.data(), &reinterpret_cast<const sockaddr_in6&>(storage).sin6_addr, host.octets.size());
    return host;
  }
  Ipv4Address ipv4;
  std::memcpy(ipv4.octets.data(), &reinterpret_cast<const sockaddr_in&>(storage).sin_addr, ipv4.octets.size());
  return Gid::from_ipv4(ipv4);
}

}  // namespace

std::optional<TcpAddress> TcpAddress::parse(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos) return std::nullopt;
  std::string host = text.substr(0, colon);
  const bool is_bracketed = host.size() > 2 && host.front() == '[' && host.back() == ']';
  if (is_bracketed) host = host.substr(1, host.size() - 2);
  const std::optional<Gid> address = port::parse_ip(host);
  const auto number = command_line::read_number<std::uint16_t>(text.substr(colon + 1));
  if (!address || !number || *number == 0 || is_bracketed != (host.find(':') != std::string::npos)) return std::nullopt;
  return TcpAddress{*address, *number};
}

bool TcpAddress::is_any() const {
  return address == Gid{} || address == Gid::from_ipv4({});
}

Outcome<Listener> Listener::at_path(const std::string& path) {
  const live::Result<int> fd =
      live::listen_unix(path, "control socket", "stop the agent that uses it, or give another path with --control");
  if (!fd) return tl::unexpected(Failure{fd.error()});
  return Listener{*fd, path, std::nullopt};
}

Outcome<Listener> Listener::at_address(const TcpAddress& address, const std::optional<Gid>& peer) {
  SocketAddress place{address.address, address.port};
  const int fd = ::socket(place.family(), SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  if (fd >= 0 && ::bind(fd, place.get(), place.size()) == 0 && ::listen(fd, kBacklog) == 0) {
    return Listener{fd, "", peer};
  }
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return cannot(fmt::format("cannot listen on {} port {}: {}; give another address or port with --listen",
                            to_string(address.address), address.port, std::strerror(error)));
}

Listener::Listener(Listener&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), path_(std::exchange(other.path_, {})), peer_(other.peer_) {}

Listener::~Listener() {
  if (fd_ >= 0) ::close(fd_);
  if (!path_.empty()) ::unlink(path_.c_str());
}

std::optional<Incoming> Listener::accept() {
  while (true) {
    const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return std::nullopt;
    if (!path_.empty()) return Incoming{fd};
    if (peer_ && host_of_peer(fd) != *peer_) {
      ::close(fd);
      continue;
    }
    // Without keepalive, a client whose machine is gone would keep its objects for ever.
    const int on = 1;
    (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    return Incoming{fd, live::address_of_peer(fd)};
  }
}

}  // namespace roce::conform
