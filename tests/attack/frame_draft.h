// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roce/wire/aeth.h"
#include "roce/wire/atomiceth.h"
#include "roce/wire/bth.h"
#include "roce/wire/cnp.h"
#include "roce/wire/deth.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/feth.h"
#include "roce/wire/grh.h"
#include "roce/wire/ieth.h"
#include "roce/wire/immdt.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/net_meta.h"
#include "roce/wire/reth.h"
#include "roce/wire/udp.h"

namespace roce::attack {

/// The addresses of a frame from us to the peer.
struct Route {
  MacAddress own_mac;
  MacAddress peer_mac;
  Gid own;
  Gid peer;
  RoceVersion version = RoceVersion::v2_ipv4;
  bool by_kernel = false;  ///< the peer's kernel checks the layers below UDP
};

/// A frame before it becomes bytes: legal when made, then changed by an attack. Lengths, checksums and the ICRC follow
/// from the rest, so that they are right unless one of the `wrong` members makes them wrong.
struct Draft {
  Draft(const Route& route, Opcode opcode, Qpn dest_qp, Psn psn);

  [[nodiscard]] std::vector<std::byte> build() const;

  Ethernet ethernet;
  std::vector<VlanTag> tags;
  RoceVersion version;
  Ipv4 ipv4;
  Ipv6 ipv6;
  Grh grh;
  std::vector<std::byte> extension;  ///< IPv4 options, or IPv6 extension headers
  Udp udp;
  Bth bth;
  std::optional<Deth> deth;
  std::optional<Feth> feth;
  std::optional<Reth> reth;
  std::optional<AtomicEth> atomic;
  std::optional<Aeth> aeth;
  std::optional<AtomicAckEth> atomic_ack;
  std::optional<ImmDt> immediate;
  std::optional<Ieth> invalidate;
  std::optional<CnpReserved> cnp;
  std::vector<std::byte> payload;

  std::optional<std::uint8_t> wrong_pad_count;
  std::uint32_t wrong_icrc_bits = 0;
  std::uint16_t wrong_checksum_bits = 0;  ///< xored into the IPv4 header checksum
  int wrong_ip_length = 0;                ///< added to the length in the IP header
  int wrong_udp_length = 0;               ///< added to the length in the UDP header
  std::size_t cut = 0;                    ///< bytes removed from the end
  std::vector<std::byte> trailer;         ///< bytes behind the ICRC
};

}  // namespace roce::attack
