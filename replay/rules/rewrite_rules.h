// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "roce/transport/address.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/fields.h"
#include "roce/wire/types.h"

namespace roce::replay {

/// The encapsulation of the packets in the output. By default the RoCE version stays, and v2 packets get
/// the kind of IP header that the addresses ask for.
enum class ToVersion : std::uint8_t {
  same,
  v1,
  v2,  ///< over IPv4 or IPv6, depending on the addresses
  v2_ipv4,
  v2_ipv6,
};

/// The UDP source ports of RoCE v2 packets. With `keep`, packets that were v1 get one from their flow label.
enum class SourcePort : std::uint8_t {
  keep,
  fixed,       ///< `RewriteRules::udp_source_port`
  flow_label,  ///< as Linux derives it (`transport::udp_source_port`); over IPv4 from the destination QP
  random,      ///< one for each destination QP and pair of addresses
};

/// Addresses that become others: `from.gid` becomes `to`; one with equal first `from.bits` bits keeps its other bits.
struct GidRule {
  transport::GidPrefix from{};
  Gid to{};
};

/// A QPN that becomes another one, on all hosts or on the one with this address in the input.
struct QpnRule {
  Qpn from{};
  std::optional<Gid> owner{};
  Qpn to{};
};

/// Virtual addresses [start, start + length) become [to, to + length); a length of 0 is 2^64.
struct VirtualAddressRule {
  std::uint64_t start = 0;
  std::uint64_t length = 0;
  std::uint64_t to = 0;
};

/// A field of the field table to be set: in the innermost header of its kind, or in that with `index` from outside.
struct FieldSetting {
  const HeaderInfo* header = nullptr;
  const FieldInfo* field = nullptr;
  std::optional<std::size_t> index{};
  std::string value;  ///< as `set_field_text` takes it
};

/// Secret that pseudonyms depend on: equal keys give equal pseudonyms.
using PseudonymKey = std::array<std::uint64_t, 2>;

/// Changes that `Rewriter` makes. The first rule of a kind that fits counts, but the longest prefix among `ips`.
struct RewriteRules {
  bool strip_tunnels = false;
  bool only_roce = false;  ///< leaves out frames that are not RoCE packets

  std::map<MacAddress, MacAddress> macs{};
  std::optional<MacAddress> source_mac{};       ///< new source of RoCE packets that no rule of `macs` names
  std::optional<MacAddress> destination_mac{};  ///< the same for the destination
  bool remove_vlan = false;
  std::optional<VlanTag> add_vlan{};
  std::map<std::uint16_t, std::uint16_t> vlans{};
  std::optional<std::uint8_t> pcp{};  ///< 0 … 7, of every tag

  std::vector<GidRule> ips{};
  /// Unicast addresses of RoCE packets that `ips` do not cover stay; else they are an error if there are `ips`.
  bool keep_unmapped = false;
  ToVersion version = ToVersion::same;
  std::optional<std::uint8_t> dscp{};       ///< 0 … 63
  std::optional<std::uint8_t> ecn{};        ///< 0 … 3
  std::optional<std::uint8_t> hop_limit{};  ///< TTL or hop limit
  SourcePort source_port = SourcePort::keep;
  std::uint16_t udp_source_port = 0;

  std::vector<QpnRule> qpns{};
  /// Size that the messages of connections are cut into, in bytes; 0: packets stay as they are. A
  /// `Segmenter` does it, before all that `Rewriter` does.
  std::uint32_t path_mtu = 0;
  std::uint32_t psn_offset = 0;  ///< added to all PSNs, modulo 2^24
  std::map<std::uint64_t, std::uint64_t> p_keys{};
  std::map<std::uint64_t, std::uint64_t> q_keys{};
  std::map<std::uint64_t, std::uint64_t> r_keys{};
  std::vector<VirtualAddressRule> virtual_addresses{};
  std::vector<FieldSetting> fields{};

  /// Addresses, keys and payload that no other rule names become pseudonyms.
  std::optional<PseudonymKey> anonymise{};

  bool keep_bad_icrc = false;       ///< wrong ICRCs stay wrong, in the same bits; else they are made right
  bool keep_bad_checksums = false;  ///< the same for checksums of IPv4, UDP, TCP and ICMPv6
  std::uint64_t seed = 0;           ///< for random source ports and faults
};

}  // namespace roce::replay
