// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "roce/wire/bth.h"
#include "roce/wire/constants.h"
#include "roce/wire/icrc.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/types.h"
#include "roce/wire/udp.h"

namespace roce {

namespace detail {

/// The changes that the varying bytes make to the CRC register in front of the BTH, for each value of each byte:
/// most significant byte first. Fields that a kind of header lacks have tables of zeros.
struct TemplateTables {
  using Table = std::array<std::uint32_t, 256>;

  std::array<Table, 2> ip_length;   ///< IPv4: total length; IPv6 and GRH: payload length
  std::array<Table, 2> ip_id;       ///< IPv4: identification
  std::array<Table, 2> udp_length;  ///< RoCE v2
  Table resv8a;                     ///< byte 4 of the BTH, which counts as ones
};

}  // namespace detail

/// The headers in front of the BTH of all packets of a flow, in wire form, and the ICRC's state behind them:
/// computed once by a sender, so that a packet costs a copy, a few table lookups, and one CRC from the BTH on.
///
///     std::byte* bth = frame + flow.header_bytes();
///     write(Bth{…}, bth);                                 // then extension headers, payload, pad
///     flow.write_headers(frame, transport_bytes, ip_id);  // in any order with `seal`
///     flow.seal(bth, transport_bytes, ip_id);
///
/// "Transport bytes" counts from the BTH through the ICRC: at least 16, and at most what fits
/// the length fields (65507 over IPv4, 65527 over IPv6, 65535 for RoCE v1). No function here fails,
/// allocates or checks its arguments. The flow label, the UDP checksum and the IPv4 reserved bit are 0.
/// A default-constructed template has no headers; it can only be assigned to.
class FrameTemplate {
 public:
  FrameTemplate() = default;

  /// Makes the headers of a whole frame: Ethernet, one 802.1Q tag if `net.vlan_tci` is set,
  /// then those of `net.version` (not `none`): IPv4 with DF, TTL and TOS, IPv6, or a GRH (IBTA annexes A16, A17);
  /// UDP with destination port 4791 for v2. `net.ip_id` and `net.timestamp_ns` are not used.
  [[nodiscard]] static FrameTemplate ethernet(const NetMeta& net, const MacAddress& source,
                                              const MacAddress& destination);

  /// Makes a template without headers, for a link that hides them (a UDP socket). The ICRC is computed as if those
  /// of `net` were in front of the BTH; `net.version` is not `none`, `net.ip_id` and `net.timestamp_ns` are not used.
  [[nodiscard]] static FrameTemplate transport_only(const NetMeta& net);

  /// Returns the bytes in front of the BTH: 42 … 66, or 0 for `transport_only`.
  [[nodiscard]] std::size_t header_bytes() const { return header_bytes_; }

  /// Returns the description that the template was made from.
  [[nodiscard]] const NetMeta& net() const { return net_; }

  /// Copies the headers to `frame`, which has room for `header_bytes()`, with the lengths and the IPv4
  /// checksum (RFC 1071) for `transport_bytes` and for the IPv4 identification `ip_id` (ignored if not IPv4).
  /// For a segmentation super-frame, `transport_bytes` counts all its segments. Does nothing for `transport_only`.
  void write_headers(std::byte* frame, std::size_t transport_bytes, std::uint16_t ip_id) const;

  /// Returns the ICRC (as a number, see icrc.h) of one packet whose BTH begins at `bth` and which is `transport_bytes`
  /// long, as if it were alone behind the headers with that length and `ip_id`. Its last four bytes are not read.
  [[nodiscard]] std::uint32_t icrc(const std::byte* bth, std::size_t transport_bytes, std::uint16_t ip_id) const;

  /// Stores `icrc()` in the last four of the `transport_bytes` bytes from `bth`. For a super-frame,
  /// call it for each segment, with the length of the segment and the identification that the segment will have.
  void seal(std::byte* bth, std::size_t transport_bytes, std::uint16_t ip_id) const {
    store_big_endian<4>(bth + transport_bytes - kIcrcSize, __builtin_bswap32(icrc(bth, transport_bytes, ip_id)));
  }

