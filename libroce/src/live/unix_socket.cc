// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/unix_socket.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace roce::live {

namespace {

constexpr int kBacklog = 16;

[[nodiscard]] Result<sockaddr_un> unix_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) {
    return cannot(
        fmt::format("the path of a socket has at most {} bytes, and this more: {}", sizeof address.sun_path - 1, path));
  }
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

/// True if somebody listens on a Unix socket.
[[nodiscard]] bool is_alive(const sockaddr_un& address) {
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const bool alive = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
  ::close(fd);
  return alive;
}

}  // namespace

Result<int> listen_unix(const std::string& path, std::string_view what, std::string_view advice) {
  const Result<sockaddr_un> address = unix_address(path);
  if (!address) return tl::unexpected(address.error());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  // Nobody else may connect, from the first moment on.
  const mode_t mask = ::umask(0177);
  int result = ::bind(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  struct stat status {};
  if (result != 0 && errno == EADDRINUSE && ::lstat(path.c_str(), &status) == 0 && S_ISSOCK(status.st_mode) &&
      !is_alive(*address)) {
    // Left behind by a process that was killed.
    ::unlink(path.c_str());
    result = ::bind(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address);
  }
  if (result == 0) result = ::listen(fd, kBacklog);
  const int error = errno;
  ::umask(mask);
  if (result == 0) return fd;
  ::close(fd);
  return cannot(fmt::format("cannot listen on the {} {}: {}; {}", what, path, std::strerror(error), advice));
}

Result<int> connect_unix(const std::string& path, std::string_view who, std::string_view advice) {
  const Result<sockaddr_un> address = unix_address(path);
  if (!address) return tl::unexpected(address.error());
  const int fd = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (::connect(fd, reinterpret_cast<const sockaddr*>(&*address), sizeof *address) == 0) return fd;
  const int error = errno;
  ::close(fd);
  return cannot(fmt::format("no {} listens on {}: {}; {}", who, path, std::strerror(error), advice));
}

}  // namespace roce::live
