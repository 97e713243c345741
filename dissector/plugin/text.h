// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>

#include "plugin/records.h"
#include "roce/analysis/verdict.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace roce::plugin {

/// A text of limited length, cut where it is longer, that ends with a zero. Without a destructor, since Wireshark
/// leaves a dissector by a jump.
struct Text {
  std::array<char, 256> characters{};

  [[nodiscard]] const char* c_str() const { return characters.data(); }
  [[nodiscard]] bool empty() const { return characters[0] == '\0'; }
};

// None of these throws: a text for which there is no memory is empty.

/// A packet in one line, for the Info column.
[[nodiscard]] Text packet_text(const Packet& packet) noexcept;
/// What tells a header from others of its kind.
[[nodiscard]] Text header_text(const Packet& packet, HeaderId id) noexcept;
/// What stopped the parser.
[[nodiscard]] Text problem_text(const Packet& packet) noexcept;
/// Why the ICRC is what it is; `base` is where the packet's bytes begin in the frame.
[[nodiscard]] Text icrc_text(const Packet& packet, const IcrcVerdict& icrc, std::uint32_t base) noexcept;
/// A sentence about a verdict.
[[nodiscard]] Text verdict_text(const analysis::Verdict& verdict) noexcept;
/// The identifier of a rule.
[[nodiscard]] Text rule_text(analysis::Rule rule) noexcept;
/// One end of a stream: `192.0.2.1 QP 0x000011`, or the address alone.
[[nodiscard]] Text end_text(const Gid& address, std::optional<Qpn> qpn) noexcept;
/// The mark of a verdict in the Info column, without brackets: `Retransmission`, `NAK: Sequence Error`.
[[nodiscard]] Text verdict_mark(analysis::VerdictKind kind) noexcept;

}  // namespace roce::plugin
