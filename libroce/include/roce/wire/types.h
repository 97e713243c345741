// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <bit>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace roce {

/// An unsigned number of `Bits` bits that does not mix with other numbers: a QPN is not a PSN and not a key.
/// Construction keeps the low `Bits` bits. `Tag` only makes the types distinct.
template <typename Tag, typename Rep, unsigned Bits>
class StrongInt {
 public:
  using rep = Rep;
  static constexpr unsigned kBits = Bits;
  static constexpr Rep kMax = static_cast<Rep>((std::uint64_t{1} << Bits) - 1);

  constexpr StrongInt() = default;
  constexpr explicit StrongInt(Rep value) : value_(static_cast<Rep>(value & kMax)) {}

  [[nodiscard]] constexpr Rep value() const { return value_; }

  friend constexpr bool operator==(StrongInt, StrongInt) = default;
  friend constexpr auto operator<=>(StrongInt, StrongInt) = default;

 private:
  Rep value_{};
};

/// Queue pair number, 24 bits. 0 and 1 are the management QPs, 0xFFFFFF is the multicast QPN (IBTA vol. 1, 3.5.1).
using Qpn = StrongInt<struct QpnTag, std::uint32_t, 24>;
/// Key that lets a remote peer reach a memory region or window, 32 bits.
using RKey = StrongInt<struct RKeyTag, std::uint32_t, 32>;
/// Key by which a local work request names its memory, 32 bits.
using LKey = StrongInt<struct LKeyTag, std::uint32_t, 32>;
/// Queue key of a datagram QP, 32 bits.
using QKey = StrongInt<struct QKeyTag, std::uint32_t, 32>;
/// Shared receive queue number of an XRC target, 24 bits.
using XrcSrqn = StrongInt<struct XrcSrqnTag, std::uint32_t, 24>;
/// End-to-end context number of a reliable datagram channel, 24 bits.
using Eecn = StrongInt<struct EecnTag, std::uint32_t, 24>;

/// Partition key, 16 bits: bit 15 is the membership, bits 14..0 the partition (IBTA vol. 1, 10.9.1).
class PKey {
 public:
  using rep = std::uint16_t;

  constexpr PKey() = default;
  constexpr explicit PKey(std::uint16_t value) : value_(value) {}

  [[nodiscard]] constexpr std::uint16_t value() const { return value_; }
  [[nodiscard]] constexpr bool is_full_member() const { return (value_ & 0x8000) != 0; }
  [[nodiscard]] constexpr std::uint16_t partition() const { return value_ & 0x7FFF; }

  friend constexpr bool operator==(PKey, PKey) = default;
  friend constexpr auto operator<=>(PKey, PKey) = default;

 private:
  std::uint16_t value_{};
};

/// The default partition with full membership.
inline constexpr PKey kDefaultPKey{0xFFFF};

/// A number of 24 bits that counts modulo 2^24. There is no "less than": of two such numbers one is ahead of the other
/// by at most 2^23-1, or behind it by at most 2^23 (W-PSN-1).
template <typename Tag>
class Serial24 {
 public:
  using rep = std::uint32_t;
  static constexpr std::uint32_t kMax = 0xFF'FFFF;

  constexpr Serial24() = default;
  constexpr explicit Serial24(std::uint32_t value) : value_(value & kMax) {}

  [[nodiscard]] constexpr std::uint32_t value() const { return value_; }

  /// Returns the number `count` steps ahead, modulo 2^24.
  [[nodiscard]] friend constexpr Serial24 operator+(Serial24 a, std::uint32_t count) {
    return Serial24{a.value_ + count};
  }
  /// Returns the number `count` steps back, modulo 2^24.
  [[nodiscard]] friend constexpr Serial24 operator-(Serial24 a, std::uint32_t count) {
    return Serial24{a.value_ - count};
  }
  constexpr Serial24& operator++() { return *this = *this + 1; }

