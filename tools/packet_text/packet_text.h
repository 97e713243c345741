// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fmt/compile.h>
#include <fmt/format.h>

#include <iterator>
#include <string>

#include "roce/wire/header.h"
#include "roce/wire/packet.h"
#include "text/palette.h"
#include "text/text_buffer.h"

namespace roce::packet_text {

/// Appends what is particular to a RoCE, PFC or PAUSE packet or a CNM; two spaces precede each item. The contents of an
/// AETH come first, then addresses and keys, data, marks.
void append_packet_text(text::TextBuffer& out, const Packet& packet, const text::Palette& palette);

/// Returns a field of a header as the name of its value, or as the field table shows it.
[[nodiscard]] std::string value_text(const FieldInfo& field, Bytes header);

/// Returns an address of an RDMA IP CM header as IPv4; nothing if the field is another, or does not hold an IPv4
/// address.
[[nodiscard]] std::string ipv4_text(const HeaderInfo& header, const FieldInfo& field, Bytes bytes);

/// Appends an item, preceded by two spaces.
template <typename Format, typename... Args>
void append_item(text::TextBuffer& out, const Format& format, const Args&... args) {
  text::append(out, "  ");
  fmt::format_to(std::back_inserter(out), format, args...);
}

}  // namespace roce::packet_text
