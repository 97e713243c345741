// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>

namespace roce::link {

/// Why a link could not be opened, or cannot go on.
struct LinkError {
  /// Complete and for people: what was tried, on what, why it failed, and what to do.
  std::string message;
  /// The program may not do this; another kind of link may work.
  bool no_permission = false;
};

template <typename T>
using LinkResult = tl::expected<T, LinkError>;

/// What a link moves.
enum class LinkKind : std::uint8_t {
  ethernet,  ///< whole frames without FCS
  udp,       ///< the payload of UDP datagrams to port 4791; what is in front of it is in `UdpMeta`
};

/// What the IP and UDP headers of a datagram say, where a link hides them.
struct UdpMeta {
  std::array<std::byte, 16> source{};  ///< IPv6, or IPv4 in the mapped form ::ffff:a.b.c.d
  std::array<std::byte, 16> destination{};
  std::uint16_t source_port = 0;
  std::uint8_t traffic_class = 0;  ///< DSCP << 2 | ECN
  std::uint8_t hop_limit = 64;     ///< TTL

  friend bool operator==(const UdpMeta&, const UdpMeta&) = default;
};

/// A frame that came in.
struct RxFrame {
  /// From the Ethernet header, VLAN tags in their places; or from the BTH (`LinkKind::udp`). Valid until the next
  /// `receive`.
  std::span<const std::byte> bytes;
  std::uint32_t wire_length = 0;  ///< more than `bytes.size()` when the frame was cut
  std::int64_t timestamp_ns = 0;  ///< when the kernel got it, since the Unix epoch; 0 if unknown
  /// Not 0: a super-frame, several packets of this UDP payload size (the last may be shorter) behind one set of
  /// headers.
  std::uint32_t segment_size = 0;
  UdpMeta udp{};  ///< with `LinkKind::udp`
};

/// A frame to be sent.
struct TxFrame {
  std::span<const std::byte> bytes;  ///< as in `RxFrame`
  UdpMeta udp{};                     ///< with `LinkKind::udp`
  /// Not 0: a super-frame, as in `RxFrame`, within what `Link::segmentation` says. Each packet goes out behind headers
  /// of its own, IPv4 identifications counting up from that of the super-frame (from 0 with `LinkKind::udp`), and with
  /// a UDP checksum.
  std::uint32_t segment_size = 0;
};

/// The super-frames that a link sends.
struct Segmentation {
  std::uint32_t max_segments = 1;  ///< packets of one; 1: the link sends none
  std::size_t max_bytes = 0;       ///< of one, counted as `Link::max_bytes`
  std::string refusal{};           ///< why it sends none although it was to: what was tried, and why it failed
};

/// What passed, since the link was opened.
struct LinkCounters {
  std::uint64_t received = 0;  ///< frames handed out
  std::uint64_t received_bytes = 0;
  std::uint64_t receive_drops = 0;  ///< lost before we saw them, for want of room
  std::uint64_t sent = 0;           ///< frames that the kernel took
  std::uint64_t sent_bytes = 0;
  std::uint64_t send_errors = 0;  ///< frames that it refused for good; they are lost, as on a wire

  friend bool operator==(const LinkCounters&, const LinkCounters&) = default;
};

/// A way for frames, in both directions, in batches. One thread at a time. Neither call waits.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  [[nodiscard]] virtual LinkKind kind() const = 0;
  /// Longest frame (Ethernet header included) or datagram payload that goes out whole.
  [[nodiscard]] virtual std::size_t max_bytes() const = 0;
  /// Fills up to `frames.size()` frames with what is there; returns how many. Error: the link is gone (interface
  /// deleted).
  [[nodiscard]] virtual LinkResult<std::size_t> receive(std::span<RxFrame> frames) = 0;
  /// The longest super-frame that it sends, and the most packets of one. When the kernel refuses one, `send` stops in
  /// front of it, for the caller to cut, and from then on there are none.
  [[nodiscard]] virtual Segmentation segmentation() const { return {}; }
  /// Sends the frames in their order; returns how many were taken (sent, or counted as `send_errors`): fewer when there
  /// is no room, then try again when `fd` is writable, or when `segmentation` changed. Error: the link is gone.
  [[nodiscard]] virtual LinkResult<std::size_t> send(std::span<const TxFrame> frames) = 0;
  /// For poll: readable when `receive` would find something.
  [[nodiscard]] virtual int fd() const = 0;
  /// To be asked when poll reports an error on `fd`: whether the link is gone, or can go on. May take a quarter of a
  /// second.
  [[nodiscard]] virtual LinkResult<void> check() { return {}; }
  /// Of `LinkKind::udp`: the source port with which a frame really goes out whose `udp.source_port` is `wanted`. It may
  /// be another where a program on this machine holds that one; the ICRC covers it.
  [[nodiscard]] virtual std::uint16_t source_port(std::uint16_t wanted) { return wanted; }
  [[nodiscard]] virtual LinkCounters counters() const = 0;
};

}  // namespace roce::link