  /// Returns the steps from `from` to this number: positive if this one is ahead, in -2^23 … 2^23-1.
  [[nodiscard]] constexpr std::int32_t distance_from(Serial24 from) const {
    return static_cast<std::int32_t>((value_ - from.value_) << 8) >> 8;
  }
  /// True if this number is ahead of `other`, by 1 … 2^23-1 steps.
  [[nodiscard]] constexpr bool newer_than(Serial24 other) const { return distance_from(other) > 0; }

  friend constexpr bool operator==(Serial24, Serial24) = default;

 private:
  std::uint32_t value_{};
};

/// Packet sequence number (IBTA vol. 1, 9.7.1).
using Psn = Serial24<struct PsnTag>;
/// Message sequence number, the count of messages a responder has completed (IBTA vol. 1, 9.7.7.1).
using Msn = Serial24<struct MsnTag>;

/// An Ethernet address in wire order.
struct MacAddress {
  std::array<std::uint8_t, 6> octets{};

  friend constexpr bool operator==(const MacAddress& a, const MacAddress& b) {
    // Three words: comparing 6 octets would call memcmp.
    using Words = std::array<std::uint16_t, 3>;
    const Words left = std::bit_cast<Words>(a.octets);
    const Words right = std::bit_cast<Words>(b.octets);
    return ((left[0] ^ right[0]) | (left[1] ^ right[1]) | (left[2] ^ right[2])) == 0;
  }
  friend constexpr auto operator<=>(const MacAddress&, const MacAddress&) = default;
};

/// An IPv4 address in wire order.
struct Ipv4Address {
  std::array<std::uint8_t, 4> octets{};

  friend constexpr bool operator==(const Ipv4Address&, const Ipv4Address&) = default;
  friend constexpr auto operator<=>(const Ipv4Address&, const Ipv4Address&) = default;
};

/// A GID: 128 bits with the shape of an IPv6 address. RoCE v2 over IPv4 uses the IPv4-mapped form ::ffff:a.b.c.d
/// (IBTA annex A17).
struct Gid {
  std::array<std::uint8_t, 16> octets{};

  [[nodiscard]] static constexpr Gid from_ipv4(const Ipv4Address& address) {
    Gid gid;
    gid.octets[10] = gid.octets[11] = 0xFF;
    for (std::size_t i = 0; i < 4; ++i) gid.octets[12 + i] = address.octets[i];
    return gid;
  }
  [[nodiscard]] constexpr bool is_ipv4_mapped() const {
    for (std::size_t i = 0; i < 10; ++i) {
      if (octets[i] != 0) return false;
    }
    return octets[10] == 0xFF && octets[11] == 0xFF;
  }
  /// Returns the last four octets: the IPv4 address if `is_ipv4_mapped()`.
  [[nodiscard]] constexpr Ipv4Address ipv4() const {
    return Ipv4Address{{octets[12], octets[13], octets[14], octets[15]}};
  }

  friend constexpr bool operator==(const Gid& a, const Gid& b) {
    // Two words: comparing 16 octets would call memcmp.
    using Words = std::array<std::uint64_t, 2>;
    const Words left = std::bit_cast<Words>(a.octets);
    const Words right = std::bit_cast<Words>(b.octets);
    return left[0] == right[0] && left[1] == right[1];
  }
  friend constexpr auto operator<=>(const Gid&, const Gid&) = default;
};

/// Returns `02:00:00:00:00:01`.
[[nodiscard]] std::string to_string(const MacAddress& address);
/// Returns `192.0.2.1`.
[[nodiscard]] std::string to_string(const Ipv4Address& address);
/// Returns the IPv6 text form of RFC 5952; an IPv4-mapped GID prints as the IPv4 address that it stands for.
[[nodiscard]] std::string to_string(const Gid& gid);

/// Bytes on the wire.
using Bytes = std::span<const std::byte>;

}  // namespace roce
