// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/tcp.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <utility>

namespace roce::live {

namespace {

constexpr int kBacklog = 64;

void send_at_once(int fd) {
  const int on = 1;
  (void)::setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
}

using AddressList = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

[[nodiscard]] Result<AddressList> look_up(const std::string& host, const std::string& port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), port.c_str(), &hints, &found); error != 0) {
    return cannot(fmt::format("\"{}\" is no host that is known: {}", host, ::gai_strerror(error)));
  }
  return AddressList{found, &::freeaddrinfo};
}

}  // namespace

Result<Gid> resolve_host(const std::string& host) {
  const Result<AddressList> found = look_up(host, "0");
  if (!found) return tl::unexpected(found.error());
  const sockaddr* address = (*found)->ai_addr;
  if (address->sa_family == AF_INET) {
    Ipv4Address ipv4;
    std::memcpy(ipv4.octets.data(), &reinterpret_cast<const sockaddr_in*>(address)->sin_addr, ipv4.octets.size());
    return Gid::from_ipv4(ipv4);
  }
  Gid gid;
  std::memcpy(gid.octets.data(), &reinterpret_cast<const sockaddr_in6*>(address)->sin6_addr, gid.octets.size());
  return gid;
}

std::string address_of_peer(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (::getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return "?";
  if (address.ss_family == AF_INET) {
    const auto& ipv4 = reinterpret_cast<const sockaddr_in&>(address).sin_addr;
    return {reinterpret_cast<const char*>(&ipv4), sizeof ipv4};
  }
  const auto& ipv6 = reinterpret_cast<const sockaddr_in6&>(address).sin6_addr;
  const char* const octets = reinterpret_cast<const char*>(&ipv6);
  constexpr std::size_t kNetwork = 8;
  if (IN6_IS_ADDR_V4MAPPED(&ipv6)) return {octets + sizeof ipv6 - sizeof(in_addr), sizeof(in_addr)};
  return {octets, kNetwork};
}

Tcp::Tcp(Tcp&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}

Tcp& Tcp::operator=(Tcp&& other) noexcept {
  std::swap(fd_, other.fd_);
  return *this;
}

Tcp::~Tcp() {
  if (fd_ >= 0) ::close(fd_);
}

Result<Tcp> Tcp::listen(std::uint16_t port) {
  // One socket for both families, or for IPv4 alone if there is no IPv6.
  Tcp socket{::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const bool ipv6 = socket.fd_ >= 0;
  if (!ipv6) socket = Tcp{::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  const int on = 1;
  const int off = 0;
  (void)::setsockopt(socket.fd_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in6 any6{};
  any6.sin6_family = AF_INET6;
  any6.sin6_port = htons(port);
  sockaddr_in any4{};
  any4.sin_family = AF_INET;
  any4.sin_port = htons(port);
  if (ipv6) (void)::setsockopt(socket.fd_, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  const auto* address = ipv6 ? reinterpret_cast<const sockaddr*>(&any6) : reinterpret_cast<const sockaddr*>(&any4);
  const socklen_t size = ipv6 ? sizeof any6 : sizeof any4;
  if (::bind(socket.fd_, address, size) != 0 || ::listen(socket.fd_, kBacklog) != 0) {
    return cannot(
        fmt::format("cannot listen on TCP port {}: {}; stop the program that holds it, or choose another port", port,
                    std::strerror(errno)));
  }
  return socket;
}

Result<Tcp> Tcp::connect(const std::string& host, std::uint16_t port) {
  const Result<AddressList> found = look_up(host, fmt::format("{}", port));
  if (!found) return tl::unexpected(found.error());
  const addrinfo& first = **found;
  Tcp socket{::socket(first.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
  if (::connect(socket.fd_, first.ai_addr, first.ai_addrlen) != 0 && errno != EINPROGRESS) {
    return cannot(fmt::format("cannot connect to {} port {}: {}", host, port, std::strerror(errno)));
  }
  send_at_once(socket.fd_);
  return socket;
}

Tcp Tcp::accept() {
  const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
  if (fd >= 0) send_at_once(fd);
  return Tcp{fd};
}

int Tcp::connected() const {
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(fd_, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

Tcp::Read Tcp::read(std::string& data, std::size_t limit) {
  Read result = Read::nothing;
  std::array<char, 4096> buffer{};
  while (data.size() < limit) {
    const ssize_t got = ::recv(fd_, buffer.data(), std::min(buffer.size(), limit - data.size()), 0);
    if (got > 0) {
      data.append(buffer.data(), static_cast<std::size_t>(got));
      result = Read::some;
    } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
      return result == Read::some ? result : Read::closed;
    } else if (errno != EINTR) {
      break;
    }
  }
  return result;
}

bool Tcp::write(std::string_view data) {
  return ::send(fd_, data.data(), data.size(), MSG_NOSIGNAL) == static_cast<ssize_t>(data.size());
}

std::string Tcp::peer_name() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  std::array<char, NI_MAXSERV> service{};
  if (::getpeername(fd_, reinterpret_cast<sockaddr*>(&address), &size) != 0 ||
      ::getnameinfo(reinterpret_cast<const sockaddr*>(&address), size, host.data(), host.size(), service.data(),
                    service.size(), NI_NUMERICHOST | NI_NUMERICSERV) != 0) {
    return "a host that is gone";
  }
  std::string_view name = host.data();
  // An IPv4 host on a socket of both families.
  if (name.starts_with("::ffff:")) name.remove_prefix(7);
  return fmt::format("{} port {}", name, service.data());
}

}  // namespace roce::live
