// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <pcap/pcap.h>

#include <cstddef>
#include <cstdint>

#include "roce/link/capture_record.h"

namespace roce::link::detail {

/// Returns the LINKTYPE_* number of a capture file for libpcap's number of this platform (DLT_*).
[[nodiscard]] inline std::uint16_t to_link_type(int dlt) {
  // The numbers equal those in a file except for a few, of which only raw IP can carry RoCE.
  constexpr std::uint16_t kLinkTypeRaw = 101;
  return dlt == DLT_RAW ? kLinkTypeRaw : static_cast<std::uint16_t>(dlt);
}

/// Returns a packet of `pcap` as a record without number and place. Its bytes are valid as long as libpcap's.
[[nodiscard]] inline CaptureRecord to_record(pcap_t* pcap, const pcap_pkthdr& header, const u_char* data) {
  CaptureRecord record;
  record.bytes = {reinterpret_cast<const std::byte*>(data), header.caplen};
  // With nanosecond precision libpcap keeps nanoseconds in tv_usec.
  const bool has_nanoseconds = pcap_get_tstamp_precision(pcap) == PCAP_TSTAMP_PRECISION_NANO;
  record.timestamp_ns = static_cast<std::int64_t>(header.ts.tv_sec) * 1'000'000'000 +
                        static_cast<std::int64_t>(header.ts.tv_usec) * (has_nanoseconds ? 1 : 1000);
  record.original_length = header.len;
  record.link_type = to_link_type(pcap_datalink(pcap));
  return record;
}

}  // namespace roce::link::detail
