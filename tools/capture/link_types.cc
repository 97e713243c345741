// SPDX-License-Identifier: BSD-2-Clause
#include "capture/link_types.h"

#include <fmt/format.h>

namespace roce::capture {

std::optional<LinkType> known_link_type(std::uint16_t number) {
  switch (const auto type = static_cast<LinkType>(number)) {
    case LinkType::ethernet:
    case LinkType::raw_ip_bsd:
    case LinkType::raw_ip_openbsd:
    case LinkType::raw_ip:
    case LinkType::linux_sll:
    case LinkType::ipv4:
    case LinkType::ipv6:
    case LinkType::linux_sll2:
      return type;
  }
  return std::nullopt;
}

std::string unknown_link_type(const std::string& file, std::uint16_t number) {
  return fmt::format(
      "{}: its link type is {} (tcpdump.org/linktypes.html); expected Ethernet (1), Linux cooked (113, 276) or IP (12, "
      "14, "
      "101, 228, 229), which can carry RoCE",
      file, number);
}

}  // namespace roce::capture
