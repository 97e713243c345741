// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "roce/link/capture_record.h"

namespace roce::link {

namespace detail {

/// The bytes of a capture file at hand. `origin` is the address that offset 0 of the file has or would have, so
/// that the offset of a pointer is its address minus `origin` (modulo 2^64), whichever part of the file is in memory.
struct CaptureCursor {
  const std::byte* next = nullptr;
  const std::byte* end = nullptr;
  std::uintptr_t origin = 0;

  [[nodiscard]] std::size_t available() const { return static_cast<std::size_t>(end - next); }
  [[nodiscard]] std::uint64_t offset() const { return reinterpret_cast<std::uintptr_t>(next) - origin; }
};

/// The properties that a classic pcap file declares for all its records.
struct PcapLayout {
  std::uint32_t max_captured = 0;   ///< Longest record, in bytes; a longer one is damage.
  std::uint32_t fraction_ns = 0;    ///< Nanoseconds per unit of the second timestamp word: 1 or 1000.
  std::uint32_t header_bytes = 16;  ///< 16, or 24 in the format of the "modified" magic.
  std::uint16_t link_type = 0;
  bool swapped = false;
};

}  // namespace detail

/// Waits, from within `CaptureReader::next`, until there may be more to read. `fd` is readable once there is more; it
/// is -1 if nothing tells. Returns false if no more is wanted.
using WaitForMore = std::function<bool(int fd)>;

/// Reads capture files: pcap (microseconds, nanoseconds, modified; both byte orders), pcapng, and the other
/// formats that libpcap can read; each also compressed with gzip or zstd (recognised by content, not by name).
///
/// Streams the file through a buffer that grows only to the longest record: at most 32 MiB.
/// Reads a regular file up to the length that it had when it was opened;
/// a file that is cut while it is read is an error. One reader belongs to one thread.
class CaptureReader {
 public:
  /// Opens `path`; "-" is standard input. Fails if the file cannot be opened, is empty,
  /// or no format fits its first bytes. On a pipe, waits for the file header.
  [[nodiscard]] static Result<CaptureReader> open(const std::string& path);

  /// Opens `path` as `open` does, but takes it to grow: where it has no more bytes at present, `wait` is called, also
  /// for the file header. It ends when `wait` returns false, and a pipe also when its last writer closes it. What was
  /// not written whole until then is left out, which is no error. Compressed files cannot be followed.
  [[nodiscard]] static Result<CaptureReader> follow(const std::string& path, WaitForMore wait);

  /// Captures on a network interface of this machine (all that it sees, in promiscuous mode) until `wait` returns
  /// false. The statistics of `interfaces()` count what the kernel dropped. Needs CAP_NET_RAW.
  [[nodiscard]] static Result<CaptureReader> capture(const std::string& interface, WaitForMore wait);

  /// Reads a whole capture file that is in memory already;
  /// `bytes` must outlive the reader. Errors give `name` as the file.
  [[nodiscard]] static Result<CaptureReader> from_memory(std::span<const std::byte> bytes,
                                                         std::string name = "(memory)");

  CaptureReader(CaptureReader&&) noexcept;
  CaptureReader& operator=(CaptureReader&&) noexcept;
  ~CaptureReader();

  /// Reads the next packet into `record` and returns true, or returns false at the end: then error() reports damage,
  /// a cut (the file ends inside a record, or its compressed data end early) or an I/O error, if there was one.
  /// `record` is unspecified after false.
  /// `record.bytes` and `record.comment` are valid until the next call;
  /// with keeps_bytes(), until the reader is destroyed.
  bool next(CaptureRecord& record) {
    if (fast_ && cursor_.available() >= kHeaderBytes) [[likely]] {
      std::uint32_t header[4];
      std::memcpy(header, cursor_.next, kHeaderBytes);
      const std::uint32_t captured = header[2];
      if (captured <= layout_.max_captured && captured <= cursor_.available() - kHeaderBytes) [[likely]] {
        fill(record, header[0], header[1], header[3]);
        record.bytes = {cursor_.next + kHeaderBytes, captured};
        cursor_.next += kHeaderBytes + captured;
        // The place of the next record follows only from the length; it is fetched while this one is looked at.
        __builtin_prefetch(cursor_.next);
        return true;
      }
    }
    return next_slow(record);
  }

  /// Returns the error that made next() return false before the end of the file; empty if there was none.
  [[nodiscard]] const std::optional<CaptureError>& error() const;

  /// Returns the warnings in file order; after the first 100, one more states that the rest is not listed.
  [[nodiscard]] const std::vector<CaptureWarning>& warnings() const;

  /// Returns the interfaces that were described so far; complete after the last record.
  [[nodiscard]] const std::vector<CaptureInterface>& interfaces() const;

  /// Returns the sections that were begun so far; empty unless the file is pcapng.
  [[nodiscard]] const std::vector<CaptureSection>& sections() const;

  /// Returns the format for display: "pcap, nanoseconds, other byte order", "pcapng, gzip".
  [[nodiscard]] std::string_view format() const;

  /// True if the record spans stay valid until the reader is destroyed, which holds for a file in memory.
  [[nodiscard]] bool keeps_bytes() const;

  /// Returns the size of the file as stored (compressed, if it is); 0 if unknown.
  [[nodiscard]] std::uint64_t size_bytes() const;

  /// Returns how far reading has come, on the same scale as size_bytes().
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

  // The inline part of next() handles only classic pcap in this machine's byte order; `fast_` is set if that applies.
  detail::CaptureCursor cursor_;
  std::uint64_t number_ = 0;
  detail::PcapLayout layout_;
  bool fast_ = false;
  std::unique_ptr<Impl> impl_;
};

}  // namespace roce::link
