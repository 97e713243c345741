// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "roce/link/link.h"

namespace roce::link {

struct RawLinkOptions {
  std::string interface;
  /// Send only: nothing is received and there is no ring; the options for receiving do not count then.
  bool sends_only = false;
  /// A libpcap filter expression, applied by the kernel; empty: all frames.
  /// The kernel removes the outer VLAN tag before the filter sees the frame.
  std::string filter;
  /// Also receive frames to other stations.
  bool promiscuous = false;
  /// Also receive frames to every multicast group, even to groups that the kernel of the host has not joined.
  bool all_multicast = false;
  /// Room for received frames, in bytes of locked memory.
  std::size_t ring_bytes = 16 << 20;
  /// Delivery of received frames. By slot, each frame is available at once. By block, several come together: more
  /// frames per second, but a lone frame waits milliseconds for a timer, so only programs that mostly listen want it.
  enum class Delivery : std::uint8_t { slot, block } delivery = Delivery::slot;
  /// Send super-frames, if the kernel takes them.
  bool segmentation = false;
};

/// An Ethernet interface through packet sockets (Linux packet(7)):
/// receives through a ring in shared memory (TPACKET_V2 for `slot`, TPACKET_V3 for `block`), sends with `sendmmsg`.
/// Super-frames are those of Linux's UDP segmentation (PACKET_VNET_HDR, since Linux 6.2): Ethernet, at most one
/// VLAN tag, IPv4 or IPv6 without options, UDP. VLAN tags that the kernel removed are put back into the frame.
/// Frames that this machine sends are not received. Needs CAP_NET_RAW in the interface's network namespace.
class RawLink final : public Link {
 public:
  /// Opens a link. Errors: no such interface, not Ethernet, no permission, bad filter, no memory for the ring.
  [[nodiscard]] static LinkResult<std::unique_ptr<RawLink>> open(const RawLinkOptions& options);
  /// Opens 2^`shard_bits` links (at most 256) that divide the received frames of the interface among themselves, for
  /// a program of several threads: a RoCE packet comes to the link whose number is in the low bits of its DestQP; QP1,
  /// multicast datagrams and all that is not RoCE come to the first. RoCE is found behind at most two VLAN tags, in
  /// IPv4 with or without options, and in IPv6 or a GRH with nothing in between; deeper packets come to the first too.
  /// Each link has its own ring, and may have its own thread. All have to stay open while one is used. `shard_bits` 0:
  /// as `open`. Before Linux 6.2 they also see what this machine sends. Errors: as for `open`; a kernel before 4.12.
  [[nodiscard]] static LinkResult<std::vector<std::unique_ptr<RawLink>>> open_shards(const RawLinkOptions& options,
                                                                                     std::uint8_t shard_bits);
  ~RawLink() override;

  [[nodiscard]] LinkKind kind() const override { return LinkKind::ethernet; }
  [[nodiscard]] std::size_t max_bytes() const override;
  [[nodiscard]] Segmentation segmentation() const override;
  [[nodiscard]] LinkResult<std::size_t> receive(std::span<RxFrame> frames) override;
  [[nodiscard]] LinkResult<std::size_t> send(std::span<const TxFrame> frames) override;
  [[nodiscard]] int fd() const override;
  [[nodiscard]] LinkResult<void> check() override;
  [[nodiscard]] LinkCounters counters() const override;

  /// Returns the interface's own address.
  [[nodiscard]] const std::array<std::byte, 6>& mac() const;
  [[nodiscard]] int interface_index() const;

 private:
  struct State;
  explicit RawLink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::link
