// SPDX-License-Identifier: BSD-2-Clause
#include "control_line.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <utility>

#include "roce/live/unix_socket.h"

namespace roce::attack {

namespace {

constexpr int kPatienceMs = 5000;

}  // namespace

ControlLine::ControlLine(const std::string& path) : fd_(-1) {
  const live::Result<int> fd = live::connect_unix(path, "peer", "it is gone");
  if (!fd) throw PeerLost(fd.error().message, false);
  fd_ = *fd;
  call(R"({"op":"hello","version":1})");
}

ControlLine::~ControlLine() {
  if (fd_ >= 0) ::close(fd_);
}

ControlLine::ControlLine(ControlLine&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)),
      out_(std::move(other.out_)),
      in_(std::move(other.in_)),
      asked_(other.asked_),
      requests_(other.requests_) {}

std::size_t ControlLine::ask(std::string request) {
  out_ += request;
  out_ += '\n';
  ++requests_;
  return asked_++;
}

std::vector<nlohmann::json> ControlLine::answers() {
  std::vector<nlohmann::json> list;
  std::size_t searched = 0;
  while (list.size() < asked_) {
    std::size_t begin = 0;
    for (std::size_t end = in_.find('\n', searched); end != std::string::npos; end = in_.find('\n', begin)) {
      list.push_back(nlohmann::json::parse(in_.begin() + static_cast<std::ptrdiff_t>(begin),
                                           in_.begin() + static_cast<std::ptrdiff_t>(end)));
      begin = end + 1;
    }
    in_.erase(0, begin);
    searched = in_.size();
    if (list.size() < asked_) exchange();
  }
  asked_ = 0;
  return list;
}

nlohmann::json ControlLine::call(std::string request) {
  const std::string asked = request;
  ask(std::move(request));
  nlohmann::json answer = std::move(answers().front());
  if (!answer.value("ok", false)) throw std::runtime_error("the peer refused " + asked + ": " + answer.dump());
  return answer;
}

void ControlLine::exchange() {
  pollfd set{fd_, static_cast<short>(out_.empty() ? POLLIN : POLLIN | POLLOUT), 0};
  if (::poll(&set, 1, kPatienceMs) == 0) throw PeerLost("no answer on the control connection in 5 s", true);
  if ((set.revents & POLLOUT) != 0) {
    const ssize_t sent = ::send(fd_, out_.data(), out_.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent > 0) out_.erase(0, static_cast<std::size_t>(sent));
  }
  std::array<char, 65536> buffer{};
  const ssize_t got = ::recv(fd_, buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got > 0) {
    in_.append(buffer.data(), static_cast<std::size_t>(got));
  } else if (got == 0 || (errno != EAGAIN && errno != EINTR)) {
    throw PeerLost("the peer closed the control connection", false);
  }
}

}  // namespace roce::attack
