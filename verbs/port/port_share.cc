// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/port/port_share.h"

#include <dlfcn.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

#include "roce/link/udp_port_group.h"
#include "verbs/port/messages.h"
#include "verbs/port/start_daemon.h"

namespace roce::verbs {

namespace {

using link::FileDescriptor;
using link::LinkError;
using link::LinkResult;

/// A daemon that ends just when a program comes, or has not begun, costs one more try.
constexpr int kTries = 8;
constexpr int kMostSecondsToAnswer = 10;
constexpr std::string_view kInside = "set ROCE_VERBS_PORTD=inside to do without it, with one process for each address";

/// Connects to the daemon. An invalid descriptor without an error: there is none.
[[nodiscard]] LinkResult<FileDescriptor> connect_to_daemon(const Gid& address) {
  FileDescriptor socket{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)};
  if (!socket) {
    return tl::unexpected(LinkError{"cannot ask for a share of UDP port 4791: no Unix socket (" +
                                    std::string{std::strerror(errno)} + "); " + std::string{kInside}});
  }
  const timeval patience{.tv_sec = kMostSecondsToAnswer, .tv_usec = 0};
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
  (void)::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
  const PortName at{address};
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&at.name), at.size) != 0) return FileDescriptor{};
  if (is_of_this_user(socket.get())) return socket;
  return tl::unexpected(LinkError{"a process of another user poses as roce-portd at " + to_string(address) +
                                  "; use another address or network namespace"});
}

struct alignas(cmsghdr) Control {
  std::byte bytes[CMSG_SPACE(sizeof(int))];
};

/// Receives the answer, and the socket that comes with it. Nothing: the daemon has ended.
[[nodiscard]] LinkResult<std::optional<std::pair<JoinAnswer, FileDescriptor>>> receive_answer(int connection) {
  JoinAnswer answer;
  iovec piece{&answer, sizeof answer};
  Control control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  message.msg_control = control.bytes;
  message.msg_controllen = sizeof control.bytes;
  ssize_t got = -1;
  do {
    got = ::recvmsg(connection, &message, MSG_CMSG_CLOEXEC);
  } while (got < 0 && errno == EINTR);
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return tl::unexpected(LinkError{"roce-portd has not answered for " + std::to_string(kMostSecondsToAnswer) +
                                    " seconds; end it, or " + std::string{kInside}});
  }
  if (got != sizeof answer) return std::nullopt;
  FileDescriptor socket;
  if (const cmsghdr* const part = CMSG_FIRSTHDR(&message); part != nullptr && part->cmsg_type == SCM_RIGHTS) {
    int descriptor = -1;
    std::memcpy(&descriptor, CMSG_DATA(part), sizeof descriptor);
    socket = FileDescriptor{descriptor};
  }
  answer.refusal.back() = '\0';
  return std::pair{answer, std::move(socket)};
}

/// A connection that a daemon has accepted, with what it granted.
struct Granted {
  std::uint32_t number = 0;
  FileDescriptor connection;
  FileDescriptor socket;  // of a share
};

/// Asks a daemon. Nothing: it has ended, and another may be there.
[[nodiscard]] LinkResult<std::optional<Granted>> ask(FileDescriptor connection, const JoinRequest& request) {
  if (::send(connection.get(), &request, sizeof request, MSG_NOSIGNAL) != sizeof request) return std::nullopt;
  auto received = receive_answer(connection.get());
  if (!received) return tl::unexpected(received.error());
  if (!*received) return std::nullopt;
  auto& [answer, socket] = **received;
  if (answer.refusal.front() != '\0') return tl::unexpected(LinkError{answer.refusal.data()});
  if (answer.version != kPortProtocol || (request.purpose == JoinPurpose::share && !socket)) {
    return tl::unexpected(LinkError{"roce-portd is of another version (" + std::to_string(answer.version) +
                                    "; this library: " + std::to_string(kPortProtocol) + "); end it"});
  }
  return Granted{.number = answer.number, .connection = std::move(connection), .socket = std::move(socket)};
}

/// Asks the daemon at an address, and starts `program` as that if none is there.
[[nodiscard]] LinkResult<Granted> join(const Gid& address, const std::string& interface, const std::string& program,
                                       const JoinRequest& request) {
  for (int i = 0; i < kTries; ++i) {
    LinkResult<FileDescriptor> connection = connect_to_daemon(address);
    if (!connection) return tl::unexpected(connection.error());
    if (*connection) {
      LinkResult<std::optional<Granted>> granted = ask(std::move(*connection), request);
      if (!granted) return tl::unexpected(granted.error());
      if (*granted) return std::move(**granted);
      continue;
    }
    if (auto started = start_daemon(program, to_string(address), interface); !started) {
      return tl::unexpected(LinkError{started.error()});
    }
  }
  return tl::unexpected(
      LinkError{"roce-portd at " + to_string(address) + " ends whenever it is asked; " + std::string{kInside}});
}

}  // namespace

LinkResult<PortShare> join_port(const Gid& address, const std::string& interface, const std::string& program) {
  LinkResult<Granted> granted = join(address, interface, program, {});
  if (!granted) return tl::unexpected(granted.error());
  PortShare share;
  share.shard_bits = link::UdpPortGroup::kShardBits;
  share.shard = static_cast<std::uint8_t>(granted->number);
  share.receiver = std::move(granted->socket);
  share.daemon = std::move(granted->connection);
  return share;
}

LinkResult<CmConnection> join_cm(const Gid& address, const std::string& interface, const std::string& program,
                                 const JoinRequest& request) {
  LinkResult<Granted> granted = join(address, interface, program, request);
  if (!granted) return tl::unexpected(granted.error());
  return CmConnection{.connection = std::move(granted->connection), .process = granted->number};
}

std::string daemon_beside_library() {
  static const char here = '\0';
  Dl_info info{};
  std::string path = ".";
  if (::dladdr(&here, &info) != 0 && info.dli_fname != nullptr) {
    path = info.dli_fname;
    path.resize(path.find_last_of('/'));
  }
  return path + "/roce-portd";
}

bool takes_whole_port() {
  const char* const how = std::getenv("ROCE_VERBS_PORTD");
  return how != nullptr && std::string_view{how} == "inside";
}

}  // namespace roce::verbs
