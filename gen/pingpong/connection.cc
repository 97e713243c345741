// SPDX-License-Identifier: BSD-2-Clause
#include "gen/pingpong/connection.h"

#include <fmt/format.h>
#include <poll.h>

#include <cstring>

#include "perftest/channel.h"

namespace roce::gen {

namespace {

constexpr std::string_view kDone{"done\0", 5};
constexpr Duration kHandshakeTime = std::chrono::seconds{10};
constexpr Duration kIdleTime = std::chrono::seconds{10};
/// How long the other end may still repeat its last message because our acknowledgement was lost.
constexpr Duration kLinger = std::chrono::seconds{1};

}  // namespace

PingpongConnection::PingpongConnection(live::Endpoint& endpoint, const PingpongOptions& options,
                                       PingpongSession::Role role, live::Tcp tcp, std::string peer, Time now)
    : endpoint_(endpoint),
      options_(options),
      role_(role),
      tcp_(std::move(tcp)),
      peer_(std::move(peer)),
      deadline_(now + kHandshakeTime) {
  const bool client = role == PingpongSession::Role::client;
  // A server makes queue pairs only for those that speak the protocol.
  if (client && !make_session()) return;
  endpoint_.driver().watch(tcp_.fd(), client ? POLLOUT : POLLIN,
                           [this](short events) { handshake(events, endpoint_.now()); });
}

PingpongConnection::~PingpongConnection() {
  if (tcp_.fd() >= 0) endpoint_.driver().forget(tcp_.fd());
}

bool PingpongConnection::make_session() {
  Outcome<std::unique_ptr<PingpongSession>> session = PingpongSession::make(endpoint_, options_, role_);
  if (session) {
    session_ = std::move(*session);
  } else {
    fail(session.error().message);
  }
  return session_ != nullptr;
}

void PingpongConnection::fail(std::string error) {
  error_ = std::move(error);
  state_ = State::over;
  deadline_ = kNever;
  if (tcp_.fd() >= 0) endpoint_.driver().forget(tcp_.fd());
}

bool PingpongConnection::send_local() {
  std::string text;
  for (const live::PingpongMessage& message : session_->local()) {
    const auto bytes = to_text(message);
    text.append(bytes.data(), bytes.size());
  }
  exchanged_ = true;
  if (!tcp_.write(text)) fail("the peer closed the TCP connection while we told our queue pairs");
  return state_ != State::over;
}

bool PingpongConnection::take_remote() {
  const std::size_t count = PingpongSession::message_count(options_.kind);
  if (data_.size() < count * live::PingpongMessage::kSize) return false;
  for (std::size_t i = 0; i < count; ++i) {
    const std::string_view text =
        std::string_view{data_}.substr(i * live::PingpongMessage::kSize, live::PingpongMessage::kSize);
    const std::optional<live::PingpongMessage> message = live::parse_pingpong(text);
    if (!message) {
      fail(fmt::format("expected the message of a pingpong program on TCP, got {}; is the peer another program?",
                       quote(text.substr(0, text.find('\0')))));
      return false;
    }
    remote_.push_back(*message);
  }
  data_.erase(0, count * live::PingpongMessage::kSize);
  return true;
}

void PingpongConnection::handshake(short events, Time now) {
  if (state_ != State::handshake) return;
  if (role_ == PingpongSession::Role::client && !exchanged_) {
    if (const int error = tcp_.connected(); error != 0) {
      return fail(fmt::format("cannot connect: {}; is the pingpong program running there?", std::strerror(error)));
    }
    if ((events & POLLOUT) == 0) return;
    if (!send_local()) return;
    endpoint_.driver().watch(tcp_.fd(), POLLIN, [this](short ready) { handshake(ready, endpoint_.now()); });
    return;
  }
  const std::size_t limit = PingpongSession::message_count(options_.kind) * live::PingpongMessage::kSize + kDone.size();
  const live::Tcp::Read read = tcp_.read(data_, limit);
  if (read == live::Tcp::Read::closed) {
    return fail("the peer closed the TCP connection before the exchange of queue pairs was complete");
  }
  if (role_ == PingpongSession::Role::client) {
    client_handshake(now);
  } else {
    server_handshake(now);
  }
}

void PingpongConnection::client_handshake(Time now) {
  if (!take_remote()) return;
  if (!tcp_.write(kDone)) return fail("the peer closed the TCP connection before the exchange was complete");
  if (Outcome<void> connected = session_->connect(remote_, now); !connected) return fail(connected.error().message);
  begin(now);
}

void PingpongConnection::server_handshake(Time now) {
  if (!exchanged_) {
    if (!take_remote() || !make_session()) return;
    if (Outcome<void> connected = session_->connect(remote_, now); !connected) return fail(connected.error().message);
    if (!send_local()) return;
  }
  if (data_.size() < kDone.size()) return;
  if (data_ != kDone) return fail(fmt::format("expected \"done\" on TCP, got {}", quote(data_)));
  begin(now);
}

void PingpongConnection::begin(Time now) {
  endpoint_.driver().forget(tcp_.fd());
  state_ = State::messages;
  has_begun_ = true;
  started_ = finished_ = now;
  deadline_ = now + kIdleTime;
}

bool PingpongConnection::step(Time now) {
  if (state_ == State::over) return false;
  bool moved = false;
  // The client may send its first message before its "done" has been read here.
  if (session_ != nullptr && (state_ != State::handshake || exchanged_)) {
    const Outcome<bool> polled = session_->poll(now);
    if (!polled) {
      fail(polled.error().message);
      return true;
    }
    moved = *polled;
  }
  if (state_ == State::messages && moved) {
    finished_ = now;
    deadline_ = now + kIdleTime;
    if (session_->finished()) {
      state_ = State::lingering;
      deadline_ = now + kLinger;
    }
  }
  if (now < deadline_) return moved;
  if (state_ == State::handshake) {
    fail("the peer did not complete the exchange of queue pairs in 10 s");
  } else if (state_ == State::messages) {
    fail(fmt::format("nothing came for 10 s; {} of {} messages were received", session_->received(),
                     options_.iterations));
  } else {
    state_ = State::over;
    deadline_ = kNever;
  }
  return true;
}

}  // namespace roce::gen
