// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "roce/wire/field.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/types.h"

namespace roce {

namespace detail {

/// Returns the sum of a header's 32-bit words, to be folded into a ones' complement sum.
[[nodiscard]] constexpr std::uint64_t word_sum(Bytes header) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 4 <= header.size(); i += 4) sum += load_big_endian<4>(header.data() + i);
  return sum;
}

/// Returns this sum for any number of bytes, as if padded with zeros to a whole word.
[[nodiscard]] constexpr std::uint64_t padded_word_sum(Bytes bytes) {
  const std::size_t whole = bytes.size() / 4 * 4;
  std::uint64_t last = 0;
  for (std::size_t i = whole; i < whole + 4; ++i) {
    last = last << 8 | (i < bytes.size() ? std::to_integer<std::uint64_t>(bytes[i]) : 0);
  }
  return word_sum(bytes.first(whole)) + last;
}

[[nodiscard]] constexpr std::uint16_t fold_checksum(std::uint64_t sum) {
  while (sum >> 16 != 0) sum = (sum & 0xFFFF) + (sum >> 16);
  return static_cast<std::uint16_t>(~sum);
}

}  // namespace detail

/// Returns the ones' complement sum of an IPv4 header, with its checksum field counted as 0 (RFC 1071).
/// `header` holds 20 … 60 bytes, a multiple of 4.
[[nodiscard]] constexpr std::uint16_t ipv4_checksum(Bytes header) {
  return detail::fold_checksum(detail::word_sum(header) - FieldOf<&Ipv4::checksum>::get(header.data()));
}

/// Returns the Internet checksum (RFC 1071) of an ICMP or IGMP message.
/// The result is 0 if the checksum in the message is right; in a new message the checksum field has to be 0.
[[nodiscard]] constexpr std::uint16_t internet_checksum(Bytes message) {
  return detail::fold_checksum(detail::padded_word_sum(message));
}

/// Returns the checksum of an upper-layer message over IPv6, such as ICMPv6, with the pseudo header of RFC 8200, 8.1.
/// As for `internet_checksum`, 0 means that the one in the message is right.
[[nodiscard]] constexpr std::uint16_t ipv6_upper_checksum(const Gid& source, const Gid& destination,
                                                          IpProtocol protocol, Bytes message) {
  std::uint64_t sum = detail::padded_word_sum(message) + message.size() + static_cast<std::uint64_t>(protocol);
  for (const Gid* address : {&source, &destination}) {
    for (std::size_t i = 0; i < address->octets.size(); i += 2) {
      sum += std::uint64_t{address->octets[i]} << 8 | address->octets[i + 1];
    }
  }
  return detail::fold_checksum(sum);
}

}  // namespace roce
