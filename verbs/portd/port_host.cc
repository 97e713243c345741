// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/portd/port_host.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <span>
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
/// Open files besides connections: the sockets of the port, those of the link of the communication manager, and some
/// more.
constexpr std::size_t kOwnFiles = 400;
/// How long peers may take to agree to the end of connections whose processes are gone.
constexpr Duration kFarewell = std::chrono::seconds{10};

void refuse(JoinAnswer& answer, std::string_view why) {
  const std::size_t size = std::min(why.size(), answer.refusal.size() - 1);
  std::copy_n(why.begin(), size, answer.refusal.begin());
}

/// Returns how many files the process may have open, after it has asked for as many as it can have.
[[nodiscard]] std::size_t raise_file_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0) return kOwnFiles + kMostClients;
  constexpr rlim_t enough = 16384;
  const rlim_t before = limit.rlim_cur;
  limit.rlim_cur = std::max(before, std::min(limit.rlim_max, enough));
  return ::setrlimit(RLIMIT_NOFILE, &limit) == 0 ? limit.rlim_cur : before;
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

LinkResult<std::optional<PortHost>> PortHost::open(const Place& place) {
  FileDescriptor listener{::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)};
  const PortName at{place.address};
  // The owner of the name gets the port next: programs that connect from now on wait until they are accepted.
  if (!listener || ::bind(listener.get(), reinterpret_cast<const sockaddr*>(&at.name), at.size) != 0 ||
      ::listen(listener.get(), kBacklog) != 0) {
    if (errno == EADDRINUSE) return std::nullopt;
    return tl::unexpected(
        LinkError{"cannot listen for programs at " + to_string(place.address) + ": " + std::strerror(errno)});
  }
  link::UdpLinkOptions options;
  options.local = port::address_of(place.address);
  options.interface = place.interface;
  auto group = link::UdpPortGroup::open(options);
  if (!group) return tl::unexpected(group.error());
  return PortHost{place, std::move(listener), std::move(*group)};
}

PortHost::PortHost(const Place& place, FileDescriptor listener, link::UdpPortGroup group)
    : place_(place), listener_(std::move(listener)), group_(std::move(group)), most_files_(raise_file_limit()) {
  for (unsigned shard = 1; shard <= kShares; ++shard) free_.push_back(static_cast<std::uint8_t>(shard));
}

bool PortHost::is_used() const {
  return !clients_.empty() || (cm_ != nullptr && cm_->is_used());
}

Duration PortHost::allowed_rest(Duration idle) const {
  return cm_ != nullptr && cm_->is_busy() ? std::max(kFarewell, idle) : idle;
}

std::optional<Duration> PortHost::patience(Time idle_until) const {
  const Time now = CmService::now();
  Time until = cm_ != nullptr ? cm_->next_timeout() : kNever;
  if (!is_used()) until = std::min(until, idle_until);
  if (until == kNever) return std::nullopt;
  return until > now ? until - now : Duration{0};
}

void PortHost::run(std::chrono::milliseconds idle) {
  // Requests that come before a program uses RDMA CM are refused, as the kernel does, and not lost. If it cannot be
  // made, the program that asks for it is told why.
  (void)cm();
  std::vector<pollfd> polled;
  Time last_used = CmService::now();
  for (;;) {
    polled.assign(1, {.fd = listener_.get(), .events = static_cast<short>(has_room() ? POLLIN : 0), .revents = 0});
    for (const Client& client : clients_) {
      polled.push_back({.fd = client.connection.get(), .events = POLLIN, .revents = 0});
    }
    const std::size_t own = polled.size();
    if (cm_ != nullptr) cm_->append_to(polled);
    const std::optional<Duration> left = patience(last_used + allowed_rest(idle));
    const timespec wait = {.tv_sec = left ? left->count() / 1'000'000'000 : 0,
                           .tv_nsec = left ? left->count() % 1'000'000'000 : 0};
    (void)::ppoll(polled.data(), polled.size(), left ? &wait : nullptr, nullptr);
    if (is_used()) last_used = CmService::now();
    // Those that have gone make room before others are accepted.
    for (std::size_t i = clients_.size(); i-- > 0;) {
      if (polled[i + 1].revents == 0 || hear(clients_[i])) continue;
      drop(clients_[i]);
      clients_.erase(clients_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    if (cm_ != nullptr && !cm_->serve(std::span{polled}.subspan(own))) return;
    if ((polled[0].revents & POLLIN) != 0) accept();
    if (!is_used() && CmService::now() - last_used >= allowed_rest(idle)) return;
  }
}

bool PortHost::has_room() const {
  const std::size_t used = clients_.size() + (cm_ != nullptr ? cm_->open_connections() : 0);
  return used + kOwnFiles < most_files_;
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
  // Of any version, the first number of a request is that version.
  if (got < static_cast<ssize_t>(sizeof request.version) || client.shard) return false;
  if (got != sizeof request || request.version != kPortProtocol) {
    JoinAnswer answer;
    refuse(answer, "roce-portd is of another version than this library; end it, or use another address");
    (void)send_answer(client.connection.get(), answer, std::nullopt);
    return false;
  }
  if (request.purpose == JoinPurpose::share) return lend(client);
  pass_on(client, request);
  return false;
}

bool PortHost::lend(Client& client) {
  JoinAnswer answer;
  std::optional<int> socket;
  if (free_.empty()) {
    refuse(answer, "255 processes use UDP port 4791 of this address, and more cannot; use another address");
  } else if (LinkResult<int> lent = group_.lend(free_.front()); !lent) {
    refuse(answer, lent.error().message);
  } else {
    socket = *lent;
    client.shard = free_.front();
    answer.number = free_.front();
    free_.pop_front();
  }
  return send_answer(client.connection.get(), answer, socket);
}

void PortHost::pass_on(Client& client, const JoinRequest& request) {
  JoinAnswer answer;
  const int connection = client.connection.get();
  const LinkResult<CmService*> service = cm();
  if (!service) {
    refuse(answer, service.error().message);
  } else if (request.purpose == JoinPurpose::cm_commands) {
    answer.number = (*service)->add_process(std::move(client.connection));
  } else if (!(*service)->add_channel(request.process, request.channel, std::move(client.connection))) {
    return;
  }
  (void)send_answer(connection, answer, std::nullopt);
}

LinkResult<CmService*> PortHost::cm() {
  if (cm_ == nullptr) {
    const LinkResult<int> lent = group_.lend(0);
    if (!lent) return tl::unexpected(lent.error());
    LinkResult<std::unique_ptr<CmService>> opened = CmService::open(place_, *lent);
    if (!opened) return tl::unexpected(opened.error());
    cm_ = std::move(*opened);
  }
  return cm_.get();
}

void PortHost::drop(Client& client) {
  if (!client.shard) return;
  group_.take_back(*client.shard);
  free_.push_back(*client.shard);
}

}  // namespace roce::verbs
