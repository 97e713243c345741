// SPDX-License-Identifier: BSD-2-Clause
#include "frame_draft.h"

#include "roce/wire/checksum.h"
#include "roce/wire/icrc.h"

namespace roce::attack {

namespace {

constexpr std::size_t kIcrcSize = 4;
constexpr std::uint16_t kSourcePort = 0xC123;

template <HeaderType H>
void append(std::vector<std::byte>& bytes, const H& header) {
  bytes.resize(bytes.size() + kSize<H>);
  write(header, bytes.data() + bytes.size() - kSize<H>);
}

template <HeaderType H>
void append(std::vector<std::byte>& bytes, const std::optional<H>& header) {
  if (header) append(bytes, *header);
}

void append(std::vector<std::byte>& bytes, const std::vector<std::byte>& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

[[nodiscard]] EtherType ether_type_of(RoceVersion version) {
  switch (version) {
    case RoceVersion::v1:
      return EtherType::roce_v1;
    case RoceVersion::v2_ipv4:
      return EtherType::ipv4;
    default:
      return EtherType::ipv6;
  }
}

}  // namespace

Draft::Draft(const Route& route, Opcode opcode, Qpn dest_qp, Psn psn) : version(route.version) {
  ethernet = {route.peer_mac, route.own_mac, ether_type_of(route.version)};
  ipv4.dont_fragment = true;
  ipv4.source = route.own.ipv4();
  ipv4.destination = route.peer.ipv4();
  ipv6.hop_limit = 64;
  ipv6.next_header = IpProtocol::udp;
  ipv6.source = route.own;
  ipv6.destination = route.peer;
  grh.source = route.own;
  grh.destination = route.peer;
  grh.hop_limit = 64;
  udp.source_port = kSourcePort;
  bth.opcode = opcode;
  bth.dest_qp = dest_qp;
  bth.psn = psn;
}

std::vector<std::byte> Draft::build() const {
  std::vector<std::byte> bytes;
  bytes.reserve(512);
  append(bytes, ethernet);
  for (const VlanTag& tag : tags) append(bytes, tag);
  const std::size_t network = bytes.size();
  HeaderId id = HeaderId::ipv4;
  switch (version) {
    case RoceVersion::v1:
      id = HeaderId::grh;
      append(bytes, grh);
      break;
    case RoceVersion::v2_ipv4:
      append(bytes, ipv4);
      break;
    default:
      id = HeaderId::ipv6;
      append(bytes, ipv6);
      break;
  }
  append(bytes, extension);
  const std::size_t upper = bytes.size();
  if (version != RoceVersion::v1) append(bytes, udp);
  const std::size_t bth_offset = bytes.size();
  append(bytes, bth);
  append(bytes, deth);
  append(bytes, feth);
  append(bytes, reth);
  append(bytes, atomic);
  append(bytes, aeth);
  append(bytes, atomic_ack);
  append(bytes, immediate);
  append(bytes, invalidate);
  append(bytes, cnp);
  append(bytes, payload);
  const std::size_t pad = (0 - payload.size()) & 3;
  bytes.resize(bytes.size() + pad + kIcrcSize);
  FieldOf<&Bth::pad_count>::set(bytes.data() + bth_offset,
                                wrong_pad_count.value_or(static_cast<std::uint8_t>(pad)) & 3);
  std::byte* const header = bytes.data() + network;
  const auto length = static_cast<std::uint16_t>(static_cast<int>(bytes.size() - network) + wrong_ip_length);
  if (version == RoceVersion::v2_ipv4) {
    FieldOf<&Ipv4::total_length>::set(header, length);
    const std::uint16_t sum = ipv4_checksum(Bytes{header, upper - network});
    FieldOf<&Ipv4::checksum>::set(header, static_cast<std::uint16_t>(sum ^ wrong_checksum_bits));
  } else {
    FieldOf<&Ipv6::payload_length>::set(header, static_cast<std::uint16_t>(length - kSize<Ipv6>));
  }
  if (version != RoceVersion::v1) {
    std::byte* const datagram = bytes.data() + upper;
    FieldOf<&Udp::length>::set(datagram,
                               static_cast<std::uint16_t>(static_cast<int>(bytes.size() - upper) + wrong_udp_length));
    // Over IPv6 a UDP checksum of 0 is legal only where the receiver expects it, as with RoCE: RNICs send 0.
  }
  const std::uint32_t icrc =
      compute_icrc(Bytes{header, bytes.size() - network - kIcrcSize}, id, bth_offset - network) ^ wrong_icrc_bits;
  store_big_endian<4>(bytes.data() + bytes.size() - kIcrcSize, __builtin_bswap32(icrc));
  bytes.resize(bytes.size() - std::min(cut, bytes.size() - kSize<Ethernet>));
  append(bytes, trailer);
  return bytes;
}

}  // namespace roce::attack
