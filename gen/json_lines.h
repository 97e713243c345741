// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

namespace roce::gen {

/// A stream socket that carries JSON, one value a line. It owns the file descriptor, and never waits.
class JsonLines {
 public:
  /// A longer line is an error of the other end.
  static constexpr std::size_t kMaxLine = 4 << 20;

  explicit JsonLines(int fd) : fd_(fd) {}
  ~JsonLines();
  JsonLines(JsonLines&& other) noexcept;
  JsonLines& operator=(JsonLines&&) = delete;
  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  [[nodiscard]] int fd() const { return fd_; }
  /// Reads what is there. False when the other end is gone, or sent a line that is too long.
  [[nodiscard]] bool receive();
  /// The next complete line; a discarded value if it is not JSON; none if there is no complete line.
  [[nodiscard]] std::optional<nlohmann::json> next();
  /// Queues a value and writes what the socket takes. False when the other end is gone or does not read.
  [[nodiscard]] bool send(const nlohmann::ordered_json& value);
  /// Writes more of what is queued; false as `send`.
  [[nodiscard]] bool flush();
  /// Whether something is queued: wait until the socket is writable.
  [[nodiscard]] bool wants_to_write() const { return !out_.empty(); }

 private:
  int fd_;
  std::string in_;
  std::size_t searched_ = 0;  // of `in_`, without a line's end
  std::string out_;
};

}  // namespace roce::gen
