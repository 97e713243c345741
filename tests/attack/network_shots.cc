// SPDX-License-Identifier: BSD-2-Clause
// WRITEs that are legal except for one thing in the BTH or below it.
#include <array>

#include "shot.h"

namespace roce::attack {

namespace {

// A frame wrong below the BTH is refused by the first layer that looks there, which on some links is the kernel.
// A counter that this program does not know counts as one of these ("*").
constexpr Aim kNetwork{.counters = {"malformed", "wrong_address", "icrc_errors", "unknown_qp", "wrong_state", "*"}};
constexpr Aim kIcrc{.counters = {"icrc_errors"}};
constexpr Aim kPKey{.counters = {"p_key_violations"}};
constexpr Aim kNobody{.counters = {"unknown_qp", "malformed", "wrong_state", "wrong_address", "out_of_sequence"}};

[[nodiscard]] Draft legal_write(Workshop& shop, const Target& target) {
  return shop.write(target, Opcode::rc_write_only, static_cast<std::uint32_t>(4 + shop.below(128)));
}

template <typename Change>
void several(Workshop& shop, Target& target, Shot& shot, Change change) {
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = legal_write(shop, target);
    change(draft);
    shop.attack(shot, draft);
  }
}

void icrc(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) { draft.wrong_icrc_bits = 1U << shop.below(32); });
}
void p_key(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    draft.bth.p_key = PKey{shop.any_of<std::uint16_t>({0, 0x8000, 0x8001, 0x1234, 0xFFFE, 0x7FFE})};
  });
}
void limited_p_key(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = legal_write(shop, target);
  draft.bth.p_key = PKey{0x7FFF};
  shop.attack(shot, draft);
}
void dest_qp(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    const std::uint32_t own = target.qpn.value();
    draft.bth.dest_qp = Qpn{
        shop.any_of({own + 1, own - 1, own + 1024, own ^ 0x80'0000, 0U, 1U, 0xFF'FFFFU,
                     static_cast<std::uint32_t>(own + shop.below(64)) + 1, static_cast<std::uint32_t>(shop.number())})};
    // If another target took it for an earlier request of its own, that request would appear to be executed twice.
    if (const Target* other = shop.find(draft.bth.dest_qp)) {
      draft.bth.psn = other->psn + static_cast<std::uint32_t>(1024 + shop.below(1 << 20));
    }
  });
}
void version(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) { draft.bth.version = static_cast<std::uint8_t>(1 + shop.below(15)); });
}
void bth_bits(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = legal_write(shop, target);
  draft.bth.solicited = shop.below(2) == 0;
  draft.bth.mig_req = shop.below(2) == 0;
  draft.bth.fecn = shop.below(2) == 0;
  draft.bth.becn = shop.below(2) == 0;
  draft.bth.reserved1 = static_cast<std::uint8_t>(shop.below(64));
  draft.bth.reserved2 = static_cast<std::uint8_t>(shop.below(128));
  shop.attack(shot, draft);
}
void other_opcode(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    do {
      draft.bth.opcode = static_cast<Opcode>(0x15 + shop.below(256 - 0x15));
    } while (opcode_info(draft.bth.opcode).defined() && (opcode_info(draft.bth.opcode).service == Service::rc ||
                                                         opcode_info(draft.bth.opcode).service == Service::cnp));
  });
}
void notification(Workshop& shop, Target& target, Shot& shot) {
  for (unsigned i = 0; i < 5; ++i) {
    Draft draft = shop.frame(target, Opcode::cnp);
    draft.bth.ack_req = shop.below(2) == 0;
    draft.bth.becn = shop.below(2) == 0;
    draft.bth.psn = Psn{static_cast<std::uint32_t>(shop.number())};
    CnpReserved reserved;
    for (std::byte& byte : reserved.reserved) byte = static_cast<std::byte>(shop.number());
    draft.cnp = reserved;
    shop.attack(shot, draft);
  }
}

