// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "roce/analysis/verdict.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "wireshark/parts/records.h"

namespace roce::plugin {

/// A null-terminated text of limited length, cut if it is longer. It has no destructor, since Wireshark may leave a
/// dissector by a jump.
struct Text {
  std::array<char, 256> characters{};

  [[nodiscard]] const char* c_str() const { return characters.data(); }
  [[nodiscard]] bool empty() const { return characters[0] == '\0'; }
};

/// Returns a text, cut if it is too long.
[[nodiscard]] Text to_text(std::string_view source) noexcept;

// None of these functions throws: a text for which memory runs out is empty.

/// Returns a packet in one line, for the Info column.
[[nodiscard]] Text packet_text(const Packet& packet) noexcept;
/// Returns the values that distinguish a header from others of its kind.
[[nodiscard]] Text header_text(const Packet& packet, HeaderId id) noexcept;
/// Returns the name of an opcode: `RC SEND only`.
[[nodiscard]] Text opcode_text(Opcode opcode) noexcept;
/// Returns the meaning of an AETH's syndrome: `RNR NAK 0.64 ms`.
[[nodiscard]] Text syndrome_text(AethSyndrome syndrome) noexcept;
/// Returns the reason why the parser stopped.
[[nodiscard]] Text problem_text(const Packet& packet) noexcept;
/// Returns the explanation of the ICRC; `base` is the offset of the packet's bytes in the frame.
[[nodiscard]] Text icrc_text(const Packet& packet, const IcrcVerdict& icrc, std::uint32_t base) noexcept;
/// Returns a sentence about a verdict.
[[nodiscard]] Text verdict_text(const analysis::Verdict& verdict) noexcept;
/// Returns the name of a kind of verdict, as in filters.
[[nodiscard]] Text verdict_name(analysis::VerdictKind kind) noexcept;
[[nodiscard]] Text cause_name(analysis::Cause cause) noexcept;
/// Returns the identifier of a rule.
[[nodiscard]] Text rule_text(analysis::Rule rule) noexcept;
/// Returns one end of a stream: `192.0.2.1 QP 0x000011`, or the address alone.
[[nodiscard]] Text end_text(const Gid& address, std::optional<Qpn> qpn) noexcept;
/// Returns one end of a stream with the number of the stream: `192.0.2.1 QP 0x000011 #3`.
[[nodiscard]] Text numbered_end_text(const Gid& address, std::optional<Qpn> qpn, std::uint32_t stream) noexcept;
/// Returns the mark of a verdict in the Info column, without brackets: `Retransmission`, `NAK: Sequence Error`.
[[nodiscard]] Text verdict_mark(analysis::VerdictKind kind) noexcept;

}  // namespace roce::plugin
