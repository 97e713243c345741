// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "roce/wire/ethernet.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/packet.h"

namespace roce {

/// Functions that change the headers of a frame. For each, `frame` holds the bytes that `packet` was parsed from;
/// the lengths in the headers around the change are adapted, and the frame on the wire becomes longer or shorter
/// by as much as `frame`. Check values are not adapted: see `FrameSeal`. A function that returns false changed nothing.

/// Removes everything that encloses the innermost frame. If there is no Ethernet header inside,
/// the outermost one stays, without its VLAN tags, and gets the EtherType of the inner network header.
/// Returns false if there is no tunnel around the innermost network header.
bool strip_tunnels(const Packet& packet, std::vector<std::byte>& frame);

/// Removes the VLAN tags of the innermost Ethernet frame. Returns false if it has none.
bool remove_vlan_tags(const Packet& packet, std::vector<std::byte>& frame);

/// Inserts a tag directly behind the innermost Ethernet header, in front of any tags there.
/// The `ether_type` of the tag is taken from the frame. Returns false if there is no Ethernet header.
bool add_vlan_tag(const Packet& packet, VlanTag tag, std::vector<std::byte>& frame);

/// Puts a RoCE packet behind the network headers that `net` describes; IPv4 options and IPv6 extension headers
/// are lost. `flow_label` is that of an IPv6 header or GRH. Returns false if the packet is not RoCE, or if
/// the bytes in front of the network header cannot announce the new one: a tunnel without an inner Ethernet header.
bool change_network(const Packet& packet, const NetMeta& net, std::uint32_t flow_label, std::vector<std::byte>& frame);

/// Replaces everything from the BTH through the ICRC by `transport`; the bytes behind the packet stay.
/// Returns false if the packet is not RoCE, or has no place for an ICRC.
bool change_transport(const Packet& packet, Bytes transport, std::vector<std::byte>& frame);

/// Returns the flow label of the IPv6 header or GRH in front of the BTH; 0 if there is none.
[[nodiscard]] std::uint32_t flow_label_of(const Packet& packet);

}  // namespace roce
