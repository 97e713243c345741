// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>

#include "text/text_buffer.h"

namespace roce::text {

/// Standard output, or a substitute: text is collected in a buffer and written in large blocks.
class Output {
 public:
  /// `line_by_line`: write at each `commit`.
  Output(int descriptor, bool line_by_line) : descriptor_(descriptor), line_by_line_(line_by_line) {}
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  /// Returns the buffer to append to; call `commit` after each packet.
  [[nodiscard]] TextBuffer& buffer() { return buffer_; }
  void commit() {
    if (line_by_line_ || buffer_.size() >= kBlock) flush();
  }
  /// Writes the buffered text; after a failure it is only discarded.
  void flush();

  [[nodiscard]] bool empty() const { return buffer_.size() == 0; }
  /// True if nothing more can be written: the reader has gone, or there was an error.
  [[nodiscard]] bool is_over() const { return over_; }
  /// Returns the error, for people. A reader that has gone (`| head`) is not an error.
  [[nodiscard]] const std::optional<std::string>& error() const { return error_; }

 private:
  static constexpr std::size_t kBlock = 256 * 1024;

  TextBuffer buffer_;
  std::optional<std::string> error_;
  int descriptor_;
  bool line_by_line_;
  bool over_ = false;
};

}  // namespace roce::text
