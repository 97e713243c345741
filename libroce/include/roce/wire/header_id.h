// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace roce {

/// Every header this codec knows. The order is that of the field table (fields.h), outermost first.
enum class HeaderId : std::uint8_t {
  none,
  // Link layer
  ethernet,
  vlan,
  sll,
  sll2,
  // Network layer
  ipv4,
  ipv4_options,
  ipv6,
  ipv6_extension,
  grh,
  udp,
  // Tunnels
  vxlan,
  geneve,
  geneve_options,
  gre,
  gre_options,
  erspan2,
  erspan3,
  erspan3_subheader,
  mpls,
  pw_control_word,
  // InfiniBand transport
  bth,
  rdeth,
  deth,
  xrceth,
  feth,
  reth,
  atomiceth,
  aeth,
  atomicacketh,
  immdt,
  ieth,
  cnp,
  // Management datagrams
  mad,
  cm_req,
  cm_mra,
  cm_rej,
  cm_rep,
  cm_rtu,
  cm_dreq,
  cm_drep,
  cm_sidr_req,
  cm_sidr_rep,
  cm_lap,
  cm_apr,
  cma,
  // Link control
  mac_control,
  pfc,
  pause,
  lldp_tlv,
  lldp_org,
  dcbx_ets,
  dcbx_ets_recommendation,
  dcbx_pfc,
  dcbx_app,
  dcbx_app_entry,
  cn_tag,
  cnm,
  // Neighbours and multicast groups
  arp,
  icmp,
  icmp_echo,
  icmpv6,
  nd_solicitation,
  nd_advertisement,
  nd_link_layer,
  igmp,
  igmp_report,
  igmp_record,
  mld,
  mld_report,
  mld_record,
  ipv4_router_alert,
  ipv6_router_alert,
  // Not headers, but places that an error can name
  payload,
  icrc,
  count,
};

}  // namespace roce
