// SPDX-License-Identifier: BSD-2-Clause
#include "link/udp_ports.h"

#include <linux/filter.h>
#include <sys/resource.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace roce::link {

namespace {

[[nodiscard]] bool refuse_input(const FileDescriptor& socket) {
  sock_filter drop_all{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &drop_all};
  return ::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) == 0;
}

[[nodiscard]] std::uint16_t bound_port(const FileDescriptor& socket) {
  SocketAddress address{};
  socklen_t size = sizeof address;
  if (::getsockname(socket.get(), &address.any, &size) != 0) return 0;
  return ntohs(address.any.sa_family == AF_INET ? address.v4.sin_port : address.v6.sin6_port);
}

[[nodiscard]] std::size_t allowed(std::size_t wanted) {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur != RLIM_INFINITY) {
    wanted = std::min<std::size_t>(wanted, files.rlim_cur / 2);
  }
  return std::max<std::size_t>(wanted, 1);
}

}  // namespace

UdpPorts::UdpPorts(UdpEndpoint endpoint, int receiver, std::size_t max_ports)
    : endpoint_(std::move(endpoint)), receiver_(receiver), max_ports_(allowed(max_ports)) {}

UdpPorts::Port UdpPorts::find(std::uint16_t wanted) {
  if (wanted == kRocePort) return {receiver_, kRocePort};
  auto found = senders_.find(wanted);
  if (found == senders_.end()) {
    const auto other = instead_of_.find(wanted);
    if (other != instead_of_.end()) found = senders_.find(other->second);
  }
  if (found == senders_.end()) return open(wanted);
  found->second.last_used = ++uses_;
  return {found->second.socket.get(), found->first};
}

bool UdpPorts::set_checksums(const Port& port, bool on) {
  bool& current = port.socket == receiver_ ? receiver_checksums_ : senders_.at(port.number).checksums;
  if (current == on) return true;
  if (!link::set_checksums(port.socket, is_v4(endpoint_.local), on)) return false;
  current = on;
  return true;
}

UdpPorts::Port UdpPorts::open(std::uint16_t wanted) {
  if (senders_.size() >= max_ports_) close_oldest();
  FileDescriptor socket = make_sender(endpoint_);
  while (!socket && (errno == EMFILE || errno == ENFILE) && !senders_.empty()) {
    close_oldest();
    socket = make_sender(endpoint_);
  }
  // The filter comes before the address, so that nothing slips in between.
  if (!socket || !refuse_input(socket)) return {};
  if (!bind_port(socket, endpoint_, wanted)) {
    if (errno != EADDRINUSE && errno != EACCES) return {};
    if (!bind_port(socket, endpoint_, 0)) return {};
  }
  const std::uint16_t number = bound_port(socket);
  const Port result{socket.get(), number};
  if (number != wanted) instead_of_.emplace(wanted, number);
  senders_.emplace(number, Sender{std::move(socket), ++uses_});
  return result;
}

void UdpPorts::close_oldest() {
  const auto oldest = std::min_element(senders_.begin(), senders_.end(), [](const auto& left, const auto& right) {
    return left.second.last_used < right.second.last_used;
  });
  std::erase_if(instead_of_, [&](const auto& entry) { return entry.second == oldest->first; });
  senders_.erase(oldest);
}

}  // namespace roce::link
