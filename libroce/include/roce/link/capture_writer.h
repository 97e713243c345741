// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "roce/link/capture_record.h"

namespace roce::link {

enum class CaptureFormat : std::uint8_t {
  pcap_ns,  ///< Classic pcap with nanoseconds: one interface, no comments.
  pcapng,   ///< pcapng 1.0: several interfaces, comments, statistics.
};

enum class Compression : std::uint8_t {
  from_suffix,  ///< ".gz" gzip, ".zst" zstd, anything else none.
  none,
  gzip,
  zstd,
};

struct CaptureWriterOptions {
  CaptureFormat format = CaptureFormat::pcapng;
  Compression compression = Compression::from_suffix;
  /// The first interface, number 0. pcap keeps its `link_type`, `snaplen` and `fcs_length`; pcapng keeps all but
  /// `section`, `statistics` and `packet_drops`, and always has timestamps in nanoseconds without an offset.
  /// A snaplen of 0 is written as 262144, which every tool takes.
  CaptureInterface interface;
  std::string application = "roce";  ///< shb_userappl of pcapng.
};

/// Writes capture files that every tool reads, in this machine's byte order; whole or not at all (see OutputFile). An
/// I/O error (disk full) is kept: every later call fails with it, including close(). One writer belongs to one thread.
class CaptureWriter {
 public:
  /// Takes `path` as OutputFile::create does. Buffers the file header, does not write it yet.
  [[nodiscard]] static Result<CaptureWriter> create(const std::string& path, const CaptureWriterOptions& options = {});

  CaptureWriter(CaptureWriter&&) noexcept;
  CaptureWriter& operator=(CaptureWriter&&) noexcept;
  /// Discards the file unless close() was called.
  ~CaptureWriter();

  /// Describes one more interface and returns its number for CaptureRecord::interface_id. pcapng only.
  Result<std::uint32_t> add_interface(const CaptureInterface& interface);

  /// Appends a packet. Uses bytes, original_length (raised to bytes.size() if smaller), timestamp_ns, link_type, and,
  /// in pcapng only, interface_id, comment (at most 65535 bytes), flags and drop_count; pcap drops these silently.
  /// A record without a timestamp becomes a Simple Packet Block if the format allows it, else it gets time 0.
  /// Fails and writes nothing if link_type is not that of the interface, the packet is longer than the interface's
  /// snaplen, the time is before 1970 or (pcap) after 2106, or the interface does not exist.
  Result<void> write(const CaptureRecord& record);

  /// Appends an Interface Statistics Block. pcapng only.
  Result<void> write_statistics(std::uint32_t interface_id, const CaptureStatistics& statistics);

  /// Hands everything written so far to the operating system, where a reader can use it at once (as `NAME.partial`).
  Result<void> flush();

  /// Ends the file and moves it to its place. Later calls of write() fail; a second close() does nothing.
  Result<void> close();

 private:
  struct Impl;
  explicit CaptureWriter(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::link
