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
  /// Nothing is received, and there is no ring: the options of receiving do not count then.
  bool sends_only = false;
  /// A libpcap filter expression, applied by the kernel; empty: all frames. The kernel takes the outer VLAN tag off
  /// before the filter sees the frame.
  std::string filter;
  /// Frames to other stations too.
  bool promiscuous = false;
  /// Frames to every multicast group too, also where the kernel of the host is in none of them.
  bool all_multicast = false;
  /// Room for received frames, in bytes of memory that stays locked.
  std::size_t ring_bytes = 16 << 20;
  /// How frames reach us. By slot, each is there at once. By block, several come together: more frames a second, but
  /// one that is alone waits for a timer of milliseconds, so that only those who mostly listen want it.
  enum class Delivery : std::uint8_t { slot, block } delivery = Delivery::slot;
  /// Send super-frames, where the kernel takes them.
  bool segmentation = false;
};

/// An Ethernet interface through packet sockets (Linux packet(7)): received by a ring in shared memory (TPACKET_V2 for
/// `slot`, TPACKET_V3 for `block`), sent by `sendmmsg`. Super-frames are those of Linux's UDP segmentation
/// (PACKET_VNET_HDR, since Linux 6.2): Ethernet, at most one VLAN tag, IPv4 or IPv6 without options, UDP. VLAN tags
/// that the kernel took off stand in the frame again. Frames that this machine sends are not received. Needs
/// CAP_NET_RAW in the interface's network namespace.
class RawLink final : public Link {
 public:
  /// Errors: no such interface, not an Ethernet, no permission, filter not understood, no memory for the ring.
  [[nodiscard]] static LinkResult<std::unique_ptr<RawLink>> open(const RawLinkOptions& options);
  /// 2^`shard_bits` links (at most 256) that divide among them what the interface receives, for a program of several
  /// threads: a RoCE packet comes to the link whose number is in the low bits of its DestQP; QP1, multicast datagrams
  /// and all that is no RoCE come to the first. Behind at most two VLAN tags, IPv4 with or without options, and IPv6 or
  /// a GRH with nothing in between; what lies deeper comes to the first too. Each link has a ring of its own, and may
  /// belong to a thread of its own. All have to be open as long as one is used. `shard_bits` 0: as `open`. Before Linux
  /// 6.2 they see what this machine sends too. Errors: as `open`; a kernel before 4.12.
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

  /// The interface's own address.
  [[nodiscard]] const std::array<std::byte, 6>& mac() const;
  [[nodiscard]] int interface_index() const;

 private:
  struct State;
  explicit RawLink(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace roce::link
