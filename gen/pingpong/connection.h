// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>

#include "gen/pingpong/session.h"
#include "roce/live/endpoint.h"
#include "roce/live/tcp.h"

namespace roce::gen {

/// One pingpong from the TCP handshake to its last message (rdma-core, libibverbs/examples): the client sends the data
/// of its QPs, the server connects its own and answers, the client sends `done`, and the messages begin.
class PingpongConnection {
 public:
  /// Takes a connection that was just accepted, or begun to `peer`.
  PingpongConnection(live::Endpoint& endpoint, const PingpongOptions& options, PingpongSession::Role role,
                     live::Tcp tcp, std::string peer, Time now);
  ~PingpongConnection();
  PingpongConnection(const PingpongConnection&) = delete;
  PingpongConnection& operator=(const PingpongConnection&) = delete;

  enum class State : std::uint8_t { handshake, messages, lingering, over };

  /// Takes completions and checks the time; true if something happened.
  bool step(Time now);
  [[nodiscard]] State state() const { return state_; }
  /// Returns when `step` has to be called even if nothing has come.
  [[nodiscard]] Time next_timeout() const { return deadline_; }
  /// Returns why it failed; empty if it did not.
  [[nodiscard]] const std::string& error() const { return error_; }
  /// True if the messages went through; the QPs still answer repeated packets until the state is `over`.
  [[nodiscard]] bool succeeded() const { return error_.empty() && state_ >= State::lingering; }
  /// True if the handshake was completed: both ends know each other's queue pairs.
  [[nodiscard]] bool has_begun() const { return has_begun_; }
  /// Ends a connection that is in its handshake, to make room for another.
  void displace() { fail("too many connections came before this one completed its handshake"); }
  /// Returns the name of the other end of the TCP connection.
  [[nodiscard]] const std::string& peer() const { return peer_; }
  [[nodiscard]] const PingpongSession* session() const { return session_.get(); }
  /// Returns the time from the first message to the last.
  [[nodiscard]] Duration duration() const { return finished_ - started_; }

 private:
  void handshake(short events, Time now);
  void server_handshake(Time now);
  void client_handshake(Time now);
  [[nodiscard]] bool make_session();
  void begin(Time now);
  void fail(std::string error);
  [[nodiscard]] bool send_local();
  [[nodiscard]] bool take_remote();

  live::Endpoint& endpoint_;
  PingpongOptions options_;
  PingpongSession::Role role_;
  live::Tcp tcp_;
  std::string peer_;
  std::unique_ptr<PingpongSession> session_;
  std::vector<live::PingpongMessage> remote_;
  std::string data_;  // read and not parsed yet
  State state_ = State::handshake;
  bool exchanged_ = false;  // our queue pairs were sent
  bool has_begun_ = false;
  std::string error_;
  Time deadline_ = kNever;
  Time started_{};
  Time finished_{};
};

}  // namespace roce::gen
