// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "conform/language/case.h"
#include "conform/run/outcome.h"
#include "roce/transport/qp_attributes.h"
#include "roce/wire/packet.h"

namespace roce::conform {

/// True if `seen` is one of the values that a pattern allows. Error: an expression has no value.
[[nodiscard]] Evaluated<bool> allows(const FieldPattern& field, const Value& seen, const Scope& scope);
/// Returns what a pattern wants, with the values that its expressions have: `16777199`, `0..31`, `not 7`.
[[nodiscard]] std::string wanted_text(const FieldPattern& field, const Scope& scope);

/// Compares a frame with a pattern for one frame: its opcode, then its fields.
[[nodiscard]] CaseResult<std::vector<Comparison>> compare_frame(const FramePattern& pattern, transport::QpType type,
                                                                const Packet& packet, const Scope& scope);
/// True if all fields are right.
[[nodiscard]] bool is_right(const std::vector<Comparison>& fields);

/// Returns the value of a field of a packet, or of `payload` (hex digits), `payload_length`, `opcode`, `network` (hex
/// digits of the IP header), `network_length`.
[[nodiscard]] std::optional<Value> field_value(const Packet& packet, const std::string& name);

/// Returns bytes as hex digits.
[[nodiscard]] std::string hex_text(Bytes bytes);

}  // namespace roce::conform