void udp_length(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    draft.wrong_udp_length = shop.any_of({-4, 4, -1, 1, -20, 60000, -60});
    // RoCE v1 does not use UDP.
    if (draft.version == RoceVersion::v1) draft.wrong_ip_length = draft.wrong_udp_length;
  });
}
void ip_length(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    draft.wrong_ip_length = shop.any_of({-4, 4, -1, 1, -30, 60000, -70});
  });
}
void cut_short(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) { draft.cut = 1 + shop.below(80); });
}
void trailing(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = legal_write(shop, target);
  draft.trailer = shop.bytes(1 + shop.below(40));
  shop.attack(shot, draft);
}
/// Changes the source or the destination address of either version of IP.
void other_address(Workshop& shop, Target& target, Shot& shot, bool is_source) {
  const auto address = [&](auto& header) -> auto& { return is_source ? header.source : header.destination; };
  several(shop, target, shot, [&](Draft& draft) {
    const auto flip = static_cast<std::uint8_t>(1 + shop.below(250));
    address(draft.ipv4).octets[3] ^= flip;
    address(draft.ipv6).octets[15] ^= flip;
    address(draft.grh).octets[15] ^= flip;
  });
}
void other_source(Workshop& shop, Target& target, Shot& shot) {
  other_address(shop, target, shot, true);
}
void other_destination(Workshop& shop, Target& target, Shot& shot) {
  other_address(shop, target, shot, false);
}
void encapsulation(Workshop& shop, Target& target, Shot& shot) {
  Route route = shop.route();
  const std::array versions{RoceVersion::v1, RoceVersion::v2_ipv4, RoceVersion::v2_ipv6};
  several(shop, target, shot, [&](Draft& draft) {
    do {
      route.version = versions[shop.below(versions.size())];
    } while (route.version == shop.route().version);
    Draft other{route, draft.bth.opcode, draft.bth.dest_qp, draft.bth.psn};
    other.bth = draft.bth;
    other.reth = draft.reth;
    other.payload = draft.payload;
    draft = other;
  });
}
void routed(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = legal_write(shop, target);
  const auto limit = shop.any_of<std::uint8_t>({1, 2, 255});
  draft.ipv4.ttl = draft.ipv6.hop_limit = draft.grh.hop_limit = limit;
  draft.ipv4.dscp = draft.ipv6.dscp = draft.grh.dscp = static_cast<std::uint8_t>(shop.below(64));
  draft.ipv4.ecn = draft.ipv6.ecn = draft.grh.ecn = static_cast<std::uint8_t>(shop.below(4));
  draft.ipv4.identification = static_cast<std::uint16_t>(shop.number());
  draft.ipv4.dont_fragment = shop.below(2) == 0;
  draft.ipv6.flow_label = draft.grh.flow_label = static_cast<std::uint32_t>(shop.below(1 << 20));
  draft.udp.source_port = static_cast<std::uint16_t>(1 + shop.below(65535));
  shop.attack(shot, draft);
}
void other_port(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    if (draft.version == RoceVersion::v1) draft.grh.next_header = IpProtocol::udp;
    draft.udp.destination_port = shop.any_of<std::uint16_t>({4790, 4792, 0, 53});
  });
}
void ip_header(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    switch (shop.below(5)) {
      case 0:
        draft.ipv4.version = draft.ipv6.version = draft.grh.version = shop.any_of<std::uint8_t>({0, 5, 7, 15});
        break;
      case 1:
        draft.ipv4.header_length = shop.any_of<std::uint8_t>({0, 4, 6, 15});
        draft.ipv6.next_header = draft.grh.next_header = IpProtocol::hop_by_hop;
        break;
      case 2:
        draft.ipv4.protocol = draft.ipv6.next_header = draft.grh.next_header = IpProtocol::tcp;
        break;
      case 3:
        draft.ipv4.more_fragments = true;
        draft.ipv6.next_header = draft.grh.next_header = IpProtocol::fragment;
        break;
      default:
        draft.ipv4.fragment_offset = static_cast<std::uint16_t>(1 + shop.below(100));
        draft.ipv6.next_header = draft.grh.next_header = IpProtocol::no_next;
        break;
    }
    draft.ipv4.dont_fragment = false;
  });
}
void ip_options(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    // No-operation options; for IPv6 a header of destination options with padding only.
    if (draft.version == RoceVersion::v2_ipv4) {
      draft.extension.assign(4 * (1 + shop.below(10)), std::byte{1});
      // A kernel accepts legal options: here a source route that is too short to be valid.
      if (shop.route().by_kernel) {
        draft.extension[0] = std::byte{0x83};
        draft.extension[1] = std::byte{2};
      }
      draft.ipv4.header_length = static_cast<std::uint8_t>(5 + draft.extension.size() / 4);
    } else {
      const IpProtocol upper = draft.version == RoceVersion::v1 ? IpProtocol::grh_bth : IpProtocol::udp;
      draft.extension = {static_cast<std::byte>(upper), std::byte{0}, std::byte{1}, std::byte{4}};
      draft.extension.resize(8);
      draft.ipv6.next_header = draft.grh.next_header = IpProtocol::destination_options;
    }
  });
}
void ip_checksum(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    // IPv6 and the GRH do not have a checksum: for them the version is wrong instead.
    draft.wrong_checksum_bits = static_cast<std::uint16_t>(1 + shop.below(0xFFFE));
    draft.ipv6.version = draft.grh.version = 5;
  });
}
void station(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    MacAddress& to = draft.ethernet.destination;
    // A kernel accepts a frame to a multicast address if the IP address in it is its own.
    switch (shop.below(shop.route().by_kernel ? 2 : 4)) {
      case 0:
        to.octets[5] ^= static_cast<std::uint8_t>(1 + shop.below(255));
        break;
      case 1:
        to = MacAddress{{0x02, 0x55, 0x55, 0, 0, 1}};
        break;
      case 2:
        to.octets.fill(0xFF);
        break;
      default:
        to = MacAddress{{0x01, 0, 0x5E, 1, 2, static_cast<std::uint8_t>(shop.below(256))}};
        break;
    }
  });
}
void vlan(Workshop& shop, Target& target, Shot& shot) {
  several(shop, target, shot, [&](Draft& draft) {
    const EtherType inner = draft.ethernet.ether_type;
    draft.ethernet.ether_type = EtherType::vlan;
    draft.tags.push_back({.priority = static_cast<std::uint8_t>(shop.below(8)),
                          .vlan_id = static_cast<std::uint16_t>(1 + shop.below(4094)),
                          .ether_type = inner});
    if (shop.below(3) == 0) {
      draft.tags.front().ether_type = EtherType::vlan;
      draft.tags.push_back({.vlan_id = static_cast<std::uint16_t>(1 + shop.below(4094)), .ether_type = inner});
    }
  });
}
void priority_tag(Workshop& shop, Target& target, Shot& shot) {
  Draft draft = legal_write(shop, target);
  draft.tags.push_back(
      {.priority = static_cast<std::uint8_t>(shop.below(8)), .vlan_id = 0, .ether_type = draft.ethernet.ether_type});
  draft.ethernet.ether_type = EtherType::vlan;
  shop.attack(shot, draft);
}

