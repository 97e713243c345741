// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_client.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "roce/live/unix_socket.h"

namespace roce::live {

namespace {

/// In real time: the peer answers outside of any simulation, whose time stands still meanwhile.
constexpr std::chrono::seconds kAnswerTime{10};
/// Milliseconds between two rounds of our own port while we wait for an answer.
constexpr int kLookMs = 1;

[[nodiscard]] Result<int> connect_tcp(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(host.c_str(), fmt::format("{}", port).c_str(), &hints, &found); error != 0) {
    return cannot(fmt::format("\"{}\" is no host that is known: {}", host, ::gai_strerror(error)));
  }
  const std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)> list{found, &::freeaddrinfo};
  const int fd = ::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  // A host that drops our packets must not hold us up for minutes.
  const timeval limit{5, 0};
  (void)::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  if (::connect(fd, found->ai_addr, found->ai_addrlen) == 0) return fd;
  const int error = errno;
  ::close(fd);
  return cannot(fmt::format("cannot connect to {} port {}: {}; is roce-gen peer running there with --control-port?",
                            host, port, std::strerror(error == EINPROGRESS ? ETIMEDOUT : error)));
}

}  // namespace

Result<std::unique_ptr<ControlClient>> ControlClient::open(Endpoint& endpoint, const ControlAddress& address,
                                                           const nlohmann::json& shard) {
  return open(&endpoint, address, shard);
}

Result<std::unique_ptr<ControlClient>> ControlClient::open(const ControlAddress& address, const nlohmann::json& shard) {
  return open(nullptr, address, shard);
}

Result<std::unique_ptr<ControlClient>> ControlClient::open(Endpoint* endpoint, const ControlAddress& address,
                                                           const nlohmann::json& shard) {
  const Result<int> fd = address.port != 0 ? connect_tcp(address.host, address.port)
                                           : connect_unix(address.socket, "peer",
                                                          "start roce-gen peer there, and give its --control path");
  if (!fd) return tl::unexpected(fd.error());
  std::unique_ptr<ControlClient> client{new ControlClient{endpoint, *fd}};
  nlohmann::ordered_json hello{{"version", ControlSession::kVersion}};
  if (!address.token.empty()) hello["token"] = address.token;
  if (!shard.is_null()) hello["shard"] = shard;
  Result<nlohmann::json> answer = client->call("hello", std::move(hello));
  // Another version, a wrong token and no peer at all are errors of usage: no exchange has failed.
  if (!answer) return cannot(answer.error().message);
  client->hello_ = std::move(*answer);
  return client;
}

Result<nlohmann::json> ControlClient::call(std::string_view op, nlohmann::ordered_json request) {
  const std::uint64_t id = next_id_++;
  request["id"] = id;
  request["op"] = op;
  if (is_over_ || !lines_.send(request)) {
    is_over_ = true;
    return failed(fmt::format("the peer is gone: its control connection closed before \"{}\"", op));
  }
  return await(op, id);
}

Result<nlohmann::json> ControlClient::await(std::string_view op, std::uint64_t id) {
  const auto deadline = std::chrono::steady_clock::now() + kAnswerTime;
  bool is_open = true;
  while (std::chrono::steady_clock::now() < deadline) {
    while (std::optional<JsonLines::Line> line = lines_.next()) {
      if (!*line || !(*line)->is_object()) {
        is_over_ = true;
        return failed("what answers on the control connection does not speak the control protocol");
      }
      nlohmann::json& answer = **line;
      const auto answered = answer.find("id");
      // An answer without an id says that the connection is over, whatever was asked.
      const bool is_for_all = answered == answer.end();
      if (!is_for_all && *answered != id) continue;
      const auto ok = answer.find("ok");
      const bool is_good = !is_for_all && ok != answer.end() && ok->is_boolean() && ok->get<bool>();
      if (is_good) return std::move(answer);
      is_over_ = is_for_all;
      const auto reason = answer.find("error");
      const bool has_reason = reason != answer.end() && reason->is_string();
      constexpr std::size_t kLongestReason = 1000;
      return failed(fmt::format("the peer refused \"{}\": {}", op,
                                has_reason
                                    ? json_input::shown_text(reason->get_ref<const std::string&>(), kLongestReason)
                                    : "without a reason"));
    }
    if (!is_open) {
      is_over_ = true;
      return failed(fmt::format("the peer closed the control connection instead of answering \"{}\"", op));
    }
    const Result<bool> waited = wait(deadline);
    if (!waited) return tl::unexpected(waited.error());
    is_open = *waited;
  }
  is_over_ = true;
  return failed(fmt::format("the peer did not answer \"{}\" in 10 s", op));
}

Result<bool> ControlClient::wait(std::chrono::steady_clock::time_point deadline) {
  int longest = kLookMs;
  if (endpoint_ != nullptr) {
    if (const link::LinkResult<bool> moved = endpoint_->port().turn(endpoint_->now()); !moved)
      return failed(moved.error().message);
    endpoint_->driver().do_posted();
  } else {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    longest = static_cast<int>(std::max<std::int64_t>(left.count(), 0));
  }
  pollfd set{lines_.fd(), static_cast<short>(POLLIN | (lines_.wants_to_write() ? POLLOUT : 0)), 0};
  (void)::poll(&set, 1, longest);
  // The end of the connection counts only after the lines before it have been read: one may be the answer.
  return lines_.flush() && ((set.revents & (POLLIN | POLLHUP | POLLERR)) == 0 || lines_.receive());
}

}  // namespace roce::live
