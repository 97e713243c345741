// SPDX-License-Identifier: BSD-2-Clause
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "roce/live/control_clients.h"
#include "roce/live/endpoint.h"

// The input is a script for four clients of the control protocol at one peer, a line for each step. `0` … `3` in front:
// client 0 … 3 sends the rest of the line with its end; `a` … `d`: without its end, so that several make one request.
// `w` … `z`: client 0 … 3 closes. `f`: a frame comes in. All that the peer sends comes back to it, so that its queue
// pairs can talk to each other. `@`, `~` and `^` with a digit stand for numbers that no input can know. Required: each
// answer is an object that states success or failure, there is no answer without a request, and when all clients have
// left, their memory is given back.

namespace {

using namespace roce;

void check(bool holds) {
  if (!holds) std::abort();
}

constexpr std::uint64_t kMemory = 1 << 20;
constexpr std::size_t kClients = 4;
constexpr std::size_t kMaxLines = 64;
constexpr std::string_view kHello{"\0\0\0\x0d\1RoCE\0\1\0\0\0\0\x23\x3a", 17};

/// A peer on a stream whose other end is here.
class Peer {
 public:
  Peer() {
    std::array<int, 2> fds{};
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0);
    wire_ = fds[1];
    check(::send(wire_, kHello.data(), kHello.size(), 0) == static_cast<ssize_t>(kHello.size()));
    live::EndpointOptions options;
    options.link = live::LinkChoice::stream;
    options.interface = "fd:" + std::to_string(fds[0]);
    options.ip = "192.0.2.7/24";
    options.seed = 1;
    // The peer's own address, so that the frames that it sends to itself come in.
    options.peer_mac = "02:00:c0:00:02:07";
    auto opened = live::Endpoint::open(options);
    check(opened.has_value());
    endpoint_ = std::move(*opened);
    endpoint_->driver().set_spin(Duration{0});
  }

  [[nodiscard]] live::Endpoint& endpoint() { return *endpoint_; }

  /// Runs rounds of the event loop until nothing happens any more.
  void run(live::ControlClients& clients) {
    int idle = 0;
    int rounds = 0;
    check(endpoint_->driver()
              .run([&](Time time) {
                const bool moved = clients.step() || reflect();
                while (endpoint_->port().poll_event(time)) {
                }
                idle = moved ? 0 : idle + 1;
                if (idle == 3 || ++rounds == 2000) return live::Driver::Step::done;
                endpoint_->driver().wake_at(time);
                return live::Driver::Step::idle;
              })
              .has_value());
  }

