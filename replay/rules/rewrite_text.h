// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "replay/rules/rewrite_rules.h"

namespace roce::replay {

/// Parsers of rules as people write them. Each reads one text into the rules; the error is a sentence
/// that states what was expected and what was found.
template <typename T = void>
using ReadResult = tl::expected<T, std::string>;

/// Reads `192.0.2.1=198.51.100.1`, `192.0.2.0/24=2001:db8::/120`: both prefixes leave the same number of bits.
[[nodiscard]] ReadResult<> read_ip_map(std::string_view text, RewriteRules& rules);
/// Reads `02:00:00:00:00:01=02:00:00:00:00:02`.
[[nodiscard]] ReadResult<> read_mac_map(std::string_view text, RewriteRules& rules);
/// Reads `02:00:00:00:00:01`.
[[nodiscard]] ReadResult<MacAddress> read_mac(std::string_view text);
/// Reads `5=6`.
[[nodiscard]] ReadResult<> read_vlan_map(std::string_view text, RewriteRules& rules);
/// Reads `5` or `5:3`: VLAN ID and priority.
[[nodiscard]] ReadResult<> read_vlan_tag(std::string_view text, RewriteRules& rules);
/// A queue pair of one host, or of any.
struct QpName {
  Qpn qpn{};
  std::optional<Gid> owner{};
};
/// Reads `0x11`, `0x11@192.0.2.1`.
[[nodiscard]] ReadResult<QpName> read_qp(std::string_view text);
/// Reads `0x11=0x99`, `0x11@192.0.2.1=0x99`.
[[nodiscard]] ReadResult<> read_qpn_map(std::string_view text, RewriteRules& rules);
/// Reads `5`, `-5`.
[[nodiscard]] ReadResult<> read_psn_offset(std::string_view text, RewriteRules& rules);
/// Each reads `0x1234=0x5678`.
[[nodiscard]] ReadResult<> read_p_key_map(std::string_view text, RewriteRules& rules);
[[nodiscard]] ReadResult<> read_q_key_map(std::string_view text, RewriteRules& rules);
[[nodiscard]] ReadResult<> read_r_key_map(std::string_view text, RewriteRules& rules);
/// Reads `0x7f0000000000+0x1000=0x10000`; without a length, all up to the end of the address space.
[[nodiscard]] ReadResult<> read_va_map(std::string_view text, RewriteRules& rules);
/// Reads `keep`, `flow-label`, `random` or a number.
[[nodiscard]] ReadResult<> read_source_port(std::string_view text, RewriteRules& rules);
/// Reads `bth.p_key=0xffff`, `vlan[1].vid=5`.
[[nodiscard]] ReadResult<> read_field_setting(std::string_view text, RewriteRules& rules);

}  // namespace roce::replay
