// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "roce/live/endpoint_options.h"
#include "roce/live/result.h"

namespace roce::live {

/// The facts that decide which link an endpoint takes.
struct LinkNeeds {
  LinkChoice choice = LinkChoice::automatic;
  bool has_link = false;      ///< there is one already: the caller's, or a stream
  bool own_address = false;   ///< the endpoint has an address that the host does not have
  bool roce_v1 = false;       ///< packets are RoCE v1
  bool vlan = false;          ///< packets have a VLAN tag
  bool dcbx = false;          ///< the endpoint speaks DCBX
  bool xdp_settings = false;  ///< a mode or a number of queues for XDP is set
  std::uint32_t shards = 1;
};

/// The link to open, and what to do if that is not allowed here.
struct LinkPlan {
  enum class Kind : std::uint8_t { given, raw, xdp, udp };
  Kind first = Kind::raw;
  bool or_udp = false;              ///< UDP sockets if the raw link may not be opened
  std::string_view needs_raw = {};  ///< who needs the raw link, if nobody chose it and UDP will not do; else empty

  friend bool operator==(const LinkPlan&, const LinkPlan&) = default;
};

/// Chooses the link: the one that was asked for, or else raw, and UDP where raw may not be opened and UDP will do.
/// Errors: what was asked for cannot do what is needed.
[[nodiscard]] Result<LinkPlan> plan_link(const LinkNeeds& needs);

}  // namespace roce::live
