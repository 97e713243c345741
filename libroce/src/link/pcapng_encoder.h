// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "roce/link/capture_record.h"

namespace roce::link::detail {

/// The buffer to which encoded blocks and records are appended.
using OutputBuffer = std::vector<std::byte>;

/// Appends `value` in the byte order of this machine.
template <typename T>
void append(OutputBuffer& out, T value) {
  const auto bytes = std::as_bytes(std::span(&value, 1));
  out.insert(out.end(), bytes.begin(), bytes.end());
}
void append(OutputBuffer& out, std::span<const std::byte> bytes);

/// Append pcapng blocks, in the byte order of this machine, with timestamps in nanoseconds. Texts are cut at 65535
/// bytes, the longest possible option.
void append_section_header(OutputBuffer& out, std::string_view application);
void append_interface_description(OutputBuffer& out, const CaptureInterface& interface);
/// `timestamp_ns` must not be negative, and `record` has at most 65535 bytes of comment.
void append_enhanced_packet(OutputBuffer& out, const CaptureRecord& record, std::int64_t timestamp_ns,
                            std::uint32_t original_length);
void append_simple_packet(OutputBuffer& out, const CaptureRecord& record, std::uint32_t original_length);
void append_interface_statistics(OutputBuffer& out, std::uint32_t interface_id, const CaptureStatistics& statistics);

}  // namespace roce::link::detail