constexpr Role rc = Role::rc;
constexpr std::array kKinds{
    Kind{"ICRC", rc, 4, Fate::dropped, kIcrc, icrc},
    Kind{"P_Key", rc, 4, Fate::dropped, kPKey, p_key},
    Kind{"P_Key: limited member", rc, 1, Fate::may_execute, {}, limited_p_key},
    Kind{"QP of somebody else", rc, 4, Fate::dropped, kNobody, dest_qp},
    Kind{"BTH version", rc, 3, Fate::dropped, {.counters = {"malformed"}}, version},
    Kind{"BTH reserved bits and flags", rc, 3, Fate::may_execute, {}, bth_bits},
    Kind{"opcode: other service, undefined",
         rc,
         4,
         Fate::dropped,
         {.counters = {"wrong_state", "malformed"}},
         other_opcode},
    Kind{"CNP", rc, 3, Fate::dropped, {.counters = {"cnps_handled", "cnps_ignored"}}, notification},
    Kind{"UDP length", rc, 3, Fate::dropped, kNetwork, udp_length},
    Kind{"IP length", rc, 3, Fate::dropped, kNetwork, ip_length},
    Kind{"cut short", rc, 4, Fate::dropped, kNetwork, cut_short},
    Kind{"bytes behind the ICRC", rc, 2, Fate::may_execute, {}, trailing},
    Kind{"source address", rc, 3, Fate::dropped, kNetwork, other_source},
    Kind{"destination address", rc, 3, Fate::dropped, kNetwork, other_destination},
    Kind{"encapsulation", rc, 3, Fate::dropped, kNetwork, encapsulation},
    Kind{"hop limit, DSCP, ECN, UDP source port", rc, 3, Fate::may_execute, {}, routed},
    Kind{"UDP destination port", rc, 1, Fate::dropped, kNetwork, other_port},
    Kind{"IP header", rc, 3, Fate::dropped, kNetwork, ip_header},
    Kind{"IP options, extension headers", rc, 2, Fate::dropped, kNetwork, ip_options},
    Kind{"IP checksum", rc, 2, Fate::dropped, kNetwork, ip_checksum},
    Kind{"destination MAC address", rc, 3, Fate::dropped, kNetwork, station},
    Kind{"VLAN", rc, 3, Fate::dropped, kNetwork, vlan},
    Kind{"VLAN: priority tag", rc, 1, Fate::may_execute, {}, priority_tag}};

}  // namespace

std::span<const Kind> network_kinds() {
  return kKinds;
}

}  // namespace roce::attack
