// SPDX-License-Identifier: BSD-2-Clause
#include "packet_text/verbose_format.h"

#include <fmt/format.h>

#include <iterator>
#include <string>

#include "packet_text/packet_text.h"
#include "roce/wire/aeth.h"
#include "roce/wire/fields.h"
#include "roce/wire/visit.h"

namespace roce::packet_text {

namespace {

template <typename... Args>
void print(text::TextBuffer& out, fmt::format_string<Args...> format, Args&&... args) {
  fmt::format_to(std::back_inserter(out), format, std::forward<Args>(args)...);
}

/// Returns `42`, or `42:2-3` for a field that is not a whole number of bytes.
std::string place(const FieldInfo& field, std::size_t header_offset) {
  const std::size_t byte = header_offset + field.byte_offset();
  const std::size_t first = field.bit_offset % 8U;
  if (first == 0 && field.bit_width % 8 == 0) return fmt::format("{}", byte);
  if (field.bit_width == 1) return fmt::format("{}:{}", byte, first);
  return fmt::format("{}:{}-{}", byte, first, first + field.bit_width - 1);
}

void append_hex_lines(text::TextBuffer& out, std::size_t offset, Bytes bytes) {
  constexpr std::size_t kRow = 16;
  for (std::size_t start = 0; start < bytes.size(); start += kRow) {
    const Bytes row = bytes.subspan(start, std::min(kRow, bytes.size() - start));
    print(out, "  {:>8} ", offset + start);
    for (const std::byte byte : row) print(out, " {:02x}", std::to_integer<unsigned>(byte));
    text::append_spaces(out, 3 * (kRow - row.size()) + 2);
    for (const std::byte byte : row) {
      const auto c = std::to_integer<unsigned char>(byte);
      out.push_back(c >= 0x20 && c < 0x7F ? static_cast<char>(c) : '.');
    }
    out.push_back('\n');
  }
}

}  // namespace

void VerboseFormat::append_packet(text::TextBuffer& out, const DecodedPacket& decoded) {
  const Packet& packet = decoded.packet;
  append_frame(out, decoded.frame);
  append_headers(out, decoded);
  // The bytes after the last header of LLDP are its TLVs, which have been shown.
  if (packet.payload_length() != 0 && packet.kind() != PacketKind::lldp) {
    append_bytes(out, packet.is_roce() ? "payload" : "data", decoded.base + packet.payload_offset(), packet.payload(),
                 packet.payload_length());
  }
  if (packet.is_roce()) append_icrc(out, decoded);
  const ParseError& problem = packet.problem();
  if (problem.reason != ParseReason::none) {
    print(out, "{}{}{}\n", options_.palette.caution, to_string(problem), options_.palette.reset);
  }
  out.push_back('\n');
}

void VerboseFormat::append_frame(text::TextBuffer& out, const FrameInfo& frame) {
  print(out, "Frame {}", frame.number);
  if (frame.segment != 0)
    print(out, ".{} (packet {} of {} in a super-frame)", frame.segment, frame.segment, frame.segments);
  text::append(out, " of ");
  text::append_printable(out, frame.file);
  print(out, ": {} bytes on the wire, {} captured", frame.length, frame.captured);
  if (frame.time_ns) {
    text::append(out, ", ");
    utc_.append(out, *frame.time_ns, frame.time_digits);
    text::append(out, " (");
    append_seconds(out, frame.relative_ns, frame.time_digits);
    text::append(out, " s)");
  }
  if (!frame.interface_name.empty()) {
    text::append(out, ", interface ");
    text::append_printable(out, frame.interface_name);
  }
  out.push_back('\n');
  if (!frame.comment.empty()) {
    text::append(out, "  comment: ");
    text::append_printable(out, frame.comment);
    out.push_back('\n');
  }
  if (frame.drops.value_or(0) != 0) print(out, "  the capture lost {} packets before this one\n", *frame.drops);
}

void VerboseFormat::append_headers(text::TextBuffer& out, const DecodedPacket& decoded) {
  visit_decoded(decoded, [&](const HeaderInfo& header, Bytes bytes, std::size_t offset) {
    print(out, "{} at byte {}, {} bytes\n", header.title, offset, bytes.size());
    if (header.fields.empty()) append_hex_lines(out, offset, bytes);
    for (const FieldInfo& field : header.fields) {
      print(out, "  {:>8}  {:<30} {}", place(field, offset), fmt::format("{}.{}", header.name, field.name),
            field_text(field, bytes));
      std::string name = ipv4_text(header, field, bytes);
      if (!is_octets(field)) name = field.value_name(field_number(field, bytes));
      if (header.id == HeaderId::aeth && field.name == "syndrome") {
        name = to_string(read<Aeth>(bytes.data()).syndrome);
      }
      if (!name.empty()) print(out, " ({})", name);
      print(out, "  {}{}{}\n", options_.palette.faint, field.title, options_.palette.reset);
    }
  });
}

void VerboseFormat::append_bytes(text::TextBuffer& out, std::string_view name, std::uint32_t offset, Bytes bytes,
                                 std::uint32_t length) {
  print(out, "{} at byte {}, {} bytes", name, offset, length);
  if (bytes.size() < length) print(out, ", {} captured", bytes.size());
  out.push_back('\n');
  if (options_.payload) append_hex_lines(out, offset, bytes);
}

void VerboseFormat::append_icrc(text::TextBuffer& out, const DecodedPacket& decoded) {
  const Packet& packet = decoded.packet;
  const IcrcVerdict& icrc = decoded.icrc;
  if (!packet.pad().empty()) {
    const std::uint32_t offset = decoded.base + packet.payload_offset() + packet.payload_length();
    append_bytes(out, "pad", offset, packet.pad(), static_cast<std::uint32_t>(packet.pad().size()));
  }
  if (packet.has_icrc()) {
    print(out, "ICRC at byte {}, 4 bytes\n", decoded.base + packet.icrc_offset());
    print(out, "  {:>8}  {:<30} 0x{:08x}\n", decoded.base + packet.icrc_offset(), "icrc.stored", packet.stored_icrc());
    print(out, "  {:>8}  {:<30} 0x{:08x}\n", "", "icrc.computed", icrc.computed);
  } else {
    text::append(out, "ICRC\n");
  }
  std::string_view colour;
  if (icrc.status == IcrcStatus::bad) colour = options_.palette.bad;
  if (icrc.status == IcrcStatus::not_checked) colour = options_.palette.caution;
  print(out, "  {:>8}  {:<30} {}{}{}\n", "", "icrc.status", colour, to_string(icrc), options_.palette.reset);
  if (options_.explain && icrc.status == IcrcStatus::bad) {
    print(out, "  {:>8}  {:<30} {}\n", "", "icrc.explanation", to_string(explain_icrc(packet), packet, decoded.base));
  }
  if (!packet.trailer().empty()) {
    const auto size = static_cast<std::uint32_t>(packet.trailer().size());
    append_bytes(out, "trailer", decoded.base + packet.icrc_offset() + 4, packet.trailer(), size);
  }
}

}  // namespace roce::packet_text
