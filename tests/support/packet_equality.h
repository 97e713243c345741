// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <sstream>
#include <string>

#include "roce/wire/fields.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace roce::test {

/// Returns all that a packet's accessors return, as text: packets with equal descriptions cannot be told apart.
inline std::string describe(const Packet& packet) {
  std::ostringstream out;
  const auto span = [&](std::string_view name, Bytes bytes) {
    out << ' ' << name << '=' << (bytes.empty() ? 0 : bytes.data() - packet.bytes().data()) << '+' << bytes.size();
  };
  out << "kind=" << static_cast<int>(packet.kind()) << " version=" << static_cast<int>(packet.version())
      << " reported=" << packet.reported_length() << " problem='" << to_string(packet.problem()) << '\'';
  span("bytes", packet.bytes());
  span("payload", packet.payload());
  span("pad", packet.pad());
  span("trailer", packet.trailer());
  out << " payload_offset=" << packet.payload_offset() << " payload_length=" << packet.payload_length()
      << " network=" << packet.network_offset() << '/' << header_info(packet.network_header()).name;
  for (const Layer& layer : packet.layers()) {
    out << ' ' << header_info(layer.id).name << '@' << layer.offset << '+' << layer.size;
  }
  for (const HeaderInfo& header : header_table()) {
    if (const auto layer = packet.find(header.id)) out << " found:" << header.name << '@' << layer->offset;
  }
  if (packet.is_roce()) out << " bth=" << packet.bth_offset() << ' ' << packet.info().name;
  if (packet.has_icrc()) out << " icrc=" << packet.icrc_offset() << ':' << packet.stored_icrc();
  const IcrcVerdict verdict = check_icrc(packet);
  out << " verdict=" << to_string(verdict) << '/' << verdict.computed;
  const NetMeta net = packet.net();
  out << " net=" << to_string(net.source) << '>' << to_string(net.destination) << ' ' << int{net.traffic_class} << ' '
      << int{net.hop_limit} << ' ' << net.ip_id.value_or(0) << net.ip_id.has_value() << net.dont_fragment << ' '
      << net.udp_source_port << ' ' << net.vlan_tci.value_or(0) << net.vlan_tci.has_value() << ' '
      << to_string(net.version);
  return out.str();
}

}  // namespace roce::test
