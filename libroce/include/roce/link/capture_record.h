// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace roce::link {

/// The reason why a capture file could not be opened, read further, or written.
struct CaptureError {
  /// Complete text for display: the file, the byte offset, what was expected, what was found, and what to do.
  std::string message;
  /// Byte offset in the (decompressed) file; empty if the error does not have one.
  std::optional<std::uint64_t> offset;
};

template <typename T>
using Result = tl::expected<T, CaptureError>;

/// An oddity that did not stop the reading: a block that made no sense, or data behind the compressed data.
struct CaptureWarning {
  std::uint64_t offset = 0;  ///< Byte offset in the (decompressed) file.
  std::string message;       ///< Complete text for display, like CaptureError::message.
};

/// LINKTYPE_ETHERNET, the value that most captures have.
inline constexpr std::uint16_t kLinkTypeEthernet = 1;

/// The timestamp of a record without a time (pcapng Simple Packet Block).
inline constexpr std::int64_t kNoTimestamp = std::numeric_limits<std::int64_t>::min();

/// One captured packet. A reader fills all fields; `bytes` and `comment` point into the reader's memory (see
/// CaptureReader::next for how long they live).
struct CaptureRecord {
  std::span<const std::byte> bytes;          ///< The captured bytes, from the first byte of the link layer.
  std::int64_t timestamp_ns = kNoTimestamp;  ///< Nanoseconds since the Unix epoch, or kNoTimestamp.
  std::uint64_t number = 0;                  ///< 1 for the first packet of the file. Ignored by the writer.
  std::uint64_t file_offset = 0;      ///< Place of the record's header in the decompressed file. Ignored by the writer.
  std::uint32_t original_length = 0;  ///< Length on the wire; more than bytes.size() if a snap length cut it.
  std::uint32_t interface_id = 0;     ///< Index into CaptureReader::interfaces() (all sections together).
  std::uint16_t link_type = kLinkTypeEthernet;  ///< LINKTYPE_* number in the file.
  std::uint16_t comment_count = 0;     ///< Number of comments in the file for this packet. Ignored by the writer.
  std::string_view comment;            ///< The first comment (opt_comment, UTF-8, not NUL-terminated) or empty.
  std::optional<std::uint32_t> flags;  ///< epb_flags: bits 0-1 direction (1 inbound, 2 outbound), see pcapng 4.3.1.
  std::optional<std::uint64_t> drop_count;  ///< epb_dropcount: packets lost between the previous packet and this one.
};

/// The content of a pcapng Interface Statistics Block. Counters run from the start of the capture.
struct CaptureStatistics {
  std::int64_t timestamp_ns = kNoTimestamp;         ///< Time at which the counters were taken.
  std::optional<std::int64_t> start_ns;             ///< isb_starttime, as nanoseconds since the Unix epoch.
  std::optional<std::int64_t> end_ns;               ///< isb_endtime.
  std::optional<std::uint64_t> received;            ///< isb_ifrecv: packets that the interface received.
  std::optional<std::uint64_t> dropped_interface;   ///< isb_ifdrop: lost by the interface for want of resources.
  std::optional<std::uint64_t> accepted_by_filter;  ///< isb_filteraccept.
  std::optional<std::uint64_t> dropped_os;          ///< isb_osdrop: lost by the operating system.
  std::optional<std::uint64_t> delivered;           ///< isb_usrdeliv: packets delivered to the capturing program.

  bool operator==(const CaptureStatistics&) const = default;
};

/// An interface that packets were captured on. A pcap file has exactly one. Texts are cut at 1024 bytes.
struct CaptureInterface {
  std::uint16_t link_type = kLinkTypeEthernet;  ///< LINKTYPE_* number.
  std::uint32_t snaplen = 0;                    ///< Longest captured packet, 0: no limit.
  std::string name;                             ///< if_name ("eth0") or empty.
  std::string description;                      ///< if_description or empty.
  std::string filter;                           ///< if_filter, if it is a libpcap expression, or empty.
  std::string comment;                          ///< First opt_comment or empty.
  std::uint8_t timestamp_resolution = 6;        ///< As if_tsresol: n is 10^-n s; with bit 7 set 2^-(n & 127) s.
  std::int64_t timestamp_offset_s = 0;          ///< if_tsoffset in seconds; already part of the timestamps.
  std::optional<std::uint8_t> fcs_length;       ///< Bytes of frame check sequence that end each packet, if known.
  std::uint32_t section = 0;                    ///< Number of the file's section that describes it, from 0.
  std::optional<CaptureStatistics> statistics;  ///< Latest Interface Statistics Block, read so far.
  std::uint64_t packet_drops = 0;               ///< Sum of the drop counts of the packets read so far.
};

/// The content of a pcapng Section Header Block. Texts are cut at 1024 bytes.
struct CaptureSection {
  std::string hardware;     ///< shb_hardware or empty.
  std::string os;           ///< shb_os or empty.
  std::string application;  ///< shb_userappl or empty.
  std::string comment;      ///< First opt_comment or empty.
};

}  // namespace roce::link
