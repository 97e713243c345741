// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "roce/live/endpoint.h"
#include "roce/live/pingpong_message.h"

namespace roce::gen {

/// The `ibv_*_pingpong` program at the other end.
enum class PingpongKind : std::uint8_t { rc, uc, ud, srq };

struct PingpongOptions {
  PingpongKind kind = PingpongKind::rc;
  std::uint32_t size = 4096;        ///< bytes of a message
  std::uint32_t iterations = 1000;  ///< messages each way
  std::uint32_t path_mtu = 1024;    ///< bytes
  bool compare = true;              ///< false: messages of any size and content are taken
};

/// The messages of one pingpong: the client sends, the server answers with what it received, and so on. The data are
/// those of the programs, and everything received is compared with them.
class PingpongSession {
 public:
  enum class Role : std::uint8_t { client, server };

  /// Makes the QPs and posts their receives.
  [[nodiscard]] static Outcome<std::unique_ptr<PingpongSession>> make(live::Endpoint& endpoint,
                                                                      const PingpongOptions& options, Role role);
  ~PingpongSession();
  PingpongSession(const PingpongSession&) = delete;
  PingpongSession& operator=(const PingpongSession&) = delete;

  /// Returns how many messages go over TCP each way: one, or the 256 of an SRQ pingpong.
  [[nodiscard]] static std::size_t message_count(PingpongKind kind);
  [[nodiscard]] std::size_t message_count() const { return message_count(options_.kind); }
  /// Returns the messages for the other end.
  [[nodiscard]] std::vector<live::PingpongMessage> local() const;
  /// Connects the QPs; the client's first messages are posted.
  [[nodiscard]] Outcome<void> connect(const std::vector<live::PingpongMessage>& remote, Time now);

  /// Takes completions; true if there was one. Failure: the exchange cannot go on.
  [[nodiscard]] Outcome<bool> poll(Time now);
  /// True if all messages were sent and received.
  [[nodiscard]] bool finished() const;
  /// Returns when the last message came or went.
  [[nodiscard]] Time last_progress() const { return last_progress_; }

  [[nodiscard]] std::uint32_t sent() const { return sent_; }
  [[nodiscard]] std::uint32_t received() const { return received_; }
  /// True if the peer left before its acknowledgement of our last message arrived; it had received that message.
  [[nodiscard]] bool last_ack_missing() const { return last_ack_missing_; }
  /// Returns the counters of all QPs of the session.
  [[nodiscard]] transport::Counters counters() const;

 private:
  struct Pair {
    Qpn qpn{};
    Psn psn{};
    bool send_pending = false;
    bool receive_pending = true;
    std::uint32_t reply_slot = 0;
    transport::Ah ah{};
    live::PingpongMessage remote{};
  };

  PingpongSession(live::Endpoint& endpoint, const PingpongOptions& options, Role role);
  [[nodiscard]] Outcome<void> make_objects();
  [[nodiscard]] Outcome<void> make_pair();
  [[nodiscard]] Outcome<void> connect_pair(Pair& pair, Time now);
  [[nodiscard]] Outcome<void> post_receive(std::uint32_t slot);
  [[nodiscard]] Outcome<void> post_send(Pair& pair);
  [[nodiscard]] Outcome<void> take(const transport::Completion& completion);
  [[nodiscard]] Outcome<void> check_data(std::uint32_t slot, std::uint32_t length) const;
  [[nodiscard]] std::size_t slot_offset(std::uint32_t slot) const { return std::size_t{slot} * slot_bytes_; }
  [[nodiscard]] std::uint32_t network_header() const;

  live::Endpoint& endpoint_;
  transport::Device& device_;
  PingpongOptions options_;
  Role role_;
  std::uint32_t slots_ = 0;  // receives posted; one more slot holds the data that the client sends
  std::size_t slot_bytes_ = 0;
  std::vector<std::byte> memory_;
  transport::Pd pd_{};
  transport::Cq cq_{};
  transport::Mr mr_{};
  transport::MrInfo region_{};
  transport::Srq srq_{};
  std::vector<Pair> pairs_;
  std::uint32_t posted_ = 0;
  std::uint32_t sent_ = 0;
  std::uint32_t received_ = 0;
  bool last_ack_missing_ = false;
  Time last_progress_{};
};

}  // namespace roce::gen
