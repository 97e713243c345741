// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "roce/link/capture_reader.h"

namespace roce::link::detail {

/// Owns a file descriptor, unless it is a standard stream.
class FileDescriptor {
 public:
  explicit FileDescriptor(int fd = -1) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~FileDescriptor();

  [[nodiscard]] int get() const { return fd_; }
  /// Gives up the descriptor without closing it, and returns it.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// A stream of bytes. An error is a text that names what failed, without the file's name.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Waits for at least one byte and returns the number of bytes stored in `out` (not empty); 0 at the end.
  [[nodiscard]] virtual tl::expected<std::size_t, std::string> read(std::span<std::byte> out) = 0;

  /// Returns the number of bytes taken from the file as stored.
  [[nodiscard]] virtual std::uint64_t position() const = 0;

  /// After the end, returns a note on anything odd about it (compressed data cut short), or an empty string.
  [[nodiscard]] virtual std::string end_note() const { return {}; }

  /// After the end, true if data that should follow is missing.
  [[nodiscard]] virtual bool is_cut() const { return false; }
};

/// Reads a regular file from its start to its present end: `size` bytes. Bytes written after that end in the meantime
/// are ignored; a file that has become shorter is an error, because its contents may have been replaced.
[[nodiscard]] std::unique_ptr<ByteSource> make_file_source(FileDescriptor fd, std::uint64_t size);

/// Reads from a descriptor of any kind.
[[nodiscard]] std::unique_ptr<ByteSource> make_descriptor_source(FileDescriptor fd);

/// Reads what a descriptor has at present and what comes later: calls `wait` whenever there is nothing, and ends when
/// it returns false. A regular file is read from its start; it ends when it was removed, and is an error once it has
/// become shorter than what was read.
[[nodiscard]] std::unique_ptr<ByteSource> make_followed_source(FileDescriptor fd, WaitForMore wait);

/// Reads from memory, which must outlive the source.
[[nodiscard]] std::unique_ptr<ByteSource> make_memory_source(std::span<const std::byte> bytes);

enum class Codec : std::uint8_t { none, gzip, zstd };

/// Recognises compressed data by its first four bytes; fewer bytes give `Codec::none`.
[[nodiscard]] Codec sniff_codec(std::span<const std::byte> start);

/// Reads the first bytes of `source` and wraps it in the decompressor that they ask for, if any.
[[nodiscard]] tl::expected<std::pair<std::unique_ptr<ByteSource>, Codec>, std::string> open_decompressed(
    std::unique_ptr<ByteSource> source);

/// Decompress gzip with any number of members, and zstd with any number of frames with windows up to 128 MiB.
[[nodiscard]] std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<ByteSource> compressed);
[[nodiscard]] std::unique_ptr<ByteSource> make_zstd_source(std::unique_ptr<ByteSource> compressed);

}  // namespace roce::link::detail
