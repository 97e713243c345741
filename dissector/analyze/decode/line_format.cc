// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/decode/line_format.h"

#include <cstring>

#include "analyze/decode/line_info.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/opcode.h"

namespace roce::analyze {

namespace {

std::string_view kind_name(PacketKind kind) {
  switch (kind) {
    case PacketKind::pfc:
      return "PFC";
    case PacketKind::pause:
      return "PAUSE";
    case PacketKind::mac_control:
      return "MAC control";
    case PacketKind::lldp:
      return "LLDP";
    case PacketKind::cnm:
      return "CNM";
    default:
      return "other";
  }
}

}  // namespace

std::string_view AddressTexts::text(const Gid& address) {
  // The addresses of a network differ in their last bytes.
  std::uint64_t low = 0;
  std::memcpy(&low, address.octets.data() + 8, sizeof low);
  constexpr std::uint64_t kMix = 0x9E37'79B9'7F4A'7C15;
  Entry& entry = entries_[low * kMix >> 56];
  if (entry.text.empty() || entry.address != address) entry = {address, to_string(address)};
  return entry.text;
}

void LineFormat::append_packet(text::TextBuffer& out, const packet_text::DecodedPacket& decoded) {
  const packet_text::FrameInfo& frame = decoded.frame;
  const Packet& packet = decoded.packet;
  if (options_.with_file) {
    text::append_printable(out, frame.file);
    text::append(out, ": ");
  }
  append_number_and_time(out, frame);
  append_addresses(out, decoded.whole);
  constexpr std::size_t kQpWidth = 13;
  constexpr std::size_t kPsnWidth = 14;
  if (packet.is_roce()) {
    const Bth bth = packet.bth();
    text::append(out, "  QP ");
    text::append_hex(out, bth.dest_qp.value(), 6);
    text::append(out, "  ");
    const std::string_view name = opcode_info(bth.opcode).name;
    if (name.empty()) {
      text::TextBuffer text;
      text::append(text, "opcode ");
      text::append_hex(text, static_cast<std::uint64_t>(bth.opcode), 2);
      append_column(out, {text.data(), text.size()}, opcode_width_, false);
    } else {
      append_column(out, name, opcode_width_, false);
    }
    text::append(out, "  PSN ");
    text::append_number_left(out, bth.psn.value(), 8);
  } else {
    text::append_spaces(out, kQpWidth + 2);
    append_column(out, kind_name(packet.kind()), opcode_width_, false);
    text::append_spaces(out, kPsnWidth);
  }
  text::append(out, "  len ");
  text::append_number_left(out, frame.segment != 0 ? packet.reported_length() : frame.length, 4);
  append_verdict(out, decoded);
  append_info(out, decoded, options_.palette);
  if (frame.drops.value_or(0) != 0) {
    text::append(out, "  ");
    text::append(out, options_.palette.caution);
    text::append(out, "[the capture lost ");
    text::append_number(out, *frame.drops);
    text::append(out, " before]");
    text::append(out, options_.palette.reset);
  }
  if (options_.explain && decoded.icrc.status == IcrcStatus::bad) {
    text::append(out, "  ICRC: ");
    text::append(out, to_string(explain_icrc(packet), packet, decoded.base));
  }
  // Columns are padded for the next one; the last column of a line does not need that.
  while (out.size() > 0 && out[out.size() - 1] == ' ') out.resize(out.size() - 1);
  out.push_back('\n');
}

void LineFormat::append_number_and_time(text::TextBuffer& out, const packet_text::FrameInfo& frame) {
  text::append_number(out, frame.number, 6);
  if (frame.segment != 0) {
    out.push_back('.');
    text::append_number(out, frame.segment);
  }
  out.push_back(' ');
  if (!frame.time_ns) {
    text::append(out, "         -");
  } else if (options_.time == TimeStyle::utc) {
    utc_.append(out, *frame.time_ns, frame.time_digits);
  } else {
    const std::int64_t ns = options_.time == TimeStyle::epoch ? *frame.time_ns : frame.relative_ns;
    packet_text::append_seconds(out, ns, frame.time_digits, frame.time_digits + 5);
  }
  text::append(out, "  ");
}

void LineFormat::append_addresses(text::TextBuffer& out, const Packet& whole) {
  const std::string_view arrow = options_.charset == text::Charset::utf8 ? " → " : " -> ";
  if (whole.network_header() != HeaderId::none) {
    const NetMeta net = whole.net();
    append_column(out, addresses_.text(net.source), source_width_, true);
    text::append(out, arrow);
    append_column(out, addresses_.text(net.destination), destination_width_, false);
  } else if (const std::optional<Ethernet> ethernet = whole.get<Ethernet>()) {
    append_column(out, to_string(ethernet->source), source_width_, true);
    text::append(out, arrow);
    append_column(out, to_string(ethernet->destination), destination_width_, false);
  } else {
    append_column(out, "-", source_width_, true);
    text::append(out, arrow);
    append_column(out, "-", destination_width_, false);
  }
}

void LineFormat::append_column(text::TextBuffer& out, std::string_view text, std::size_t& width, bool right) {
  if (text.size() > width) width = text.size();
  right ? text::append_right(out, text, width) : text::append_left(out, text, width);
}

void LineFormat::append_verdict(text::TextBuffer& out, const packet_text::DecodedPacket& decoded) {
  if (!decoded.packet.is_roce()) return text::append_spaces(out, 11);
  text::append(out, "  ICRC ");
  switch (decoded.icrc.status) {
    case IcrcStatus::good:
      return text::append(out, "good");
    case IcrcStatus::bad:
      text::append(out, options_.palette.bad);
      text::append(out, "bad");
      text::append(out, options_.palette.reset);
      out.push_back(' ');
      return;
    case IcrcStatus::not_checked:
      text::append(out, options_.palette.caution);
      text::append(out, to_string(decoded.icrc));
      text::append(out, options_.palette.reset);
      return;
    case IcrcStatus::good_for_ip_id:
      return text::append(out, to_string(decoded.icrc));
  }
}

}  // namespace roce::analyze
