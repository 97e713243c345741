// SPDX-License-Identifier: BSD-2-Clause
// From an address vector to the headers of its packets: GID table, traffic class, service level, neighbours.
#include "transport/path.h"

#include <algorithm>

#include "roce/wire/constants.h"
#include "transport/device_state.h"
#include "transport/refusal.h"

namespace roce::transport::detail {

namespace {

constexpr std::uint32_t kMaxFlowLabel = 0xF'FFFF;
constexpr std::uint8_t kMaxServiceLevel = 7;
}  // namespace

VerbResult<Path> make_path(const DeviceState& device, const AddressVector& address, Qpn local, Qpn remote) {
  const DeviceConfig& config = device.config;
  if (address.sgid_index >= config.gids.size()) {
    return invalid("address.sgid_index", "an entry of the GID table, below", address.sgid_index, config.gids.size());
  }
  const GidEntry& source = config.gids[address.sgid_index];
  if (address.flow_label > kMaxFlowLabel) {
    return invalid("address.flow_label", "20 bits, at most", address.flow_label, kMaxFlowLabel);
  }
  if (address.service_level && *address.service_level > kMaxServiceLevel) {
    return invalid("address.service_level", "at most", *address.service_level, kMaxServiceLevel);
  }
  if (address.dgid == Gid{}) return invalid("address.dgid", "a GID that is not all zeros", 0);
  const bool v4 = source.gid.is_ipv4_mapped();
  // NET-02 (source and destination GID are both IPv4-mapped or both IPv6)
  if (source.type == GidType::roce_v2 && v4 != address.dgid.is_ipv4_mapped()) {
    return invalid("address.dgid", v4 ? "an IPv4-mapped GID, as the source is" : "an IPv6 GID, as the source is", 0);
  }

  Path path;
  path.sgid_index = address.sgid_index;
  path.vlan_id = source.vlan_id;
  path.multicast = is_multicast(address.dgid);
  NetMeta& net = path.net;
  // NET-01 (the source GID's table entry determines the RoCE version of its packets)
  net.version = source.type == GidType::roce_v1 ? RoceVersion::v1 : v4 ? RoceVersion::v2_ipv4 : RoceVersion::v2_ipv6;
  net.source = source.gid;
  net.destination = address.dgid;
  net.traffic_class = config.traffic_class.apply(source.gid, address.dgid, address.traffic_class);
  path.service_level = address.service_level.value_or(service_level_of(config.sl_policy, net.traffic_class));
  // NET-10 (PCP from the GID entry's priority, else from the service level)
  path.priority = source.vlan_id && source.priority ? *source.priority : path.service_level;
  // NET-11 (ECT(0) if the profile sets it and the traffic class has no ECN bits)
  if (config.profile.mark_ect && net.version != RoceVersion::v1 && (net.traffic_class & kEcnMask) == 0) {
    net.traffic_class |= kEcnEct0;
  }
  net.hop_limit = address.hop_limit.value_or(config.hop_limit);
  if (source.vlan_id) net.vlan_tci = static_cast<std::uint16_t>(*source.vlan_id | path.priority << kVlanPriorityShift);
  if (net.version != RoceVersion::v1) {
    // NET-03 (0xC000 and a fold of the flow label, which follows from both QPNs)
    const std::uint32_t label = address.flow_label != 0 ? address.flow_label : flow_label_of(local, remote);
    net.udp_source_port = address.udp_source_port.value_or(udp_source_port(label));
  }
  if (address.destination_mac) {
    path.destination_mac = address.destination_mac;
  } else if (path.multicast) {
    path.destination_mac = multicast_mac(address.dgid);
  } else if (net.version == RoceVersion::v1) {
    // NET-05 (RoCE v1 takes the MAC address from a link-local GID)
    path.destination_mac = mac_of_link_local(address.dgid);
  }
  return path;
}

bool build_path(DeviceState& device, Path& path, TxCaps::Link link) {
  if (path.built && path.built_for == link) return true;
  if (link == TxCaps::Link::transport) {
    // The link chooses the identification in the hidden header; a socket with DF sends 0.
    path.count_ip_id = false;
    path.frame = FrameTemplate::transport_only(path.net);
  } else {
    if (!path.destination_mac) {
      const auto found = device.neighbours.find({path.net.destination, path.vlan_id.value_or(DeviceState::kNoVlan)});
      if (found == device.neighbours.end()) return false;
      path.destination_mac = found->second;
    }
    // NET-12 (IPv4: DF, identification 0 or counting, UDP checksum 0)
    path.count_ip_id = device.profile().count_ip_id && path.net.version == RoceVersion::v2_ipv4;
    path.frame = FrameTemplate::ethernet(path.net, device.config.mac, *path.destination_mac);
  }
  if (path.net.version == RoceVersion::v2_ipv4 && !path.count_ip_id) path.net.ip_id = 0;
  path.built_for = link;
  path.built = true;
  return true;
}

std::uint32_t bytes_around(const Path& path) {
  constexpr std::uint32_t ethernet = 14;
  constexpr std::uint32_t vlan = 4;
  constexpr std::uint32_t ipv4_and_udp = 28;
  constexpr std::uint32_t ipv6_and_udp = 48;
  constexpr std::uint32_t grh = 40;
  constexpr std::uint32_t preamble_fcs_and_gap = 24;
  const std::uint32_t network = path.net.version == RoceVersion::v1        ? grh
                                : path.net.version == RoceVersion::v2_ipv4 ? ipv4_and_udp
                                                                           : ipv6_and_udp;
  return ethernet + (path.net.vlan_tci ? vlan : 0) + network + preamble_fcs_and_gap;
}

void ask_for_neighbour(DeviceState& device, Qpn qpn, const Path& path) {
  device.report(
      Event{.type = EventType::neighbour_wanted, .qpn = qpn, .gid = path.net.destination, .vlan_id = path.vlan_id});
}

bool build_path(DeviceState& device, Qp& qp, Path& path, TxCaps::Link link) {
  if (build_path(device, path, link)) return true;
  // NET-07 (a QP waits for a neighbour's MAC address and asks once)
  if (!qp.waits_for_neighbour) {
    qp.waits_for_neighbour = true;
    if (std::ranges::find(device.waiting_for_neighbour, qp.slot) == device.waiting_for_neighbour.end()) {
      device.waiting_for_neighbour.push_back(qp.slot);
    }
    ask_for_neighbour(device, qp.qpn, path);
  }
  return false;
}

}  // namespace roce::transport::detail
