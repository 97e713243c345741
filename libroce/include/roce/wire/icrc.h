// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "roce/wire/packet.h"

namespace roce {

/// The invariant CRC (IBTA vol. 1, 7.8.1; over Ethernet: annexes A16 and A17):
/// the CRC-32 of IEEE 802.3 over eight bytes of ones, then everything from the IP header
/// or GRH through the pad, with the fields that switches may change read as ones.
/// On the wire its least significant byte comes first; as a number here it has the form of `Packet::stored_icrc`.

/// The result of checking the ICRC of a packet.
enum class IcrcStatus : std::uint8_t {
  good,
  bad,
  not_checked,     ///< see `IcrcUnchecked`
  good_for_ip_id,  ///< the link hides the IPv4 identification, and exactly one value of it makes the ICRC right
};

/// The reason why an ICRC was not checked.
enum class IcrcUnchecked : std::uint8_t {
  none,
  not_roce,    ///< there is no ICRC
  cut_short,   ///< the capture's snap length cut off the ICRC, or some of the bytes that it covers
  fragmented,  ///< an IP fragment
  malformed,   ///< the lengths in the headers contradict each other, so that the place of the ICRC is unknown
};

struct IcrcVerdict {
  IcrcStatus status = IcrcStatus::not_checked;
  IcrcUnchecked reason = IcrcUnchecked::none;
  std::uint16_t ip_id = 0;     ///< with `good_for_ip_id`
  std::uint32_t stored = 0;    ///< as on the wire; unless not_checked
  std::uint32_t computed = 0;  ///< the correct value; unless not_checked

  friend constexpr bool operator==(const IcrcVerdict&, const IcrcVerdict&) = default;
};

/// Returns `good`, `bad`, `good for IP ID 0x1234`, `not checked (cut short)`.
[[nodiscard]] std::string to_string(const IcrcVerdict& verdict);

/// Checks a packet's ICRC. A packet with a covered byte that was not captured is `not_checked`, never `bad`.
/// A packet that was parsed from its BTH is checked against its NetMeta.
[[nodiscard]] IcrcVerdict check_icrc(const Packet& packet);

/// Returns the ICRC of a run of bytes that begins with the network header and ends before the ICRC.
/// `network` is `ipv4`, `ipv6` or `grh`; `bth_offset` is the distance from the network header to the BTH,
/// which (with its fifth byte) must be inside.
[[nodiscard]] std::uint32_t compute_icrc(Bytes covered, HeaderId network, std::size_t bth_offset);

/// Returns the ICRC of a transport packet, from its BTH to before the ICRC (`transport`, at least 12 bytes),
/// behind the network headers that `net` describes. An unknown IPv4 identification counts as 0.
[[nodiscard]] std::uint32_t compute_icrc(Bytes transport, const NetMeta& net);

/// Converts a transport packet, from its BTH through its ICRC, from the network headers of `from` to those of `to`.
/// An ICRC that was wrong stays wrong, in the same bits.
void move_icrc(std::span<std::byte> transport, const NetMeta& from, const NetMeta& to);

/// Returns the CRC-32 of IEEE 802.3, continued: `crc` is 0 or the result for the bytes before. Equal to zlib's crc32().
[[nodiscard]] std::uint32_t crc32(std::uint32_t crc, Bytes bytes);

/// A common mistake in computing an ICRC.
enum class IcrcMistake : std::uint8_t {
  traffic_class_not_masked,  ///< TOS or traffic class
  ttl_not_masked,            ///< TTL or hop limit
  flow_label_not_masked,     ///< IPv6 and GRH
  ip_checksum_not_masked,    ///< IPv4
  udp_checksum_not_masked,   ///< RoCE v2
  resv8a_not_masked,         ///< byte 4 of the BTH: FECN, BECN and six reserved bits
  lrh_prefix_missing,        ///< the eight bytes of ones in front
  pad_not_covered,
  crc32c,        ///< the Castagnoli polynomial
  not_inverted,  ///< the final inversion is missing
  byte_swapped,  ///< most significant byte first
  bit_reversed,  ///< the bits of the result in opposite order
  other_ip_id,   ///< the ICRC was computed with another IPv4 identification
  count,
};

/// Returns a text: `TTL / hop limit not masked`.
[[nodiscard]] std::string_view to_string(IcrcMistake mistake);

/// The explanation of a wrong ICRC.
struct IcrcExplanation {
  /// The mistakes that together give the stored ICRC: none, one or two.
  std::array<IcrcMistake, 2> mistakes{};
  std::uint8_t mistake_count = 0;
  std::uint16_t ip_id = 0;  ///< with `other_ip_id`: the value that the ICRC was computed with

  /// Set if no mistake matches, but one byte does: byte `damaged_offset` of the parsed bytes differs from the byte
  /// that the ICRC was computed over by the bits of `damaged_bits`; these are 0 if no byte matches.
  std::uint32_t damaged_offset = 0;
  std::uint8_t damaged_bits = 0;

  [[nodiscard]] std::span<const IcrcMistake> found() const { return {mistakes.data(), mistake_count}; }
};

/// Looks for the change that gives the packet's stored ICRC; the packet must have an ICRC (`Packet::has_icrc`).
[[nodiscard]] IcrcExplanation explain_icrc(const Packet& packet);

/// Returns a text: `TTL / hop limit not masked`, `one damaged byte at offset 61:
/// found 0x4a, the ICRC was computed over 0x48 (one bit flipped)`, `no common mistake ...`.
/// Offsets count from `base_offset` bytes before the packet's parsed bytes:
/// for a packet of a super-frame, its place in the super-frame.
[[nodiscard]] std::string to_string(const IcrcExplanation& explanation, const Packet& packet,
                                    std::uint64_t base_offset = 0);

}  // namespace roce
