// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>

namespace roce::link {

/// The reason why a link could not be opened, or cannot go on.
struct LinkError {
  /// Complete text for display: what was tried, on what, why it failed, and what to do.
  std::string message;
  /// True if the program lacks the permission; another kind of link may work.
  bool no_permission = false;
};

template <typename T>
using LinkResult = tl::expected<T, LinkError>;

/// The unit of data that a link moves.
enum class LinkKind : std::uint8_t {
  ethernet,  ///< whole frames without FCS
  udp,       ///< the payload of UDP datagrams to port 4791; the headers in front of it are in `UdpMeta`
};

/// The contents of a datagram's IP and UDP headers, for links that hide these headers.
struct UdpMeta {
  std::array<std::byte, 16> source{};  ///< IPv6, or IPv4 in the mapped form ::ffff:a.b.c.d
  std::array<std::byte, 16> destination{};
  std::uint16_t source_port = 0;
  std::uint8_t traffic_class = 0;  ///< DSCP << 2 | ECN
  std::uint8_t hop_limit = 64;     ///< TTL

  friend bool operator==(const UdpMeta&, const UdpMeta&) = default;
};

/// A received frame.
struct RxFrame {
  /// The frame from its Ethernet header on, VLAN tags in their places;
  /// or from the BTH on (`LinkKind::udp`). Valid until the next `receive`.
  std::span<const std::byte> bytes;
  std::uint32_t wire_length = 0;  ///< more than `bytes.size()` when the frame was cut
  std::int64_t timestamp_ns = 0;  ///< time when the kernel received it, since the Unix epoch; 0 if unknown
  /// If not 0, the frame is a super-frame: several packets of this UDP
  /// payload size (the last may be shorter) behind one set of headers.
  std::uint32_t segment_size = 0;
  UdpMeta udp{};  ///< with `LinkKind::udp`
};

/// A frame to be sent.
struct TxFrame {
  std::span<const std::byte> bytes;  ///< as in `RxFrame`
  UdpMeta udp{};                     ///< with `LinkKind::udp`
  /// If not 0, the frame is a super-frame, as in `RxFrame`, within the limits of `Link::segmentation`.
  /// Each packet goes out behind headers of its own, with IPv4 identifications that count up from
  /// that of the super-frame (from 0 with `LinkKind::udp`), and with a UDP checksum.
  std::uint32_t segment_size = 0;
};

/// The limits of the super-frames that a link sends.
struct Segmentation {
  std::uint32_t max_segments = 1;  ///< packets in one super-frame; 1: the link sends none
  std::size_t max_bytes = 0;       ///< size of one, counted as `Link::max_bytes`
  std::string refusal{};           ///< why the link sends none although asked to: what was tried, and why it failed
};

/// Traffic since the link was opened.
struct LinkCounters {
  std::uint64_t received = 0;  ///< frames handed out
  std::uint64_t received_bytes = 0;
  std::uint64_t receive_drops = 0;  ///< frames lost before we saw them, for want of room
  std::uint64_t sent = 0;           ///< frames that the kernel took
  std::uint64_t sent_bytes = 0;
  std::uint64_t send_errors = 0;  ///< frames that the kernel refused for good; they are lost, as on a wire

  friend bool operator==(const LinkCounters&, const LinkCounters&) = default;
};

/// A path for frames, in both directions, in batches. One thread at a time. `receive` and `send` do not wait.
class Link {
 public:
  Link() = default;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;
  virtual ~Link() = default;

  [[nodiscard]] virtual LinkKind kind() const = 0;
  /// Returns the longest frame (Ethernet header included) or datagram payload that is sent whole.
  [[nodiscard]] virtual std::size_t max_bytes() const = 0;
  /// Fills up to `frames.size()` frames with those that came in; returns their number.
  /// Error: the link is gone (interface deleted).
  [[nodiscard]] virtual LinkResult<std::size_t> receive(std::span<RxFrame> frames) = 0;
  /// Returns the longest super-frame that the link sends, and the most packets in one. If the kernel refuses one,
  /// `send` stops before it, so that the caller can cut it, and from then on the link sends none.
  [[nodiscard]] virtual Segmentation segmentation() const { return {}; }
  /// Sends the frames in order; returns how many were taken (sent, or counted as `send_errors`): fewer if there
  /// is no room, then try again when `fd` is writable, or if `segmentation` changed. Error: the link is gone.
  [[nodiscard]] virtual LinkResult<std::size_t> send(std::span<const TxFrame> frames) = 0;
  /// Returns a descriptor to poll: readable when `receive` would find something.
  [[nodiscard]] virtual int fd() const = 0;
  /// Checks whether the link is gone or can go on; to be called when poll reports an error on `fd`.
  /// May take a quarter of a second.
  [[nodiscard]] virtual LinkResult<void> check() { return {}; }
  /// Returns the source port that a frame really goes out with if its `udp.source_port` is `wanted` (`LinkKind::udp`).
  /// It differs if a program on this machine holds that port; the ICRC covers it.
  [[nodiscard]] virtual std::uint16_t source_port(std::uint16_t wanted) { return wanted; }
  [[nodiscard]] virtual LinkCounters counters() const = 0;
};

}  // namespace roce::link
