// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roce/link/capture_record.h"

namespace roce::link {

namespace detail {

/// The bytes at hand of a capture file. `origin` is the address that offset 0 of the file has or would have, so that
/// the offset of a pointer is its address minus `origin` (modulo 2^64), whatever part of the file is in memory.
struct CaptureCursor {
  const std::byte* next = nullptr;
  const std::byte* end = nullptr;
  std::uintptr_t origin = 0;

  [[nodiscard]] std::size_t available() const { return static_cast<std::size_t>(end - next); }
  [[nodiscard]] std::uint64_t offset() const { return reinterpret_cast<std::uintptr_t>(next) - origin; }
};

/// What a classic pcap file says about all its records.
struct PcapLayout {
  std::uint32_t max_captured = 0;   ///< A longer record is damage.
  std::uint32_t fraction_ns = 0;    ///< Nanoseconds per unit of the second timestamp word: 1 or 1000.
  std::uint32_t header_bytes = 16;  ///< 16, or 24 in the format of the "modified" magic.
  std::uint16_t link_type = 0;
  bool swapped = false;
};

}  // namespace detail

/// Reads capture files: pcap (microseconds, nanoseconds, modified; both byte orders), pcapng, and whatever else libpcap
/// can read; each of them also compressed by gzip or zstd (recognised by content, not by name).
///
/// All of it is streamed through a buffer that grows only to the longest record: at most 32 MiB. A regular file is read
/// as far as it goes when it is opened; that it was cut while it was read is an error. One reader belongs to one
/// thread.
class CaptureReader {
 public:
  /// Opens `path`, "-" is standard input. Fails if the file cannot be opened, is empty, or no format fits its first
  /// bytes. On a pipe it waits for the file header.
  [[nodiscard]] static Result<CaptureReader> open(const std::string& path);

  /// Reads a whole capture file that is in memory already; `bytes` must outlive the reader. Errors name `name` as the
  /// file.
  [[nodiscard]] static Result<CaptureReader> from_memory(std::span<const std::byte> bytes,
                                                         std::string name = "(memory)");

  CaptureReader(CaptureReader&&) noexcept;
  CaptureReader& operator=(CaptureReader&&) noexcept;
  ~CaptureReader();

  /// Reads the next packet into `record` and returns true, or returns false at the end: then error() says whether
  /// damage, a cut (the file ends inside a record, its compressed data end early) or an I/O error is why. `record` is
  /// unspecified after false.
  /// `record.bytes` and `record.comment` are valid until the next call; where keeps_bytes(), until the reader is
  /// destroyed.
  bool next(CaptureRecord& record) {
    if (fast_ && cursor_.available() >= kHeaderBytes) [[likely]] {
      std::uint32_t header[4];
      std::memcpy(header, cursor_.next, kHeaderBytes);
      const std::uint32_t captured = header[2];
      if (captured <= layout_.max_captured && captured <= cursor_.available() - kHeaderBytes) [[likely]] {
        fill(record, header[0], header[1], header[3]);
        record.bytes = {cursor_.next + kHeaderBytes, captured};
        cursor_.next += kHeaderBytes + captured;
        // Where the record behind this one is only its length tells; it comes while this one is looked at.
        __builtin_prefetch(cursor_.next);
        return true;
      }
    }
    return next_slow(record);
  }

  /// Why next() returned false before the end of the file, if so.
  [[nodiscard]] const std::optional<CaptureError>& error() const;

  /// In the order of the file; after the first 100 one more says that the rest is not listed.
  [[nodiscard]] const std::vector<CaptureWarning>& warnings() const;

  /// The interfaces that were described so far; complete after the last record.
  [[nodiscard]] const std::vector<CaptureInterface>& interfaces() const;

  /// The sections that were begun so far; empty unless the file is pcapng.
  [[nodiscard]] const std::vector<CaptureSection>& sections() const;

  /// For people: "pcap, nanoseconds, big-endian", "pcapng, gzip".
  [[nodiscard]] std::string_view format() const;

  /// Whether the record spans stay valid until the reader is destroyed: those of a file that is in memory.
  [[nodiscard]] bool keeps_bytes() const;

  /// Size of the file as stored (compressed, if it is), 0 if unknown.
  [[nodiscard]] std::uint64_t size_bytes() const;

  /// How far reading has come, on the same scale as size_bytes().
  [[nodiscard]] std::uint64_t position_bytes() const;

 private:
  struct Impl;
  static constexpr std::size_t kHeaderBytes = 16;

  explicit CaptureReader(std::unique_ptr<Impl> impl);
  [[nodiscard]] static Result<CaptureReader> begin(std::unique_ptr<Impl> impl);
  [[nodiscard]] std::optional<CaptureError> start();
  [[nodiscard]] bool start_pcap();
  bool next_slow(CaptureRecord& record);
  bool next_pcap(CaptureRecord& record);

  void fill(CaptureRecord& record, std::uint32_t seconds, std::uint32_t fraction, std::uint32_t original_length) {
    record.timestamp_ns = static_cast<std::int64_t>(seconds) * 1'000'000'000 +
                          static_cast<std::int64_t>(fraction) * static_cast<std::int64_t>(layout_.fraction_ns);
    record.number = ++number_;
    record.file_offset = cursor_.offset();
    record.original_length = original_length;
    record.interface_id = 0;
    record.link_type = layout_.link_type;
    record.comment_count = 0;
    record.comment = {};
    record.flags.reset();
    record.drop_count.reset();
  }

  // The inline part of next() is for classic pcap in the byte order of this machine only; `fast_` says that it applies.
  detail::CaptureCursor cursor_;
  std::uint64_t number_ = 0;
  detail::PcapLayout layout_;
  bool fast_ = false;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::link
