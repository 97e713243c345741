// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/wire/header.h"

namespace roce {

/// Returns the field table: every header that this codec knows, with every field, in the order of `HeaderId`.
/// The table is made from the rows beside each header struct, from which parse and emit are made too;
/// all lists of fields come from it.
[[nodiscard]] std::span<const HeaderInfo> header_table();

/// Returns the table's row of a header, or of a place that an error can name (`payload`, `icrc`).
[[nodiscard]] const HeaderInfo& header_info(HeaderId id);
/// Returns the row of a header by its text name (`bth`), or null.
[[nodiscard]] const HeaderInfo* find_header(std::string_view name);
/// Returns a field of a header by its text name (`psn`), or null.
[[nodiscard]] const FieldInfo* find_field(const HeaderInfo& header, std::string_view name);

/// Returns the number in a field of at most 64 bits; `header` holds the header's bytes.
[[nodiscard]] std::uint64_t field_number(const FieldInfo& field, Bytes header);
/// Writes the low bits of `value` into a field of at most 64 bits.
void set_field_number(const FieldInfo& field, std::span<std::byte> header, std::uint64_t value);
/// True if the field is a run of whole bytes (an address, a GID, opaque bytes) and not a number.
[[nodiscard]] bool is_octets(const FieldInfo& field);
/// Returns the bytes of a field for which `is_octets` is true.
[[nodiscard]] Bytes field_octets(const FieldInfo& field, Bytes header);

/// Returns the field's value as text: `1234`, `0x12b7`, `true`, `02:00:00:00:00:01`, `192.0.2.1`, hex digits.
/// `set_field_text` reads it back to the same bits.
[[nodiscard]] std::string field_text(const FieldInfo& field, Bytes header);

/// Sets a field from text: decimal, 0x hex or one of the field's value names for a number;
/// `true`/`false` for one bit; an address in its usual form;
/// hex digits for bytes (if fewer than the field has, the rest is zero). Error: what was expected.
[[nodiscard]] tl::expected<void, std::string> set_field_text(const FieldInfo& field, std::span<std::byte> header,
                                                             std::string_view text);

}  // namespace roce
