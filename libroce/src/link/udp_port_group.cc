// SPDX-License-Identifier: BSD-2-Clause
#include "roce/link/udp_port_group.h"

#include <linux/filter.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "link/shard_steering.h"
#include "link/udp_socket.h"

namespace roce::link {

namespace {

constexpr std::size_t kSockets = std::size_t{1} << UdpPortGroup::kShardBits;

/// Writes the program that chooses the socket of a datagram, which begins behind its UDP header.
[[nodiscard]] std::vector<sock_filter> write_program() {
  ClassicBpfAssembler code;
  const ClassicBpfAssembler::Label first = code.make_label();
  code.set_index(0);
  code.load32(kDestQp);
  give_shard(code, UdpPortGroup::kShardBits, first);
  code.place(first);
  code.give(0);
  return code.finish();
}

[[nodiscard]] bool steer(const FileDescriptor& socket) {
  std::vector<sock_filter> code = write_program();
  const sock_fprog program{static_cast<unsigned short>(code.size()), code.data()};
  return ::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_REUSEPORT_CBPF, &program, sizeof program) == 0;
}

/// Makes a socket drop all that comes before it takes memory, and what is in it already.
[[nodiscard]] bool close_gate(const FileDescriptor& socket) {
  sock_filter drop_all{BPF_RET | BPF_K, 0, 0, 0};
  const sock_fprog program{1, &drop_all};
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof program) != 0) return false;
  std::byte nothing{};
  while (::recv(socket.get(), &nothing, sizeof nothing, MSG_DONTWAIT | MSG_TRUNC) >= 0 || errno == EINTR) {
  }
  return true;
}

[[nodiscard]] LinkError refused(const UdpEndpoint& endpoint, const char* what) {
  return {std::string{"cannot divide UDP port 4791 of "} + text(endpoint.local) + " (" + what +
          "): " + std::strerror(errno)};
}

}  // namespace

struct UdpPortGroup::State {
  UdpEndpoint endpoint;
  std::vector<FileDescriptor> sockets;  // in the order in which the kernel counts them
};

LinkResult<UdpPortGroup> UdpPortGroup::open(const UdpLinkOptions& options) {
  const auto owner = find_owner(options.local, options.interface);
  if (!owner) return tl::unexpected(owner.error());
  auto state = std::make_unique<State>();
  state->endpoint = {options.local, owner->index, options.only_interface ? owner->interface : std::string{}};
  for (std::size_t i = 0; i < kSockets; ++i) {
    auto socket = open_receiver(state->endpoint, *owner, options.receive_buffer_bytes, PortSharing::of_user);
    if (!socket) return tl::unexpected(socket.error());
    if (!close_gate(*socket)) return tl::unexpected(refused(state->endpoint, "SO_ATTACH_FILTER"));
    state->sockets.push_back(std::move(*socket));
  }
  if (!steer(state->sockets.front())) return tl::unexpected(refused(state->endpoint, "SO_ATTACH_REUSEPORT_CBPF"));
  return UdpPortGroup{std::move(state)};
}

UdpPortGroup::UdpPortGroup(std::unique_ptr<State> state) : state_(std::move(state)) {}
UdpPortGroup::UdpPortGroup(UdpPortGroup&& other) noexcept = default;
UdpPortGroup& UdpPortGroup::operator=(UdpPortGroup&& other) noexcept = default;
UdpPortGroup::~UdpPortGroup() = default;

LinkResult<int> UdpPortGroup::lend(std::uint8_t shard) {
  const FileDescriptor& socket = state_->sockets[shard];
  const int unused = 0;
  // The last user may have sent super-frames from the port, which needs checksums.
  if (!set_checksums(socket.get(), is_v4(state_->endpoint.local), false)) {
    return tl::unexpected(refused(state_->endpoint, "SO_NO_CHECK"));
  }
  if (::setsockopt(socket.get(), SOL_SOCKET, SO_DETACH_FILTER, &unused, sizeof unused) != 0) {
    return tl::unexpected(refused(state_->endpoint, "SO_DETACH_FILTER"));
  }
  return socket.get();
}

void UdpPortGroup::take_back(std::uint8_t shard) {
  (void)close_gate(state_->sockets[shard]);
}

}  // namespace roce::link
