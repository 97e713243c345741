// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "json_input/json_input.h"

namespace roce::gen {

/// A stream socket that carries JSON, one value a line. It owns the file descriptor, and never waits.
class JsonLines {
 public:
  /// A longer line is an error of the other end.
  static constexpr std::size_t kMaxLine = 4 << 20;
  /// A line as it was read, or why it is no JSON, or more than json_input::Bounds allow.
  using Line = tl::expected<nlohmann::json, json_input::Problem>;

  explicit JsonLines(int fd, std::size_t longest = kMaxLine) : fd_(fd), longest_(longest) {}
  ~JsonLines();
  JsonLines(JsonLines&& other) noexcept;
  JsonLines& operator=(JsonLines&&) = delete;
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  /// From now on a line may have so many bytes, its end not counted.
  void allow(std::size_t longest) { longest_ = longest; }
  /// Reads a part of what is there, unless a complete line waits already. False when the other end is gone, or sent a
  /// line that is too long.
  [[nodiscard]] bool receive();
  /// Whether a complete line waits.
  [[nodiscard]] bool has_line();
  /// The next complete line; none if there is no complete line.
  [[nodiscard]] std::optional<Line> next();
  /// Queues a value and writes what the socket takes. False when the other end is gone or does not read.
  [[nodiscard]] bool send(const nlohmann::ordered_json& value);
  /// Writes more of what is queued; false as `send`.
  [[nodiscard]] bool flush();
  /// Whether something is queued: wait until the socket is writable.
  [[nodiscard]] bool wants_to_write() const { return !out_.empty(); }
  /// Says that nothing more will be sent, and throws away what has come, so that what was sent arrives.
  void end();

 private:
  int fd_;
  std::size_t longest_;
  std::string in_;
  std::size_t begin_ = 0;     // of `in_`, of the next line
  std::size_t searched_ = 0;  // of `in_`, without a line's end from `begin_` on
  std::string out_;
};

}  // namespace roce::gen
