// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_server.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "roce/live/tcp.h"
#include "roce/live/unix_socket.h"

namespace roce::live {

namespace {

constexpr int kBacklog = 16;

[[nodiscard]] Result<int> listen_tcp(std::uint16_t port) {
  const int fd = ::socket(AF_INET6, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  const int on = 1;
  const int off = 0;
  (void)::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  (void)::setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off);
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_port = htons(port);
  if (fd >= 0 && ::bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      ::listen(fd, kBacklog) == 0) {
    return fd;
  }
  const int error = errno;
  if (fd >= 0) ::close(fd);
  return cannot(fmt::format("cannot listen on TCP port {} for the control protocol: {}; choose another", port,
                            std::strerror(error)));
}

}  // namespace

std::string default_control_socket(const std::string& interface) {
  // The interface of a stream link is a path; its last part is the name.
  const std::string name = interface.substr(interface.rfind('/') + 1);
  const char* runtime = std::getenv("XDG_RUNTIME_DIR");
  if (runtime != nullptr && *runtime != '\0') return fmt::format("{}/roce-gen-{}.sock", runtime, name);
  return fmt::format("/tmp/roce-gen-{}-{}.sock", ::getuid(), name);
}

ControlServer::ControlServer(ControlClients& clients, ControlAddress address, int fd)
    : clients_(clients), address_(std::move(address)), fd_(fd) {
  clients_.endpoint().driver().watch(fd_, POLLIN, [this](short) { accept(); });
}

Result<std::unique_ptr<ControlServer>> ControlServer::open(ControlClients& clients, const ControlAddress& address) {
  const Result<int> fd = address.port != 0
                             ? listen_tcp(address.port)
                             : listen_unix(address.socket, "control socket",
                                           "stop the peer that uses it, or give another path with --control");
  if (!fd) return tl::unexpected(fd.error());
  return std::unique_ptr<ControlServer>{new ControlServer{clients, address, *fd}};
}

ControlServer::~ControlServer() {
  clients_.endpoint().driver().forget(fd_);
  ::close(fd_);
  if (address_.port == 0) ::unlink(address_.socket.c_str());
}

void ControlServer::accept() {
  // A flood of connections must not keep the event loop from its other work.
  for (int i = 0; i < kBacklog; ++i) {
    const int fd = ::accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0) return;
    if (address_.port == 0) {
      clients_.add(fd, "");
      continue;
    }
    // Without keepalive, a client whose machine is gone would keep its place for ever.
    const int on = 1;
    (void)::setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on);
    clients_.add(fd, address_of_peer(fd));
  }
}

}  // namespace roce::live
