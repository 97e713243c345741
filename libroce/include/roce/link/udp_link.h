// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "roce/link/link.h"

namespace roce::link {

struct UdpLinkOptions {
  /// The address of this machine that the link sends from and receives at: IPv6, or IPv4 in the mapped form
  /// ::ffff:a.b.c.d. One address, neither a group nor "any".
  std::array<std::byte, 16> local{};
  /// The interface that must have the address; it gives an IPv6 link-local address its scope.
  /// Empty: the interface that has the address.
  std::string interface = {};
  /// Receive and send through that interface alone (SO_BINDTODEVICE).
  /// Other addresses of this machine are then out of reach, since the route to them is the loopback interface.
  bool only_interface = false;
  /// Room for waiting datagrams, in bytes of kernel memory; the kernel may give less (net.core.rmem_max).
  std::size_t receive_buffer_bytes = 8 << 20;
  /// Number of UDP source ports that are kept open at a time. A further one replaces the one that was unused
  /// for longest. At most half of the files that the process may open are taken.
  std::size_t max_source_ports = 1024;
  /// Send super-frames and hand out received ones, if the kernel does both.
  bool segmentation = false;
  /// A descriptor of a socket of a `UdpPortGroup` of this address, which may be another process's. The link receives
  /// from it, and closes it in the end, also if it cannot be opened. -1: the link opens port 4791 itself.
  int receiver = -1;
};

/// RoCE v2 through the kernel's UDP, which does not need a privilege: the payload of datagrams to port 4791.
///
/// Datagrams are sent with Don't Fragment, IPv4 identification 0, UDP checksum 0, and the frame's source port, traffic
/// class and hop limit. Super-frames are those of Linux's UDP_SEGMENT: the packets of one have the identifications 0,
/// 1, 2 …, and a UDP checksum, without which the kernel does not segment. The kernel sends nothing in answer
/// to datagrams to the port (no ICMP port unreachable), and hides the IPv4 identification of received ones.
class UdpLink final : public Link {
 public:
  /// Opens a link. Errors: not an address of this machine or that interface, port 4791 taken, no IPv6, no permission.
  [[nodiscard]] static LinkResult<std::unique_ptr<UdpLink>> open(const UdpLinkOptions& options);
  ~UdpLink() override;

  [[nodiscard]] LinkKind kind() const override { return LinkKind::udp; }
  /// Returns the limit that follows from the MTU of the address's interface when the link was opened.
  [[nodiscard]] std::size_t max_bytes() const override;
  [[nodiscard]] Segmentation segmentation() const override;
  /// Returns at most 64 frames per call. A datagram longer than both `max_bytes` and 9 KiB is cut;
  /// with `UdpLinkOptions::segmentation` none is.
  [[nodiscard]] LinkResult<std::size_t> receive(std::span<RxFrame> frames) override;
  /// `udp.source` must be the link's address or all zeros, `udp.destination` an address of the same family.
  /// Frames that violate this, are too long, or have no route are counted in `send_errors`.
  /// Frames that an ICMP message reports as lost later count as sent.
  /// While there is no room for a source port, `fd` stays writable: the caller can only try again.
  [[nodiscard]] LinkResult<std::size_t> send(std::span<const TxFrame> frames) override;
  [[nodiscard]] int fd() const override;
  [[nodiscard]] LinkResult<void> check() override;
  /// `receive_drops` counts datagrams to the link's address for which the kernel had no room, and those with a wrong
  /// UDP checksum.
  [[nodiscard]] LinkCounters counters() const override;

  /// Returns the source port that frames really go out with if their `udp.source_port` is `wanted`:
  /// another one, chosen by the kernel, if a program on this machine holds `wanted`.
  /// The ICRC covers the source port, so call this before making packets. The answer holds until that port
  /// is given up (`UdpLinkOptions::max_source_ports`); it is `wanted` itself if no socket can be had at all.
  [[nodiscard]] std::uint16_t source_port(std::uint16_t wanted) override;

  /// Returns how many bytes of kernel memory waiting datagrams may take: `receive_buffer_bytes` or less, or more, as
  /// the kernel counts.
  [[nodiscard]] std::size_t receive_buffer() const;

  /// Receives the datagrams to a multicast group too, at the interface of the link's address; the kernel tells routers
  /// and switches (IGMP, MLD). Each program here that has joined gets its own copy. A group may be joined several
  /// times. Errors: a group of the other family, a program that does not share has the group's port 4791, the kernel
  /// takes no more groups.
  [[nodiscard]] LinkResult<void> join(const std::array<std::byte, 16>& group);
  /// Ends one `join`.
  void leave(const std::array<std::byte, 16>& group);
  /// Returns a descriptor to poll for reading beside `fd`, once a group was joined; before that -1.
  [[nodiscard]] int group_fd() const;

 private:
  struct State;
  explicit UdpLink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::link
