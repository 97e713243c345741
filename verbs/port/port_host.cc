// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/port/port_host.h"

#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>
#include <utility>

#include "roce/port/udp_meta.h"

namespace roce::verbs {

namespace {

using link::FileDescriptor;
using link::LinkError;
using link::LinkResult;

constexpr unsigned kShares = 255;
/// More than have a share, so that those that get none hear why.
constexpr std::size_t kMostClients = 320;
constexpr int kBacklog = 64;

void refuse(JoinAnswer& answer, std::string_view why) {
  const std::size_t size = std::min(why.size(), answer.refusal.size() - 1);
  std::copy_n(why.begin(), size, answer.refusal.begin());
}

/// Sends an answer, with a descriptor if there is one; false if the client has gone.
[[nodiscard]] bool send_answer(int connection, JoinAnswer& answer, std::optional<int> descriptor) {
  iovec piece{&answer, sizeof answer};
  struct alignas(cmsghdr) {
    std::byte bytes[CMSG_SPACE(sizeof(int))];
  } control{};
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (descriptor) {
    message.msg_control = control.bytes;
    message.msg_controllen = sizeof control.bytes;
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(part), &*descriptor, sizeof(int));
  }
  return ::sendmsg(connection, &message, MSG_NOSIGNAL | MSG_DONTWAIT) == sizeof answer;
}

}  // namespace

LinkResult<std::optional<PortHost>> PortHost::open(const Gid& address, const std::string& interface) {
  FileDescriptor listener{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const PortName at{address};
  // The owner of the name gets the port next: programs that connect from now on wait until they are accepted.
  if (!listener || ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.name), at.size) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    if (errno == EADDRINUSE) return std::nullopt;
    return tl::unexpected(
        LinkError{"cannot listen for programs at " + to_string(address) + ": " + std::strerror(errno)});
  }
  link::UdpLinkOptions options;
  options.local = port::address_of(address);
  options.interface = interface;
  auto group = link::UdpPortGroup::open(options);
  if (!group) return tl::unexpected(group.error());
  return PortHost{std::move(listener), std::move(*group)};
}

PortHost::PortHost(FileDescriptor listener, link::UdpPortGroup group)
    : listener_(std::move(listener)), group_(std::move(group)) {
  for (unsigned shard = 1; shard <= kShares; ++shard) free_.push_back(static_cast<std::uint8_t>(shard));
}

void PortHost::run(std::chrono::milliseconds idle) {
  std::vector<pollfd> polled;
  for (;;) {
    polled.assign(1, {.fd = listener_.get(), .events = POLLIN, .revents = 0});
    for (const Client& client : clients_) {
      polled.push_back({.fd = client.connection.get(), .events = POLLIN, .revents = 0});
    }
    const int ready = ::poll(polled.data(), polled.size(), clients_.empty() ? static_cast<int>(idle.count()) : -1);
    if (ready == 0) return;
    // Those that have gone make room before others are accepted.
    for (std::size_t i = clients_.size(); i-- > 0;) {
      if (polled[i + 1].revents == 0 || hear(clients_[i])) continue;
      drop(clients_[i]);
      clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if ((polled[0].revents & POLLIN) != 0) accept();
  }
}

void PortHost::accept() {
  FileDescriptor connection{::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)};
  if (!connection || clients_.size() >= kMostClients || !is_of_this_user(connection.get())) return;
  clients_.push_back({std::move(connection)});
}

bool PortHost::hear(Client& client) {
  JoinRequest request{};
  const ssize_t got = ::recv(client.connection.get(), &request, sizeof request, MSG_DONTWAIT | MSG_TRUNC);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  return got == sizeof request && !client.shard && answer(client, request);
}

bool PortHost::answer(Client& client, const JoinRequest& request) {
  JoinAnswer answer;
  std::optional<int> socket;
  if (request.version != kPortProtocol) {
    refuse(answer, "roce-portd is of another version than this library; end it, or use another address");
  } else if (free_.empty()) {
    refuse(answer, "255 processes use UDP port 4791 of this address, and more cannot; use another address");
  } else if (LinkResult<int> lent = group_.lend(free_.front()); !lent) {
    refuse(answer, lent.error().message);
  } else {
    socket = *lent;
    client.shard = free_.front();
    answer.shard = free_.front();
    free_.pop_front();
  }
  return send_answer(client.connection.get(), answer, socket);
}

void PortHost::drop(Client& client) {
  if (!client.shard) return;
  group_.take_back(*client.shard);
  free_.push_back(*client.shard);
}

}  // namespace roce::verbs
