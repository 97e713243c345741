// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/frame_seal.h"

#include <algorithm>

#include "roce/wire/checksum.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/udp.h"

namespace roce {

namespace {

constexpr std::size_t kFcsSize = 4;

/// A 16-bit check value: its place, and the bytes that it covers.
struct Check {
  std::uint32_t place = 0;
  std::uint32_t start = 0;
  std::uint32_t end = 0;
  // For the pseudo header; not used for IPv4 headers.
  IpProtocol protocol{};
  Gid source{};
  Gid destination{};
};

std::uint16_t stored_at(Bytes frame, const Check& check) {
  return static_cast<std::uint16_t>(load_big_endian<2>(frame.data() + check.place));
}

/// Returns the check value of an IPv4 header, if the header is in the frame with its options.
std::optional<Check> ipv4_check(const Layer& layer, Bytes frame) {
  const std::byte* header = frame.data() + layer.offset;
  const std::size_t size = FieldOf<&Ipv4::header_length>::get(header) * std::size_t{4};
  if (size < kSize<Ipv4> || size > frame.size() - layer.offset) return std::nullopt;
  return Check{.place = layer.offset + static_cast<std::uint32_t>(FieldOf<&Ipv4::checksum>::kFirstByte),
               .start = layer.offset,
               .end = layer.offset + static_cast<std::uint32_t>(size)};
}

/// Returns the offset of the checksum in an upper-layer message (RFC 768, RFC 9293, RFC 4443).
std::optional<std::uint32_t> checksum_place(IpProtocol protocol) {
  switch (protocol) {
    case IpProtocol::udp:
      return static_cast<std::uint32_t>(FieldOf<&Udp::checksum>::kFirstByte);
    case IpProtocol::tcp:
      return 16;
    case IpProtocol::icmpv6:
      return 2;
    default:
      return std::nullopt;
  }
}

/// Returns the check value of the message behind IP header `index`, if it has a checksum and all of it is there.
std::optional<Check> upper_check(const LayerList& layers, std::size_t index, Bytes frame) {
  const Layer& ip = layers[index];
  const std::byte* header = frame.data() + ip.offset;
  Check check;
  if (ip.id == HeaderId::ipv4) {
    const std::optional<Check> own = ipv4_check(ip, frame);
    if (!own || is_ipv4_fragment(header)) return std::nullopt;
    check.protocol = FieldOf<&Ipv4::protocol>::get(header);
    check.start = own->end;
    check.end = ip.offset + FieldOf<&Ipv4::total_length>::get(header);
    // The sum of a mapped address is that of its IPv4 address: the 0xFFFF in it counts as 0.
    check.source = Gid::from_ipv4(FieldOf<&Ipv4::source>::get(header));
    check.destination = Gid::from_ipv4(FieldOf<&Ipv4::destination>::get(header));
  } else {
    check.protocol = FieldOf<&Ipv6::next_header>::get(header);
    check.start = ip.offset + ip.size;
    check.end = check.start + FieldOf<&Ipv6::payload_length>::get(header);
    check.source = FieldOf<&Ipv6::source>::get(header);
    check.destination = FieldOf<&Ipv6::destination>::get(header);
    for (std::size_t i = index + 1; i < layers.size() && layers[i].id == HeaderId::ipv6_extension; ++i) {
      if (check.protocol == IpProtocol::fragment) return std::nullopt;
      // The first byte of each names the header behind it (RFC 8200, 4).
      check.protocol = static_cast<IpProtocol>(frame[layers[i].offset]);
      check.start = layers[i].offset + layers[i].size;
    }
    if (check.protocol == IpProtocol::fragment) return std::nullopt;
  }
  const std::optional<std::uint32_t> place = checksum_place(check.protocol);
  if (!place || check.end > frame.size() || check.start + *place + 2 > check.end) return std::nullopt;
  check.place = check.start + *place;
  if (check.protocol == IpProtocol::udp) {
    const std::uint32_t length = FieldOf<&Udp::length>::get(frame.data() + check.start);
    if (stored_at(frame, check) == 0 || length < kSize<Udp> || check.start + length > check.end) return std::nullopt;
    check.end = check.start + length;
  }
  return check;
}

std::uint16_t right_ipv4(Bytes frame, const Check& check) {
  return ipv4_checksum(frame.subspan(check.start, check.end - check.start));
}

std::uint16_t right_upper(Bytes frame, const Check& check) {
  const Bytes message = frame.subspan(check.start, check.end - check.start);
  // The stored checksum is included in the sum, and is taken out again.
  const std::uint64_t sum = std::uint64_t{static_cast<std::uint16_t>(
                                ~ipv6_upper_checksum(check.source, check.destination, check.protocol, message))} +
                            static_cast<std::uint16_t>(~stored_at(frame, check));
  const std::uint16_t checksum = detail::fold_checksum(sum);
  // In UDP, 0 means that there is no checksum.
  return checksum == 0 && check.protocol == IpProtocol::udp ? std::uint16_t{0xFFFF} : checksum;
}

/// Returns the bits in which a stored checksum is wrong; 0 and 0xFFFF are the same number.
std::uint16_t error_of(std::uint16_t stored, std::uint16_t right) {
  const bool same = stored == right || (stored % 0xFFFF == 0 && right % 0xFFFF == 0);
  return same ? std::uint16_t{0} : static_cast<std::uint16_t>(stored ^ right);
}

/// Calls `use(check, is_ipv4_header)` for the check values of all IP headers, the innermost first, and for each header
/// that of its message before its own.
template <typename Use>
void for_each_check(const Packet& packet, Bytes frame, Use use) {
  const LayerList layers = packet.layers();
  for (std::size_t i = layers.size(); i-- > 0;) {
    if (layers[i].id != HeaderId::ipv4 && layers[i].id != HeaderId::ipv6) continue;
    if (const std::optional<Check> check = upper_check(layers, i, frame)) use(*check, false);
    if (layers[i].id != HeaderId::ipv4) continue;
    if (const std::optional<Check> check = ipv4_check(layers[i], frame)) use(*check, true);
  }
}

bool has_icrc(const Packet& packet) {
  return packet.is_roce() && packet.has_icrc() && packet.network_header() != HeaderId::none;
}

std::uint32_t right_icrc(const Packet& packet, Bytes frame) {
  const std::uint32_t start = packet.network_offset();
  return compute_icrc(frame.subspan(start, packet.icrc_offset() - start), packet.network_header(),
                      packet.bth_offset() - start);
}

/// Returns the bytes that an FCS at the end would cover, if the frame may have one.
std::optional<Bytes> covered_by_fcs(const Packet& packet, Bytes frame) {
  const LayerList layers = packet.layers();
  const bool is_whole = packet.reported_length() == frame.size();
  if (!is_whole || layers.empty() || layers[0].id != HeaderId::ethernet || packet.trailer().size() < kFcsSize) {
    return std::nullopt;
  }
  return frame.first(frame.size() - kFcsSize);
}

/// Returns the FCS, which is sent with its least significant byte first (IEEE 802.3, 3.2.9).
std::uint32_t fcs_of(Bytes covered) {
  return __builtin_bswap32(crc32(0, covered));
}

}  // namespace

FrameSeal::FrameSeal(const Packet& packet, Bytes frame) {
  for_each_check(packet, frame, [&](const Check& check, bool is_ipv4_header) {
    Errors& errors = is_ipv4_header ? ipv4_ : upper_;
    const std::uint16_t right = is_ipv4_header ? right_ipv4(frame, check) : right_upper(frame, check);
    errors.bits[errors.count++] = error_of(stored_at(frame, check), right);
  });
  if (has_icrc(packet)) {
    const auto stored = static_cast<std::uint32_t>(load_big_endian<4>(frame.data() + packet.icrc_offset()));
    icrc_error_ = __builtin_bswap32(stored) ^ right_icrc(packet, frame);
  }
  if (const std::optional<Bytes> covered = covered_by_fcs(packet, frame)) {
    has_fcs_ = load_big_endian<4>(covered->data() + covered->size()) == fcs_of(*covered);
  }
}

std::size_t FrameSeal::wrong_checksums() const {
  const auto wrong = [](const Errors& errors) {
    return std::count_if(errors.bits.begin(), errors.bits.begin() + static_cast<std::ptrdiff_t>(errors.count),
                         [](std::uint16_t bits) { return bits != 0; });
  };
  return static_cast<std::size_t>(wrong(ipv4_) + wrong(upper_));
}

void FrameSeal::renew(const Packet& packet, std::span<std::byte> frame, WrongCheck checksums, WrongCheck icrc) const {
  const std::uint32_t icrc_error = icrc_error_.value_or(0);
  if (has_icrc(packet) && (icrc_error == 0 || icrc != WrongCheck::leave)) {
    const std::uint32_t kept = icrc == WrongCheck::keep ? icrc_error : 0;
    store_big_endian<4>(frame.data() + packet.icrc_offset(), __builtin_bswap32(right_icrc(packet, frame) ^ kept));
  }
  std::size_t ipv4 = 0;
  std::size_t upper = 0;
  for_each_check(packet, frame, [&](const Check& check, bool is_ipv4_header) {
    const Errors& errors = is_ipv4_header ? ipv4_ : upper_;
    const std::size_t index = is_ipv4_header ? ipv4++ : upper++;
    const std::uint16_t error = index < errors.count ? errors.bits[index] : std::uint16_t{0};
    if (error != 0 && checksums == WrongCheck::leave) return;
    const std::uint16_t right = is_ipv4_header ? right_ipv4(frame, check) : right_upper(frame, check);
    // A checksum that is right stays as it was written: it may be 0xFFFF instead of 0.
    if (error == 0 && error_of(stored_at(frame, check), right) == 0) return;
    const std::uint16_t kept = checksums == WrongCheck::keep ? error : std::uint16_t{0};
    store_big_endian<2>(frame.data() + check.place, right ^ kept);
  });
  if (!has_fcs_) return;
  if (const std::optional<Bytes> covered = covered_by_fcs(packet, frame)) {
    store_big_endian<4>(frame.data() + covered->size(), fcs_of(*covered));
  }
}

}  // namespace roce