  /// True if the last four bytes are the ICRC: checks a packet that came on the flow this template describes,
  /// which may differ only in TTL, TOS, flow label and checksums.
  [[nodiscard]] bool is_sealed(const std::byte* bth, std::size_t transport_bytes, std::uint16_t ip_id) const {
    const std::byte* stored = bth + transport_bytes - kIcrcSize;
    return load_big_endian<4>(stored) == __builtin_bswap32(icrc(bth, transport_bytes, ip_id));
  }

 private:
  static constexpr std::size_t kMaxHeaders = 66;
  static constexpr std::size_t kResv8aOffset = FieldOf<&Bth::fecn>::kFirstByte;

  static void store16(std::byte* at, std::size_t value) { store_big_endian<2>(at, value & 0xFFFF); }

  const detail::TemplateTables* tables_ = nullptr;
  std::uint32_t state_ = 0;     // CRC state behind the masked headers with lengths and identification 0
  std::uint32_t ipv4_sum_ = 0;  // folded sum of the header's 16-bit words with those and the checksum 0
  std::uint16_t ip_extra_ = 0;  // bytes that the IP length field counts besides the transport bytes
  std::uint8_t header_bytes_ = 0;
  std::uint8_t network_bytes_ = 0;  // IP header or GRH, and UDP
  std::array<std::byte, kMaxHeaders> headers_{};
  NetMeta net_{};
};

inline void FrameTemplate::write_headers(std::byte* frame, std::size_t transport_bytes, std::uint16_t ip_id) const {
  if (header_bytes_ == 0) return;
  // Overlapping moves of a fixed size, for any length from 42 to 66: shorter than a call of memcpy.
  constexpr std::size_t block = 16;
  const std::size_t last = header_bytes_;
  std::memcpy(frame, headers_.data(), block);
  std::memcpy(frame + block, headers_.data() + block, block);
  std::memcpy(frame + block + 10, headers_.data() + block + 10, block);
  std::memcpy(frame + last - 2 * block, headers_.data() + last - 2 * block, block);
  std::memcpy(frame + last - block, headers_.data() + last - block, block);

  std::byte* end = frame + last;
  std::byte* ip = end - network_bytes_;
  if (net_.version == RoceVersion::v2_ipv4) {
    const std::size_t length = transport_bytes + ip_extra_;
    std::size_t sum = ipv4_sum_ + length + ip_id;
    sum = (sum & 0xFFFF) + (sum >> 16);
    sum = (sum & 0xFFFF) + (sum >> 16);
    store16(ip + FieldOf<&Ipv4::total_length>::kFirstByte, length);
    store16(ip + FieldOf<&Ipv4::identification>::kFirstByte, ip_id);
    store16(ip + FieldOf<&Ipv4::checksum>::kFirstByte, ~sum);
  } else {
    store16(ip + FieldOf<&Ipv6::payload_length>::kFirstByte, transport_bytes + ip_extra_);
  }
  if (net_.version != RoceVersion::v1) {
    store16(end - kSize<Udp> + FieldOf<&Udp::length>::kFirstByte, transport_bytes + kSize<Udp>);
  }
}

inline std::uint32_t FrameTemplate::icrc(const std::byte* bth, std::size_t transport_bytes, std::uint16_t ip_id) const {
  const detail::TemplateTables& tables = *tables_;
  const auto of = [](const std::array<detail::TemplateTables::Table, 2>& pair, std::size_t value) {
    return pair[0][value >> 8 & 0xFF] ^ pair[1][value & 0xFF];
  };
  const std::uint32_t seed = state_ ^ of(tables.ip_length, transport_bytes + ip_extra_) ^ of(tables.ip_id, ip_id) ^
                             of(tables.udp_length, transport_bytes + kSize<Udp>) ^
                             tables.resv8a[std::to_integer<std::uint8_t>(bth[kResv8aOffset])];
  return crc32(seed, Bytes{bth, transport_bytes - kIcrcSize});
}

}  // namespace roce
