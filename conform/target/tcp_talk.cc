// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/tcp_talk.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>

namespace roce::conform {

namespace {

using Clock = TcpTalk::Clock;

/// Waits for an event of a socket; false if there was none before `end`.
bool wait_for(int fd, short events, Clock::time_point end) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
  pollfd waiting{fd, events, 0};
  return ::poll(&waiting, 1, static_cast<int>(std::clamp<std::int64_t>(left, 0, 1'000'000'000))) > 0;
}

tl::unexpected<live::Error> failure_of(const TcpServer& server, std::string_view why) {
  return live::cannot(fmt::format("{} at {} port {}: {}", server.program, server.host, server.port, why));
}

/// Waits until it is worth to try again. Error: the command that starts the server has ended.
TargetResult<void> pause(ShellCommand* started) {
  constexpr std::chrono::milliseconds time{20};
  if (started == nullptr) {
    // Nothing tells when a server begins to listen.
    std::this_thread::sleep_for(time);
    return {};
  }
  if (!started->wait_until(Clock::now() + time)) return {};
  if (TargetResult<void> done = started->result(); !done) return done;
  return tl::unexpected(std::string{"the command ended with status 0"});
}

}  // namespace

live::Result<TcpTalk> TcpTalk::connect(const TcpServer& server, ShellCommand* started) {
  const Clock::time_point end = Clock::now() + server.patience;
  for (;;) {
    live::Result<live::Tcp> tcp = live::Tcp::connect(server.host, server.port);
    if (!tcp) return tl::unexpected(tcp.error());
    if (!wait_for(tcp->fd(), POLLOUT, end)) return failure_of(server, "nobody answers there");
    const int error = tcp->connected();
    if (error == 0) return TcpTalk{server, std::move(*tcp), end};
    if (error != ECONNREFUSED || Clock::now() >= end) {
      return failure_of(server,
                        fmt::format("{}; start it there, or say how with --server-command", std::strerror(error)));
    }
    if (const TargetResult<void> going = pause(started); !going) {
      return failure_of(server, fmt::format("nobody listens, and of --server-command {}", going.error()));
    }
  }
}

tl::unexpected<live::Error> TcpTalk::failure(std::string_view why) const {
  return failure_of(server_, why);
}

live::Result<void> TcpTalk::write(std::string_view bytes) {
  if (tcp_.write(bytes)) return {};
  return failure("it closed the connection");
}

bool TcpTalk::has(std::size_t size) {
  if (data_.size() < size && !is_closed_) is_closed_ = tcp_.read(data_, size) == live::Tcp::Read::closed;
  return data_.size() >= size;
}

std::string TcpTalk::take(std::size_t size) {
  std::string bytes = data_.substr(0, size);
  data_.erase(0, size);
  return bytes;
}

bool TcpTalk::wait() const {
  return wait_for(tcp_.fd(), POLLIN, end_);
}

live::Result<std::string> TcpTalk::read(std::size_t size, std::string_view what) {
  while (!has(size)) {
    const std::string_view end = is_closed_ ? "it closed the connection" : "nothing more came in time";
    if (!is_closed_ && wait()) continue;
    return failure(fmt::format("expected {}, and after {} of {} bytes {}", what, data_.size(), size, end));
  }
  return take(size);
}

}  // namespace roce::conform
