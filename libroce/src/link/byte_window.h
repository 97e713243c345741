// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "link/byte_source.h"
#include "roce/link/capture_reader.h"

namespace roce::link::detail {

/// Makes the bytes of a file available through a CaptureCursor: either all of them at once (memory), or as a
/// window that slides along a stream. Moving the window moves the bytes: each fill() and discard() invalidates
/// the pointers into it.
class ByteWindow {
 public:
  ByteWindow() = default;
  explicit ByteWindow(std::span<const std::byte> whole) : whole_(whole) {}
  explicit ByteWindow(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}

  /// Returns the cursor at the start of the file.
  [[nodiscard]] CaptureCursor begin() const;

  /// Makes at least `count` bytes available at the cursor; false if the file ends (or fails) before that.
  [[nodiscard]] bool fill(CaptureCursor& cursor, std::size_t count);

  /// Moves the cursor `count` bytes on; false if the file ends (or fails) before that, with the cursor at the end.
  [[nodiscard]] bool discard(CaptureCursor& cursor, std::uint64_t count);

  [[nodiscard]] bool is_stream() const { return source_ != nullptr; }
  /// Returns the error if the stream failed, as opposed to ended.
  [[nodiscard]] const std::optional<std::string>& failure() const { return failure_; }
  /// Returns a note on anything odd about the end of the stream, or an empty string.
  [[nodiscard]] std::string end_note() const { return source_ ? source_->end_note() : std::string(); }
  /// True if the stream was cut: some of its data is missing.
  [[nodiscard]] bool is_cut() const { return source_ && source_->is_cut(); }
  [[nodiscard]] std::uint64_t source_position() const { return source_ ? source_->position() : 0; }

 private:
  void make_room(CaptureCursor& cursor, std::size_t count);

  std::span<const std::byte> whole_;
  std::unique_ptr<ByteSource> source_;
  std::unique_ptr<std::byte[]> buffer_;
  std::size_t capacity_ = 0;
  bool ended_ = false;
  std::optional<std::string> failure_;
};

}  // namespace roce::link::detail
