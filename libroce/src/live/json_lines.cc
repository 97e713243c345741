// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/json_lines.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

namespace roce::live {

namespace {

/// Bytes of answers that the other end has not read; more of them end the connection.
constexpr std::size_t kMaxQueued = 16 << 20;
/// Parts of 64 KiB of received data, thrown away when a connection ends.
constexpr int kPartsThrownAway = 16;

}  // namespace

JsonLines::~JsonLines() {
  if (fd_ >= 0) ::close(fd_);
}

JsonLines::JsonLines(JsonLines&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      longest_(other.longest_),
      in_(std::move(other.in_)),
      begin_(other.begin_),
      searched_(other.searched_),
      out_(std::move(other.out_)) {}

bool JsonLines::receive() {
  if (has_line()) return true;
  // Lines that were taken are removed only here, many at once.
  in_.erase(0, begin_);
  searched_ -= begin_;
  begin_ = 0;
  std::array<char, 65536> buffer{};
  const std::size_t room = longest_ + 1 - std::min(longest_, in_.size());
  const ssize_t got = ::recv(fd_, buffer.data(), std::min(buffer.size(), room), MSG_DONTWAIT);
  if (got < 0) return errno == EAGAIN || errno == EINTR;
  if (got == 0) return false;
  in_.append(buffer.data(), static_cast<std::size_t>(got));
  return has_line() || in_.size() <= longest_;
}

bool JsonLines::has_line() {
  const std::size_t end = in_.find('\n', searched_);
  searched_ = end == std::string::npos ? in_.size() : end;
  return end != std::string::npos;
}

std::optional<JsonLines::Line> JsonLines::next() {
  if (!has_line()) return std::nullopt;
  const std::string_view text = std::string_view{in_}.substr(begin_, searched_ - begin_);
  begin_ = ++searched_;
  return json_input::parse<nlohmann::json>(text, {.bytes = kMaxLine});
}

bool JsonLines::send(const nlohmann::ordered_json& value) {
  // It may contain text of the other end, which need not be UTF-8.
  out_ += value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  out_ += '\n';
  return flush() && out_.size() <= kMaxQueued;
}

bool JsonLines::flush() {
  std::size_t sent = 0;
  while (sent < out_.size()) {
    const ssize_t result = ::send(fd_, out_.data() + sent, out_.size() - sent, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (result > 0) {
      sent += static_cast<std::size_t>(result);
    } else if (errno != EINTR) {
      if (errno != EAGAIN) return false;
      break;
    }
  }
  out_.erase(0, sent);
  return true;
}

void JsonLines::end() {
  (void)::shutdown(fd_, SHUT_WR);
  // Unread bytes would make the kernel reset the connection, and our last answer would be lost.
  std::array<char, 65536> buffer{};
  for (int part = 0; part < kPartsThrownAway; ++part) {
    if (::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT) <= 0) return;
  }
}

}  // namespace roce::live
