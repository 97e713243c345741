// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <utility>

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
  /// Gives the descriptor up without closing it.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

/// A stream of bytes. Errors are texts that say what failed, without the file's name.
class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  /// Waits until at least one byte is there and returns how many were stored in `out` (not empty), 0 at the end.
  [[nodiscard]] virtual tl::expected<std::size_t, std::string> read(std::span<std::byte> out) = 0;

  /// Bytes taken from the file as stored.
  [[nodiscard]] virtual std::uint64_t position() const = 0;

  /// After the end: what was odd about it (compressed data cut short), or empty.
  [[nodiscard]] virtual std::string end_note() const { return {}; }

  /// After the end: something is missing behind it.
  [[nodiscard]] virtual bool is_cut() const { return false; }
};

/// Reads a regular file from its start as far as it goes now: `size` bytes. What is written behind that while it is
/// read is left alone; that the file has become shorter is an error, because what it holds may be something else.
[[nodiscard]] std::unique_ptr<ByteSource> make_file_source(FileDescriptor fd, std::uint64_t size);

/// Reads from a descriptor, whatever is behind it.
[[nodiscard]] std::unique_ptr<ByteSource> make_descriptor_source(FileDescriptor fd);

/// Reads from memory that outlives it.
[[nodiscard]] std::unique_ptr<ByteSource> make_memory_source(std::span<const std::byte> bytes);

enum class Codec : std::uint8_t { none, gzip, zstd };

/// Recognises compressed data by its first four bytes; fewer are kNone.
[[nodiscard]] Codec sniff_codec(std::span<const std::byte> start);

/// Reads the first bytes of `source` and puts the decompressor that they ask for, if any, in front of it.
[[nodiscard]] tl::expected<std::pair<std::unique_ptr<ByteSource>, Codec>, std::string> open_decompressed(
    std::unique_ptr<ByteSource> source);

/// gzip of any number of members; zstd of any number of frames with windows up to 128 MiB.
[[nodiscard]] std::unique_ptr<ByteSource> make_gzip_source(std::unique_ptr<ByteSource> compressed);
[[nodiscard]] std::unique_ptr<ByteSource> make_zstd_source(std::unique_ptr<ByteSource> compressed);

}  // namespace roce::link::detail
