// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/frame_template.h"

#include <algorithm>

#include "roce/wire/ethernet.h"
#include "roce/wire/frame_builder.h"
#include "roce/wire/grh.h"
#include "wire/crc.h"
#include "wire/icrc_mask.h"
#include "wire/network_headers.h"

namespace roce {

namespace {

/// Returns the tables of a field of 16 bits that ends `bytes_behind` bytes in front of the BTH.
constexpr std::array<crc::ByteTable, 2> make_tables(std::size_t bytes_behind) {
  return {crc::make_byte_table(bytes_behind + 1), crc::make_byte_table(bytes_behind)};
}

constexpr std::size_t bytes_behind(std::size_t network_bytes, std::size_t field_offset) {
  return network_bytes - field_offset - 2;
}

constexpr std::array<crc::ByteTable, 2> kUdpLength =
    make_tables(bytes_behind(kSize<Udp>, FieldOf<&Udp::length>::kFirstByte));
constexpr crc::ByteTable kResv8a = crc::make_mask_table(FieldOf<&Bth::fecn>::kFirstByte);

constexpr std::size_t kIpv4Bytes = kSize<Ipv4> + kSize<Udp>;
constexpr std::size_t kIpv6Bytes = kSize<Ipv6> + kSize<Udp>;

constexpr detail::TemplateTables kIpv4Tables{
    .ip_length = make_tables(bytes_behind(kIpv4Bytes, FieldOf<&Ipv4::total_length>::kFirstByte)),
    .ip_id = make_tables(bytes_behind(kIpv4Bytes, FieldOf<&Ipv4::identification>::kFirstByte)),
    .udp_length = kUdpLength,
    .resv8a = kResv8a};
constexpr detail::TemplateTables kIpv6Tables{
    .ip_length = make_tables(bytes_behind(kIpv6Bytes, FieldOf<&Ipv6::payload_length>::kFirstByte)),
    .ip_id = {},
    .udp_length = kUdpLength,
    .resv8a = kResv8a};
constexpr detail::TemplateTables kGrhTables{
    .ip_length = make_tables(bytes_behind(kSize<Grh>, FieldOf<&Grh::payload_length>::kFirstByte)),
    .ip_id = {},
    .udp_length = {},
    .resv8a = kResv8a};

/// Returns the headers of `net` with lengths and identification 0.
NetworkHeaders make_blank_headers(NetMeta net) {
  net.ip_id = 0;
  NetworkHeaders headers = make_network_headers(net, 0);
  std::byte* ip = headers.bytes.data();
  if (net.version == RoceVersion::v2_ipv4) {
    FieldOf<&Ipv4::total_length>::set(ip, 0);
  } else {
    FieldOf<&Ipv6::payload_length>::set(ip, 0);
  }
  if (headers.network == HeaderId::ipv4 || headers.network == HeaderId::ipv6) {
    FieldOf<&Udp::length>::set(ip + headers.size - kSize<Udp>, 0);
  }
  return headers;
}

}  // namespace

FrameTemplate FrameTemplate::transport_only(const NetMeta& net) {
  FrameTemplate made;
  made.net_ = net;
  const NetworkHeaders headers = make_blank_headers(net);
  made.network_bytes_ = static_cast<std::uint8_t>(headers.size);
  made.state_ = crc_behind(headers);
  switch (net.version) {
    case RoceVersion::v2_ipv4:
      made.tables_ = &kIpv4Tables;
      made.ip_extra_ = kIpv4Bytes;
      // The complement of a checksum is the folded sum.
      made.ipv4_sum_ = static_cast<std::uint16_t>(~ipv4_checksum(Bytes{headers.bytes.data(), kSize<Ipv4>}));
      break;
    case RoceVersion::v2_ipv6:
      made.tables_ = &kIpv6Tables;
      made.ip_extra_ = kSize<Udp>;
      break;
    case RoceVersion::v1:
    case RoceVersion::none:
      made.tables_ = &kGrhTables;
      break;
  }
  return made;
}

FrameTemplate FrameTemplate::ethernet(const NetMeta& net, const MacAddress& source, const MacAddress& destination) {
  FrameTemplate made = transport_only(net);
  std::byte* out = made.headers_.data();
  EtherType type = EtherType::roce_v1;
  if (net.version == RoceVersion::v2_ipv4) type = EtherType::ipv4;
  if (net.version == RoceVersion::v2_ipv6) type = EtherType::ipv6;
  write(Ethernet{.destination = destination, .source = source, .ether_type = net.vlan_tci ? EtherType::vlan : type},
        out);
  out += kSize<Ethernet>;
  if (net.vlan_tci) {
    write(VlanTag{.priority = static_cast<std::uint8_t>(*net.vlan_tci >> kVlanPriorityShift),
                  .drop_eligible = (*net.vlan_tci >> 12 & 1) != 0,
                  .vlan_id = static_cast<std::uint16_t>(*net.vlan_tci & kVlanIdMask),
                  .ether_type = type},
          out);
    out += kSize<VlanTag>;
  }
  const NetworkHeaders headers = make_blank_headers(net);
  out = std::copy_n(headers.bytes.data(), headers.size, out);
  made.header_bytes_ = static_cast<std::uint8_t>(out - made.headers_.data());
  return made;
}

}  // namespace roce
