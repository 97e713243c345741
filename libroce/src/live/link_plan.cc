// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/link_plan.h"

namespace roce::live {

namespace {

using Kind = LinkPlan::Kind;

constexpr const char* kDcbxNeedsRaw =
    "DCBX is LLDP frames, which neither the UDP nor the XDP link gets; use the raw link, or leave out dcbx";

[[nodiscard]] Result<LinkPlan> plan_udp(const LinkNeeds& needs) {
  if (needs.own_address) {
    return cannot(
        "the UDP link has the host's addresses only; take the raw link for an own address (ip), or an address of the "
        "host");
  }
  if (needs.dcbx) return cannot(kDcbxNeedsRaw);
  if (needs.roce_v1) {
    return cannot("the UDP link carries RoCE v2 only; take a GID of v2 (leave out v1), or use the raw link");
  }
  if (needs.vlan) {
    return cannot("the UDP link does not choose VLANs; name the VLAN device as the interface and leave out the VLAN");
  }
  return LinkPlan{.first = Kind::udp};
}

/// Returns what UDP sockets cannot do; empty if they will do.
[[nodiscard]] std::string_view beyond_udp(const LinkNeeds& needs) {
  if (needs.own_address) return "an address of its own (ip) needs";
  if (needs.shards > 1) return "shards need";
  if (needs.roce_v1) return "RoCE v1 needs";
  if (needs.vlan) return "a VLAN needs";
  if (needs.dcbx) return "DCBX needs";
  return {};
}

}  // namespace

Result<LinkPlan> plan_link(const LinkNeeds& needs) {
  if (needs.choice != LinkChoice::xdp && needs.xdp_settings) {
    return cannot("an XDP mode and XDP queues are for the XDP link; take that, or leave them out");
  }
  if (needs.has_link) return LinkPlan{.first = Kind::given};
  switch (needs.choice) {
    case LinkChoice::xdp:
      if (needs.dcbx) return cannot(kDcbxNeedsRaw);
      return LinkPlan{.first = Kind::xdp};
    case LinkChoice::udp:
      return plan_udp(needs);
    case LinkChoice::automatic: {
      const std::string_view needs_raw = beyond_udp(needs);
      return LinkPlan{.first = Kind::raw, .or_udp = needs_raw.empty(), .needs_raw = needs_raw};
    }
    case LinkChoice::raw:
    case LinkChoice::stream:  // has_link
      break;
  }
  return LinkPlan{.first = Kind::raw};
}

}  // namespace roce::live
