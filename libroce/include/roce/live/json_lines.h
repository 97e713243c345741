// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/json_input/json_input.h"

namespace roce::live {

/// A stream socket that carries JSON, one value a line. It owns the file descriptor, and never waits.
class JsonLines {
 public:
  /// The longest line, in bytes; a longer one is an error of the other end.
  static constexpr std::size_t kMaxLine = 4 << 20;
  /// The value of a line, or why the line is not JSON or exceeds json_input::Bounds.
  using Line = tl::expected<nlohmann::json, json_input::Problem>;

  explicit JsonLines(int fd, std::size_t longest = kMaxLine) : fd_(fd), longest_(longest) {}
  ~JsonLines();
  JsonLines(JsonLines&& other) noexcept;
  JsonLines& operator=(JsonLines&&) = delete;
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  /// Limits lines to `longest` bytes from now on, their end not counted.
  void allow(std::size_t longest) { longest_ = longest; }
  /// Reads a part of what has arrived, unless a complete line is waiting already. False if the other end is gone, or
  /// sent a line that is too long.
  [[nodiscard]] bool receive();
  /// True if a complete line is waiting.
  [[nodiscard]] bool has_line();
  /// Returns the next complete line; nullopt if there is none.
  [[nodiscard]] std::optional<Line> next();
  /// Queues a value and writes what the socket takes. False if the other end is gone or does not read.
  [[nodiscard]] bool send(const nlohmann::ordered_json& value);
  /// Writes more of what is queued; false as `send`.
  [[nodiscard]] bool flush();
  /// True if something is queued: then wait until the socket is writable.
  [[nodiscard]] bool wants_to_write() const { return !out_.empty(); }
  /// Announces the end of sending and throws away what was received, so that what was sent arrives.
  void end();

 private:
  int fd_;
  std::size_t longest_;
  std::string in_;
  std::size_t begin_ = 0;     // start of the next line in `in_`
  std::size_t searched_ = 0;  // end of the part of `in_` from `begin_` on that has no line's end
  std::string out_;
};

}  // namespace roce::live
