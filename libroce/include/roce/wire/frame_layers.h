// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "roce/wire/ethernet.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/packet.h"

namespace roce {

/// Changes of the headers that a frame consists of. In each `frame` holds the bytes that `packet` was parsed from; the
/// lengths in the headers around the change follow, and the frame on the wire becomes longer or shorter by as much as
/// `frame` does. Check values do not follow: see `FrameSeal`. Where false is returned nothing was changed.

/// Takes everything off that encloses the innermost frame. Where there is no Ethernet header inside, the outermost one
/// stays, without its VLAN tags, and announces what was inside. False: there is no tunnel around the innermost network
/// header.
bool strip_tunnels(const Packet& packet, std::vector<std::byte>& frame);

/// Takes the VLAN tags of the innermost Ethernet frame off. False: it has none.
bool remove_vlan_tags(const Packet& packet, std::vector<std::byte>& frame);

/// Puts a tag directly behind the innermost Ethernet header, in front of tags that it has. `ether_type` of the tag
/// follows from the frame. False: there is no Ethernet header.
bool add_vlan_tag(const Packet& packet, VlanTag tag, std::vector<std::byte>& frame);

/// Puts a RoCE packet behind the network headers that `net` describes; IPv4 options and IPv6 extension headers do not
/// survive. `flow_label` is that of an IPv6 header or GRH. False: it is not RoCE, or what stands in front of the
/// network header can not announce the new one: a tunnel without an inner Ethernet header.
bool change_network(const Packet& packet, const NetMeta& net, std::uint32_t flow_label, std::vector<std::byte>& frame);

/// Puts `transport` in the place of everything from the BTH through the ICRC; what stands behind the packet stays.
/// False: it is not RoCE, or has no place for an ICRC.
bool change_transport(const Packet& packet, Bytes transport, std::vector<std::byte>& frame);

/// The flow label of the IPv6 header or GRH in front of the BTH; 0 if there is none.
[[nodiscard]] std::uint32_t flow_label_of(const Packet& packet);

}  // namespace roce
