// SPDX-License-Identifier: BSD-2-Clause
#include "gen/json_lines.h"

#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

namespace roce::gen {

namespace {

/// Answers that nobody reads.
constexpr std::size_t kMaxQueued = 16 << 20;

}  // namespace

JsonLines::~JsonLines() {
  if (fd_ >= 0) ::close(fd_);
}

JsonLines::JsonLines(JsonLines&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      in_(std::move(other.in_)),
      searched_(other.searched_),
      out_(std::move(other.out_)) {}

bool JsonLines::receive() {
  std::array<char, 65536> buffer{};
  while (in_.size() <= kMaxLine) {
    const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got > 0) {
      in_.append(buffer.data(), static_cast<std::size_t>(got));
    } else if (got == 0) {
      return false;
    } else if (errno != EINTR) {
      return errno == EAGAIN;
    }
  }
  // More may wait behind the lines that are complete.
  return in_.find('\n', searched_) != std::string::npos;
}

std::optional<nlohmann::json> JsonLines::next() {
  const std::size_t end = in_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = in_.size();
    return std::nullopt;
  }
  nlohmann::json value =
      nlohmann::json::parse(in_.begin(), in_.begin() + static_cast<std::ptrdiff_t>(end), nullptr, false);
  in_.erase(0, end + 1);
  searched_ = 0;
  return value;
}

bool JsonLines::send(const nlohmann::ordered_json& value) {
  // Text of the other end may be in it, which need not be UTF-8.
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

}  // namespace roce::gen
