// SPDX-License-Identifier: BSD-2-Clause
#include "link/pcapng_encoder.h"

#include <cstring>

#include "link/byte_order.h"
#include "link/capture_format.h"

namespace roce::link::detail {

namespace {

constexpr std::size_t kLongestOption = 65535;

void append_padding(OutputBuffer& out, std::size_t length) {
  out.resize(out.size() + padded(length) - length);
}

void append_option(OutputBuffer& out, std::uint16_t code, std::span<const std::byte> value) {
  value = value.first(value.size() < kLongestOption ? value.size() : kLongestOption);
  append(out, code);
  append(out, static_cast<std::uint16_t>(value.size()));
  append(out, value);
  append_padding(out, value.size());
}

void append_text(OutputBuffer& out, std::uint16_t code, std::string_view text) {
  if (!text.empty()) append_option(out, code, std::as_bytes(std::span(text)));
}

template <typename T>
void append_number(OutputBuffer& out, std::uint16_t code, T value) {
  append_option(out, code, std::as_bytes(std::span(&value, 1)));
}

void append_time(OutputBuffer& out, std::int64_t timestamp_ns) {
  const auto units = static_cast<std::uint64_t>(timestamp_ns);
  append(out, static_cast<std::uint32_t>(units >> 32));
  append(out, static_cast<std::uint32_t>(units));
}

std::size_t begin_block(OutputBuffer& out, std::uint32_t type) {
  const std::size_t start = out.size();
  append(out, type);
  append(out, std::uint32_t{0});
  return start;
}

void end_options(OutputBuffer& out) {
  append(out, std::uint32_t{0});
}

void end_block(OutputBuffer& out, std::size_t start) {
  const auto length = static_cast<std::uint32_t>(out.size() - start + sizeof(std::uint32_t));
  std::memcpy(out.data() + start + 4, &length, sizeof length);
  append(out, length);
}

}  // namespace

void append(OutputBuffer& out, std::span<const std::byte> bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

void append_section_header(OutputBuffer& out, std::string_view application) {
  const std::size_t start = begin_block(out, kBlockSectionHeader);
  append(out, kByteOrderMagic);
  append(out, std::uint16_t{1});
  append(out, std::uint16_t{0});
  append(out, ~std::uint64_t{0});  // section length is not given
  append_text(out, kOptSectionApplication, application);
  end_options(out);
  end_block(out, start);
}

void append_interface_description(OutputBuffer& out, const CaptureInterface& interface) {
  constexpr std::uint8_t kNanoseconds = 9;
  const std::size_t start = begin_block(out, kBlockInterface);
  append(out, interface.link_type);
  append(out, std::uint16_t{0});
  append(out, interface.snaplen);
  append_text(out, kOptInterfaceName, interface.name);
  append_text(out, kOptInterfaceDescription, interface.description);
  append_number(out, kOptInterfaceResolution, kNanoseconds);
  if (!interface.filter.empty()) {
    // The leading byte 0 means that the rest is a libpcap expression.
    const std::string filter = '\0' + interface.filter;
    append_option(out, kOptInterfaceFilter, std::as_bytes(std::span(filter)));
  }
  if (interface.fcs_length) {
    append_number(out, kOptInterfaceFcsLength, static_cast<std::uint8_t>(*interface.fcs_length * 8));
  }
  append_text(out, kOptComment, interface.comment);
  end_options(out);
  end_block(out, start);
}

void append_enhanced_packet(OutputBuffer& out, const CaptureRecord& record, std::int64_t timestamp_ns,
                            std::uint32_t original_length) {
  const std::size_t start = begin_block(out, kBlockEnhancedPacket);
  append(out, record.interface_id);
  append_time(out, timestamp_ns);
  append(out, static_cast<std::uint32_t>(record.bytes.size()));
  append(out, original_length);
  append(out, record.bytes);
  append_padding(out, record.bytes.size());
  append_text(out, kOptComment, record.comment);
  if (record.flags) append_number(out, kOptPacketFlags, *record.flags);
  if (record.drop_count) append_number(out, kOptPacketDropCount, *record.drop_count);
  if (!record.comment.empty() || record.flags || record.drop_count) end_options(out);
  end_block(out, start);
}

void append_simple_packet(OutputBuffer& out, const CaptureRecord& record, std::uint32_t original_length) {
  const std::size_t start = begin_block(out, kBlockSimplePacket);
  append(out, original_length);
  append(out, record.bytes);
  append_padding(out, record.bytes.size());
  end_block(out, start);
}

void append_interface_statistics(OutputBuffer& out, std::uint32_t interface_id, const CaptureStatistics& statistics) {
  const std::size_t start = begin_block(out, kBlockStatistics);
  append(out, interface_id);
  append_time(out, statistics.timestamp_ns == kNoTimestamp ? 0 : statistics.timestamp_ns);
  const auto time = [&](std::uint16_t code, std::optional<std::int64_t> value) {
    if (!value) return;
    append(out, code);
    append(out, std::uint16_t{8});
    append_time(out, *value);
  };
  const auto number = [&](std::uint16_t code, std::optional<std::uint64_t> value) {
    if (value) append_number(out, code, *value);
  };
  time(kOptStatisticsStart, statistics.start_ns);
  time(kOptStatisticsEnd, statistics.end_ns);
  number(kOptStatisticsReceived, statistics.received);
  number(kOptStatisticsDroppedInterface, statistics.dropped_interface);
  number(kOptStatisticsAccepted, statistics.accepted_by_filter);
  number(kOptStatisticsDroppedOs, statistics.dropped_os);
  number(kOptStatisticsDelivered, statistics.delivered);
  end_options(out);
  end_block(out, start);
}

}  // namespace roce::link::detail