  void come_in(std::string_view frame) {
    constexpr std::size_t kLongest = 9018;
    if (frame.size() < 14 || frame.size() > kLongest) return;
    const std::size_t length = frame.size() + 1;
    std::string message{'\0', '\0', static_cast<char>(length >> 8U), static_cast<char>(length), '\2'};
    message += frame;
    (void)!::send(wire_, message.data(), message.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

 private:
  bool reflect() {
    std::array<char, 65536> buffer{};
    const ssize_t got = ::recv(wire_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (got <= 0) return false;
    pending_.append(buffer.data(), static_cast<std::size_t>(got));
    while (pending_.size() >= 5) {
      std::size_t length = 0;
      for (int i = 0; i < 4; ++i)
        length = length << 8U | static_cast<unsigned char>(pending_[static_cast<std::size_t>(i)]);
      if (pending_.size() < 4 + length) break;
      if (pending_[4] == '\2') come_in(std::string_view{pending_}.substr(5, length - 1));
      pending_.erase(0, 4 + length);
    }
    return true;
  }

  int wire_ = -1;
  std::string pending_;
  std::unique_ptr<live::Endpoint> endpoint_;
};

/// Our end of a control connection.
class Client {
 public:
  explicit Client(live::ControlClients& clients, std::string address) {
    std::array<int, 2> fds{};
    check(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, fds.data()) == 0);
    fd_ = fds[0];
    clients.add(fds[1], std::move(address));
  }
  ~Client() { close(); }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  void say(std::string_view text) {
    if (fd_ < 0) return;
    const std::string filled_in = fill_in(text);
    text = filled_in;
    lines_ += static_cast<std::size_t>(std::ranges::count(text, '\n'));
    (void)!::send(fd_, text.data(), text.size(), MSG_NOSIGNAL);
  }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }
  void hear() {
    if (fd_ < 0) return;
    std::array<char, 65536> buffer{};
    for (ssize_t got = 0; (got = ::recv(fd_, buffer.data(), buffer.size(), 0)) > 0;) {
      text_.append(buffer.data(), static_cast<std::size_t>(got));
    }
    for (std::size_t end = 0; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      const auto answer = nlohmann::json::parse(text_.substr(0, end), nullptr, false);
      check(answer.is_object() && answer.contains("ok") && answer["ok"].is_boolean());
      check(answer["ok"].get<bool>() != answer.contains("error"));
      if (answer.contains("qp")) numbers_['@'].push_back(answer["qp"]);
      if (answer.contains("address")) numbers_['~'].push_back(answer["address"]);
      if (answer.contains("r_key")) numbers_['^'].push_back(answer["r_key"]);
      ++answers_;
    }
    // One answer without a request may tell why the connection ends.
    check(answers_ <= lines_ + 1);
  }

 private:
  /// Replaces `@`, `~` and `^` with a digit n: by the number of queue pair n, the address and the R_Key of memory n.
  [[nodiscard]] std::string fill_in(std::string_view text) const {
    std::string result;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const auto known = numbers_.find(text[i]);
      const std::size_t which = i + 1 < text.size() ? static_cast<std::size_t>(text[i + 1] - '0') : SIZE_MAX;
      if (known == numbers_.end() || which >= known->second.size()) {
        result += text[i];
      } else {
        result += std::to_string(known->second[which]);
        ++i;
      }
    }
    return result;
  }

  int fd_ = -1;
  std::map<char, std::vector<std::uint64_t>> numbers_;
  std::string text_;
  std::size_t lines_ = 0;
  std::size_t answers_ = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size > 65536) return 0;
  static Peer peer;
  const auto budget = std::make_shared<live::MemoryBudget>(kMemory);
  live::ControlSession::Terms terms;
  terms.token = "t";
  terms.budget = budget;
  {
    live::ControlClients served{peer.endpoint(), nullptr, terms};
    std::array<std::unique_ptr<Client>, kClients> clients;
    for (std::size_t i = 0; i < kClients; ++i) {
      clients.at(i) = std::make_unique<Client>(served, i == 0 ? "" : "address " + std::to_string(i / 2));
    }
    std::string_view script{reinterpret_cast<const char*>(data), size};
    for (std::size_t count = 0; !script.empty() && count < kMaxLines; ++count) {
      const std::size_t end = std::min(script.find('\n'), script.size());
      const std::string_view line = script.substr(0, end);
      const std::string_view whole = script.substr(0, std::min(end + 1, script.size()));
      script.remove_prefix(whole.size());
      if (line.empty()) continue;
      const char who = line.front();
      if (who >= '0' && who < '0' + static_cast<int>(kClients))
        clients.at(static_cast<std::size_t>(who - '0'))->say(whole.substr(1));
      if (who >= 'a' && who < 'a' + static_cast<int>(kClients))
        clients.at(static_cast<std::size_t>(who - 'a'))->say(line.substr(1));
      if (who >= 'w' && who < 'w' + static_cast<int>(kClients))
        clients.at(static_cast<std::size_t>(who - 'w'))->close();
      if (who == 'f') peer.come_in(line.substr(1));
      peer.run(served);
      for (const auto& client : clients) client->hear();
    }
    for (const auto& client : clients) client->close();
    peer.run(served);
  }
  check(budget->left() == kMemory);
  return 0;
}
