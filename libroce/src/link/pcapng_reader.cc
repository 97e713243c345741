// SPDX-License-Identifier: BSD-2-Clause
#include "link/pcapng_reader.h"

#include <algorithm>
#include <cstdio>
#include <limits>

#include "link/capture_format.h"

namespace roce::link::detail {

namespace {

constexpr std::size_t kBlockHeaderBytes = 8;  // type and total length
constexpr std::size_t kBlockTrailerBytes = 4;
constexpr std::size_t kSectionBodyBytes = 16;
constexpr std::size_t kInterfaceBodyBytes = 8;
constexpr std::size_t kStatisticsBodyBytes = 12;
constexpr std::size_t kEnhancedBodyBytes = 20;
constexpr std::size_t kSimpleBodyBytes = 4;
constexpr std::size_t kObsoleteBodyBytes = 20;

std::string hex(std::uint32_t value) {
  char text[11];
  std::snprintf(text, sizeof text, "0x%08X", value);
  return text;
}

bool is_read_whole(std::uint32_t type) {
  switch (type) {
    case kBlockSectionHeader:
    case kBlockInterface:
    case kBlockPacketObsolete:
    case kBlockSimplePacket:
    case kBlockStatistics:
    case kBlockEnhancedPacket:
      return true;
    default:
      return false;
  }
}

void set_text(std::string& text, Bytes value) {
  if (text.empty()) text = as_text(value).substr(0, kMaxText);
}

}  // namespace

bool PcapngReader::read_first_section(CaptureCursor& cursor) {
  CaptureRecord unused;
  return read_block(cursor, unused) == Step::skipped;
}

bool PcapngReader::next(CaptureCursor& cursor, CaptureRecord& record) {
  for (;;) {
    switch (read_block(cursor, record)) {
      case Step::packet:
        ++packets_;
        return true;
      case Step::stop:
        return false;
      case Step::skipped:
        break;
    }
  }
}

PcapngReader::Step PcapngReader::read_block(CaptureCursor& cursor, CaptureRecord& record) {
  const std::uint64_t offset = cursor.offset();
  if (cursor.available() < kBlockHeaderBytes && !window_.fill(cursor, kBlockHeaderBytes)) {
    if (cursor.available() == 0) return Step::stop;
    return end_inside(cursor, offset, kBlockHeaderBytes, "the header of a block");
  }
  const auto type = get<std::uint32_t>(cursor.next);
  if (type == kBlockSectionHeader && !begin_section(cursor)) return Step::stop;
  const auto length = get<std::uint32_t>(cursor.next + 4);
  if (length < kBlockOverhead || length % 4 != 0) {
    diagnostics_.fail(offset, "block of type " + hex(type) + " claims a length of " + std::to_string(length) +
                                  " bytes, which must be a multiple of 4 and at least 12; " + damaged_from_here());
    return Step::stop;
  }
  if (!is_read_whole(type)) return skip_block(cursor, type, length);
  if (length > kMaxBlock) {
    diagnostics_.fail(offset, "block of type " + hex(type) + " claims a length of " + std::to_string(length) +
                                  " bytes, more than the " + std::to_string(kMaxBlock) + " that are possible; " +
                                  damaged_from_here());
    return Step::stop;
  }
  if (cursor.available() < length && !window_.fill(cursor, length)) {
    return end_inside(cursor, offset, length, "a block of type " + hex(type));
  }
  if (!trailer_matches(cursor.next + length - kBlockTrailerBytes, type, length, offset)) return Step::stop;
  const Bytes body(cursor.next + kBlockHeaderBytes, length - kBlockOverhead);
  cursor.next += length;
  return read_body(type, body, offset, record);
}

bool PcapngReader::begin_section(CaptureCursor& cursor) {
  // The byte order, which follows the length, decides how the length is read.
  const std::uint64_t offset = cursor.offset();
  if (!window_.fill(cursor, kBlockHeaderBytes + 4)) {
    end_inside(cursor, offset, kBlockHeaderBytes + 4, "a section header");
    return false;
  }
  const auto magic = load<std::uint32_t>(cursor.next + kBlockHeaderBytes, false);
  if (magic != kByteOrderMagic && magic != __builtin_bswap32(kByteOrderMagic)) {
    diagnostics_.fail(offset, "section header with byte-order magic " + hex(magic) + ", expected " +
                                  hex(kByteOrderMagic) + " in either byte order; " + damaged_from_here());
    return false;
  }
  swapped_ = magic != kByteOrderMagic;
  return true;
}

PcapngReader::Step PcapngReader::skip_block(CaptureCursor& cursor, std::uint32_t type, std::uint32_t length) {
  const std::uint64_t offset = cursor.offset();
  if (!window_.discard(cursor, length - kBlockTrailerBytes) || !window_.fill(cursor, kBlockTrailerBytes)) {
    return end_inside(cursor, offset, length, "a block of type " + hex(type));
  }
  if (!trailer_matches(cursor.next, type, length, offset)) return Step::stop;
  cursor.next += kBlockTrailerBytes;
  return Step::skipped;
}

bool PcapngReader::trailer_matches(const std::byte* trailer, std::uint32_t type, std::uint32_t length,
                                   std::uint64_t offset) {
  const auto found = get<std::uint32_t>(trailer);
  if (found == length) return true;
  diagnostics_.fail(offset, "block of type " + hex(type) + " has length " + std::to_string(length) +
                                " at its start but " + std::to_string(found) + " at its end; " + damaged_from_here());
  return false;
}

PcapngReader::Step PcapngReader::read_body(std::uint32_t type, Bytes body, std::uint64_t offset,
                                           CaptureRecord& record) {
  switch (type) {
    case kBlockEnhancedPacket:
      return read_enhanced(body, offset, record);
    case kBlockSimplePacket:
      return read_simple(body, offset, record);
    case kBlockPacketObsolete:
      return read_obsolete(body, offset, record);
    case kBlockInterface:
      return read_interface(body, offset);
    case kBlockStatistics:
      return read_statistics(body, offset);
    default:
      return read_section(body, offset);
  }
}

PcapngReader::Step PcapngReader::read_section(Bytes body, std::uint64_t offset) {
  if (body.size() < kSectionBodyBytes) return fail_short("section header", offset, kSectionBodyBytes, body.size());
  const auto major = get<std::uint16_t>(body.data() + 4);
  if (major != 1) {
    diagnostics_.fail(offset, "section of pcapng version " + std::to_string(major) + "." +
                                  std::to_string(get<std::uint16_t>(body.data() + 6)) +
                                  ", expected 1.x; convert the file with a newer editcap");
    return Step::stop;
  }
  if (sections_.size() == kMaxSections) {
    diagnostics_.fail(offset, "more than " + std::to_string(kMaxSections) + " sections; split the file");
    return Step::stop;
  }
  first_interface_ = interfaces_.size();
  CaptureSection section;
  const auto visit = [&](std::uint16_t code, Bytes value) {
    if (code == kOptComment) set_text(section.comment, value);
    if (code == kOptSectionHardware) set_text(section.hardware, value);
    if (code == kOptSectionOs) set_text(section.os, value);
    if (code == kOptSectionApplication) set_text(section.application, value);
  };
  if (!for_each_option(body.subspan(kSectionBodyBytes), swapped_, visit)) warn_options(offset);
  sections_.push_back(std::move(section));
  return Step::skipped;
}

PcapngReader::Step PcapngReader::read_interface(Bytes body, std::uint64_t offset) {
  if (body.size() < kInterfaceBodyBytes) {
    return fail_short("interface description", offset, kInterfaceBodyBytes, body.size());
  }
  if (interfaces_.size() == kMaxInterfaces) {
    diagnostics_.fail(offset, "more than " + std::to_string(kMaxInterfaces) + " interfaces; split the file");
    return Step::stop;
  }
  CaptureInterface interface;
  interface.link_type = get<std::uint16_t>(body.data());
  interface.snaplen = get<std::uint32_t>(body.data() + 4);
  interface.section = static_cast<std::uint32_t>(sections_.size() - 1);
  const auto visit = [&](std::uint16_t code, Bytes value) {
    constexpr unsigned kLibpcapExpression = 0;
    if (code == kOptComment) set_text(interface.comment, value);
    if (code == kOptInterfaceName) set_text(interface.name, value);
    if (code == kOptInterfaceDescription) set_text(interface.description, value);
    if (code == kOptInterfaceFilter && !value.empty() &&
        std::to_integer<unsigned>(value.front()) == kLibpcapExpression) {
      set_text(interface.filter, value.subspan(1));
    }
    if (code == kOptInterfaceResolution && !value.empty()) {
      interface.timestamp_resolution = std::to_integer<std::uint8_t>(value.front());
    }
    // The format counts in bits. No frame check sequence is longer than 31 bytes, so a value that is not a whole number
    // of bytes is taken as bytes, which is what some writers mean.
    if (code == kOptInterfaceFcsLength && !value.empty()) {
      const auto given = std::to_integer<unsigned>(value.front());
      interface.fcs_length = static_cast<std::uint8_t>(given % 8 == 0 ? given / 8 : given);
    }
    if (code == kOptInterfaceOffset && value.size() == 8) {
      interface.timestamp_offset_s = static_cast<std::int64_t>(get<std::uint64_t>(value.data()));
    }
  };
  if (!for_each_option(body.subspan(kInterfaceBodyBytes), swapped_, visit)) warn_options(offset);
  scales_.emplace_back(interface.timestamp_resolution, interface.timestamp_offset_s);
  interfaces_.push_back(std::move(interface));
  return Step::skipped;
}

PcapngReader::Step PcapngReader::read_statistics(Bytes body, std::uint64_t offset) {
  if (body.size() < kStatisticsBodyBytes) {
    return fail_short("interface statistics", offset, kStatisticsBodyBytes, body.size());
  }
  const auto in_section = get<std::uint32_t>(body.data());
  if (!knows_interface(in_section, offset, "statistics")) return Step::skipped;
  const std::size_t index = first_interface_ + in_section;
  const TimestampScale& scale = scales_[index];
  CaptureStatistics statistics = interfaces_[index].statistics.value_or(CaptureStatistics{});
  statistics.timestamp_ns = scale.to_ns(timestamp_units(body.data() + 4));
  const auto visit = [&](std::uint16_t code, Bytes value) {
    if (code == kOptComment || value.size() != 8) return;
    const auto number = get<std::uint64_t>(value.data());
    const std::int64_t time = scale.to_ns(timestamp_units(value.data()));
    if (code == kOptStatisticsStart) statistics.start_ns = time;
    if (code == kOptStatisticsEnd) statistics.end_ns = time;
    if (code == kOptStatisticsReceived) statistics.received = number;
    if (code == kOptStatisticsDroppedInterface) statistics.dropped_interface = number;
    if (code == kOptStatisticsAccepted) statistics.accepted_by_filter = number;
    if (code == kOptStatisticsDroppedOs) statistics.dropped_os = number;
    if (code == kOptStatisticsDelivered) statistics.delivered = number;
  };
  if (!for_each_option(body.subspan(kStatisticsBodyBytes), swapped_, visit)) warn_options(offset);
  interfaces_[index].statistics = statistics;
  return Step::skipped;
}

PcapngReader::Step PcapngReader::read_enhanced(Bytes body, std::uint64_t offset, CaptureRecord& record) {
  if (body.size() < kEnhancedBodyBytes) return fail_short("packet block", offset, kEnhancedBodyBytes, body.size());
  const PacketShape shape{get<std::uint32_t>(body.data()), get<std::uint32_t>(body.data() + 12), kEnhancedBodyBytes};
  record.original_length = get<std::uint32_t>(body.data() + 16);
  record.drop_count.reset();
  return take_packet(body, offset, shape, record);
}

PcapngReader::Step PcapngReader::read_obsolete(Bytes body, std::uint64_t offset, CaptureRecord& record) {
  if (body.size() < kObsoleteBodyBytes) return fail_short("packet block", offset, kObsoleteBodyBytes, body.size());
  constexpr std::uint16_t kDropsUnknown = 0xFFFF;
  const auto drops = get<std::uint16_t>(body.data() + 2);
  const PacketShape shape{get<std::uint16_t>(body.data()), get<std::uint32_t>(body.data() + 12), kObsoleteBodyBytes};
  record.original_length = get<std::uint32_t>(body.data() + 16);
  record.drop_count.reset();
  if (drops != kDropsUnknown) record.drop_count = drops;
  return take_packet(body, offset, shape, record);
}

PcapngReader::Step PcapngReader::read_simple(Bytes body, std::uint64_t offset, CaptureRecord& record) {
  if (body.size() < kSimpleBodyBytes) return fail_short("simple packet block", offset, kSimpleBodyBytes, body.size());
  if (!knows_interface(0, offset, "simple packet block")) return Step::skipped;
  const CaptureInterface& interface = interfaces_[first_interface_];
  // The block has no captured length: it follows from the snap length, and the block's length bounds it.
  record.original_length = get<std::uint32_t>(body.data());
  std::size_t captured = std::min<std::size_t>(record.original_length, body.size() - kSimpleBodyBytes);
  if (interface.snaplen != 0) captured = std::min<std::size_t>(captured, interface.snaplen);
  record.bytes = body.subspan(kSimpleBodyBytes, captured);
  record.timestamp_ns = kNoTimestamp;
  record.file_offset = offset;
  record.interface_id = static_cast<std::uint32_t>(first_interface_);
  record.link_type = interface.link_type;
  record.comment_count = 0;
  record.comment = {};
  record.flags.reset();
  record.drop_count.reset();
  return Step::packet;
}

PcapngReader::Step PcapngReader::take_packet(Bytes body, std::uint64_t offset, const PacketShape& shape,
                                             CaptureRecord& record) {
  if (!knows_interface(shape.interface_in_section, offset, "packet")) return Step::skipped;
  const std::size_t room = body.size() - shape.header_bytes;
  if (shape.captured > room) {
    diagnostics_.fail(offset, "packet " + std::to_string(packets_ + 1) + " claims " + std::to_string(shape.captured) +
                                  " captured bytes in a block with room for " + std::to_string(room) + "; " +
                                  damaged_from_here());
    return Step::stop;
  }
  const std::size_t index = first_interface_ + shape.interface_in_section;
  CaptureInterface& interface = interfaces_[index];
  record.bytes = body.subspan(shape.header_bytes, shape.captured);
  record.timestamp_ns = scales_[index].to_ns(timestamp_units(body.data() + 4));
  record.file_offset = offset;
  record.interface_id = static_cast<std::uint32_t>(index);
  record.link_type = interface.link_type;
  record.comment_count = 0;
  record.comment = {};
  record.flags.reset();
  const std::size_t options_at = shape.header_bytes + padded(shape.captured);
  if (options_at < body.size()) read_packet_options(body.subspan(options_at), offset, record);
  if (record.drop_count) interface.packet_drops += *record.drop_count;
  return Step::packet;
}

void PcapngReader::read_packet_options(Bytes options, std::uint64_t offset, CaptureRecord& record) {
  const auto visit = [&](std::uint16_t code, Bytes value) {
    if (code == kOptComment) {
      if (record.comment_count == 0) record.comment = as_text(value);
      if (record.comment_count < std::numeric_limits<std::uint16_t>::max()) ++record.comment_count;
    }
    if (code == kOptPacketFlags && value.size() == 4) record.flags = get<std::uint32_t>(value.data());
    if (code == kOptPacketDropCount && value.size() == 8) record.drop_count = get<std::uint64_t>(value.data());
  };
  if (!for_each_option(options, swapped_, visit)) warn_options(offset);
}

bool PcapngReader::knows_interface(std::uint32_t in_section, std::uint64_t offset, const char* block) {
  const std::size_t described = interfaces_.size() - first_interface_;
  if (in_section < described) return true;
  diagnostics_.warn(offset, std::string(block) + " of interface " + std::to_string(in_section) +
                                " skipped: the section describes " + std::to_string(described) +
                                " interfaces before it");
  return false;
}

PcapngReader::Step PcapngReader::fail_short(const char* block, std::uint64_t offset, std::size_t needed,
                                            std::size_t found) {
  diagnostics_.fail(offset, std::string(block) + " too short: its body needs " + std::to_string(needed) +
                                " bytes, it has " + std::to_string(found) + "; " + damaged_from_here());
  return Step::stop;
}

std::string PcapngReader::damaged_from_here() const {
  return "the file is damaged from here on, " + packets_before(packets_);
}

PcapngReader::Step PcapngReader::end_inside(const CaptureCursor& cursor, std::uint64_t offset, std::uint64_t needed,
                                            const std::string& what) {
  // A stream that failed is reported as such by the caller, not as a cut file.
  if (!window_.failure()) {
    diagnostics_.fail(offset, "the file ends inside " + what + ": " + std::to_string(needed) + " bytes needed, " +
                                  std::to_string(cursor.offset() + cursor.available() - offset) + " there; " +
                                  packets_before(packets_));
  }
  return Step::stop;
}

void PcapngReader::warn_options(std::uint64_t offset) {
  diagnostics_.warn(offset, "an option runs over the end of its block; it and what follows in the block was ignored");
}

}  // namespace roce::link::detail
