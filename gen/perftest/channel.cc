// SPDX-License-Identifier: BSD-2-Clause
#include "gen/perftest/channel.h"

#include <fmt/format.h>
#include <poll.h>

#include <cstring>

namespace roce::gen {

namespace {

/// A peer that keeps to the protocol is never more than one message ahead.
constexpr std::size_t kMaxAhead = 4096;
/// The programs write this last, and nobody reads it.
constexpr std::string_view kDone{"done\0", 5};

}  // namespace

TcpPerftestChannel::TcpPerftestChannel(live::Driver& driver, live::Tcp tcp) : driver_(driver), tcp_(std::move(tcp)) {
  driver_.watch(tcp_.fd(), POLLIN, [this](short) { read(); });
}

TcpPerftestChannel::~TcpPerftestChannel() {
  driver_.forget(tcp_.fd());
}

live::Task<> TcpPerftestChannel::establish() {
  driver_.watch(tcp_.fd(), POLLOUT, [this](short) {
    writable_ = true;
    driver_.forget(tcp_.fd());
  });
  const Time begun = co_await live::this_time{};
  const bool is_answered = co_await live::until([this] { return writable_; }, begun + kPerftestSilence);
  if (!is_answered) throw live::ScriptFailure("cannot connect: nobody answered for 10 s");
  if (const int error = tcp_.connected(); error != 0) {
    throw live::ScriptFailure(
        fmt::format("cannot connect: {}; is the perftest program running there?", std::strerror(error)));
  }
  driver_.watch(tcp_.fd(), POLLIN, [this](short) { read(); });
}

void TcpPerftestChannel::read() {
  const live::Tcp::Read read = tcp_.read(received_, kMaxAhead);
  // Bytes beyond kMaxAhead are not read: those that have come will already turn out to be wrong.
  closed_ = read == live::Tcp::Read::closed || received_.size() >= kMaxAhead;
  if (closed_) driver_.forget(tcp_.fd());
}

void TcpPerftestChannel::send(std::string_view message) {
  if (!tcp_.write(message)) throw live::ScriptFailure("the peer closed the connection while we wrote to it");
}

void TcpPerftestChannel::say_done() {
  (void)tcp_.write(kDone);
}

std::string TcpPerftestChannel::take(std::size_t size) {
  std::string message = received_.substr(0, size);
  received_.erase(0, size);
  return message;
}

}  // namespace roce::gen
