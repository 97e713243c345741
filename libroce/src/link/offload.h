// SPDX-License-Identifier: BSD-2-Clause
// The header that PACKET_VNET_HDR puts in front of a frame.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace roce::link {

/// struct virtio_net_hdr, whose header file is not C++: the work that the sender of a frame left to others.
struct Offload {
  std::uint8_t flags = 0;
  std::uint8_t segmentation = 0;
  std::uint16_t header_bytes = 0;
  std::uint16_t segment_size = 0;
  std::uint16_t checksum_start = 0;   // the checksum covers from here to the end of the frame
  std::uint16_t checksum_offset = 0;  // relative to `checksum_start`
};
inline constexpr std::uint8_t kNeedsChecksum = 1;
inline constexpr std::uint8_t kUdpSegmentation = 5;

/// Returns the Internet checksum (RFC 1071) of `bytes`, in the byte order of this machine.
[[nodiscard]] std::uint16_t internet_checksum(std::span<const std::byte> bytes);

/// The instructions by which the kernel cuts a super-frame, and the super-frame's headers in the form that it wants.
struct SegmentedHeaders {
  static constexpr std::size_t kMaxBytes = 66;

  Offload offload{};
  std::array<std::byte, kMaxBytes> bytes{};  ///< Ethernet … UDP, with the sum of the pseudo header as UDP checksum

  /// Returns both as they are sent: directly behind each other in memory.
  [[nodiscard]] std::span<const std::byte> sent() const {
    return std::as_bytes(std::span{this, 1}).first(sizeof offload + offload.header_bytes);
  }
};
static_assert(offsetof(SegmentedHeaders, bytes) == sizeof(Offload));

/// Makes the headers for a frame of packets of `segment_size` bytes of UDP payload. The frame has Ethernet, at most one
/// VLAN tag, IPv4 or IPv6 without options or extension headers, and UDP. None for any other frame.
[[nodiscard]] std::optional<SegmentedHeaders> segmented_headers(std::span<const std::byte> frame,
                                                                std::uint32_t segment_size);

}  // namespace roce::link
