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

/// What carries the packets in the output. Without a choice the version stays, and with it v2 the kind of IP header
/// that the addresses ask for.
enum class ToVersion : std::uint8_t {
  same,
  v1,
  v2,  ///< over IPv4 or IPv6, as the addresses are
  v2_ipv4,
  v2_ipv6,
};

/// The UDP source ports of RoCE v2 packets. Packets that were v1 get one from their flow label with `keep`.
enum class SourcePort : std::uint8_t {
  keep,
  fixed,       ///< `RewriteRules::udp_source_port`
  flow_label,  ///< as Linux derives it (`transport::udp_source_port`); over IPv4 from the destination QP
  random,      ///< one for each destination QP and pair of addresses
};

/// Addresses that become others: `from.gid` becomes `to`, and what has the same first `from.bits` bits keeps the rest.
struct GidRule {
  transport::GidPrefix from{};
  Gid to{};
};

/// A QPN that becomes another one, of all hosts or of that with this address in the input.
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

/// A field of the field table that is set: in the innermost header of its kind, or in that with `index` from outside.
struct FieldSetting {
  const HeaderInfo* header = nullptr;
  const FieldInfo* field = nullptr;
  std::optional<std::size_t> index{};
  std::string value;  ///< as `set_field_text` takes it
};

/// The secret that pseudonyms depend on: the same key, the same pseudonyms.
using PseudonymKey = std::array<std::uint64_t, 2>;

/// What `Rewriter` changes. Of several rules of one kind the first that fits counts; of `ips` the longest prefix.
struct RewriteRules {
  bool strip_tunnels = false;
  bool only_roce = false;  ///< leaves out what is no RoCE packet

  std::map<MacAddress, MacAddress> macs{};
  std::optional<MacAddress> source_mac{};  ///< of RoCE packets that no rule of `macs` names, and so on
  std::optional<MacAddress> destination_mac{};
  bool remove_vlan = false;
  std::optional<VlanTag> add_vlan{};
  std::map<std::uint16_t, std::uint16_t> vlans{};
  std::optional<std::uint8_t> pcp{};  ///< 0 … 7, of every tag

  std::vector<GidRule> ips{};
  /// Unicast addresses of RoCE packets that `ips` do not cover stay; else they are an error, where there are `ips`.
  bool keep_unmapped = false;
  ToVersion version = ToVersion::same;
  std::optional<std::uint8_t> dscp{};       ///< 0 … 63
  std::optional<std::uint8_t> ecn{};        ///< 0 … 3
  std::optional<std::uint8_t> hop_limit{};  ///< TTL
  SourcePort source_port = SourcePort::keep;
  std::uint16_t udp_source_port = 0;

  std::vector<QpnRule> qpns{};
  /// What the messages of connections are cut into, in bytes; 0: packets stay as they are. Done by a `Segmenter`, in
  /// front of all that `Rewriter` does.
  std::uint32_t path_mtu = 0;
  std::uint32_t psn_offset = 0;  ///< is added to all PSNs, modulo 2^24
  std::map<std::uint64_t, std::uint64_t> p_keys{};
  std::map<std::uint64_t, std::uint64_t> q_keys{};
  std::map<std::uint64_t, std::uint64_t> r_keys{};
  std::vector<VirtualAddressRule> virtual_addresses{};
  std::vector<FieldSetting> fields{};

  /// Addresses, keys and payload become pseudonyms, where no other rule names them.
  std::optional<PseudonymKey> anonymise{};

  bool keep_bad_icrc = false;       ///< ICRCs that were wrong stay so, in the same bits; else they are made right
  bool keep_bad_checksums = false;  ///< likewise IPv4, UDP, TCP and ICMPv6 checksums
  std::uint64_t seed = 0;           ///< of random source ports
};

}  // namespace roce::replay
