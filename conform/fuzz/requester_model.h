// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "conform/fuzz/memory_model.h"
#include "conform/fuzz/program.h"
#include "conform/fuzz/retry_model.h"
#include "conform/target/target.h"
#include "roce/transport/verbs.h"
#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

/// A request that the device has posted.
struct Posted {
  std::uint64_t wr_id = 0;
  transport::WorkOpcode opcode = transport::WorkOpcode::send;
  std::uint64_t local = 0;        ///< where its data are, or come to
  std::uint32_t length = 0;       ///< bytes
  std::uint64_t remote = 0;       ///< of RDMA and atomics
  bool own_q_key = false;         ///< of a datagram: it has the Q_Key of its QP
  Psn first{};                    ///< its first PSN
  std::uint32_t psns = 1;         ///< how many it takes: packets of the request, or of the answer to a READ
  std::uint32_t answered = 0;     ///< packets of a READ's or atomic's answer that came in order
  bool is_acknowledged = false;   ///< a right response covers all of it
  std::vector<std::byte> data{};  ///< of a READ or atomic: what came for it
};

/// Returns the opcode of a packet of a request on such a QP: 0 is the first one.
[[nodiscard]] Opcode opcode_of(transport::QpType type, transport::WorkOpcode operation, std::uint32_t packet,
                               std::uint32_t packets);
/// True if a QP takes such a request.
[[nodiscard]] bool may_post(transport::QpType type, transport::WorkOpcode operation);

/// The requester of a QP of the device as the specification has it (IBTA vol. 1, 9.7.5, 9.7.6, 9.8.2, 9.8.3;
/// docs/rules.md, RC-REQ, UC-01, UD-01, UD-03), as far as it can be judged whatever its timers do: it sends what was
/// posted, in order and again only as it was; a request succeeds only when it was answered, and fails only when
/// something was wrong; each has one completion, in order. On UC and UD nothing is answered: a request is complete once
/// it was sent.
class RequesterModel {
 public:
  struct Attributes {
    transport::QpType type = transport::QpType::rc;
    Qpn own{};                      ///< the device's
    QKey q_key{};                   ///< of a UD QP
    Qpn peer{};                     ///< the tester's, which requests have to name
    std::uint32_t path_mtu = 1024;  ///< bytes
    Psn first_psn{};
    std::uint8_t retry_count = kEndlessRetries;
  };
  /// `memory` has to outlive the model.
  RequesterModel(const Attributes& attributes, MemoryModel& memory)
      : attributes_(attributes),
        memory_(memory),
        next_(attributes.first_psn),
        behind_(attributes.first_psn),
        sent_(attributes.first_psn),
        retries_(attributes.retry_count) {}

  /// Takes a request that the device has posted; its PSNs and packets follow from it.
  void post(Posted posted);
  /// Judges a frame that the device sent. Returns the reason why it may not; empty if it may.
  [[nodiscard]] std::optional<std::string> judge_request(const Packet& request, Time now);
  /// Takes a response of the tester, right or wrong.
  void take_response(const Packet& response, Time now);
  /// Judges the next completion of the send queue. Returns the reason why it may not be; empty if it may.
  [[nodiscard]] std::optional<std::string> judge_completion(const transport::Completion& completion);
  /// Returns the reason why a completion is missing; empty if none is.
  [[nodiscard]] std::optional<std::string> find_missing() const;
  /// Returns the PSN that the last response said is missing, if it has to be sent again and was not yet.
  [[nodiscard]] std::optional<Psn> unrepeated() const { return unrepeated_; }

  /// Returns the time before which the last response lets nothing be sent again, and after which it has to be: that of
  /// an RNR NAK; empty if that said something else. `unrepeated` is its PSN.
  [[nodiscard]] std::optional<Duration> rnr_wait() const { return rnr_wait_; }

  /// Takes over that the device has done all that it does about an action; `is_wait`: its ACK timer ran out. Returns
  /// the reason why it may not have sent again what it sent; empty if it may.
  [[nodiscard]] std::optional<std::string> end_turn(bool is_wait);
  /// Returns the oldest PSN without an answer.
  [[nodiscard]] Psn oldest() const;
  [[nodiscard]] const RetryModel& retries() const { return retries_; }
  /// Returns the time from which on the ACK timer of the oldest PSN runs.
  [[nodiscard]] Time timer_since() const { return timer_since_; }

  /// Returns the requests without a completion, the oldest first.
  [[nodiscard]] const std::deque<Posted>& open() const { return open_; }
  /// Returns the PSN of the next new request.
  [[nodiscard]] Psn next() const { return next_; }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }
  /// True if a completion said that the QP is in ERR.
  [[nodiscard]] bool is_stopped() const { return is_stopped_; }
  /// True as long as each response was one that a right responder sends.
  [[nodiscard]] bool is_clean() const { return is_clean_; }
  /// Returns a number of 0 … kStates-1 that stands for the state.
  [[nodiscard]] unsigned abstract_state() const;
  static constexpr unsigned kReliableStates = 33;
  static constexpr unsigned kStates = kReliableStates + 2;

 private:
  [[nodiscard]] Posted* find_open(Psn psn);
  /// Returns the frame of a request as it has to be: opcode, payload and RETH; empty for a PSN that has none.
  [[nodiscard]] std::optional<std::string> compare_packet(const Packet& request, const Posted& posted) const;
  void acknowledge_before(Psn psn);
  /// True if data of a READ or atomic before this PSN, or at it, have not come.
  [[nodiscard]] bool lacks_data_up_to(Psn psn) const;
  /// Returns the time that a right RNR NAK asks for; empty if the response is none, or if it may be an old one.
  [[nodiscard]] std::optional<Duration> find_rnr_wait(const Packet& response) const;
  void take_answer(const Packet& response, Posted& posted);

  Attributes attributes_;
  MemoryModel& memory_;
  Psn next_;
  Psn behind_;  ///< the newest PSN before which all has arrived, as responses said
  Psn sent_;    ///< the newest PSN before which all was sent
  RetryModel retries_;
  bool has_repeated_ = false;   ///< since the last end of a turn
  bool is_recovering_ = false;  ///< something was sent again, and nothing new was answered since
  Time timer_since_{};          ///< since when the ACK timer runs
  std::deque<Posted> open_;
  std::optional<Psn> unrepeated_{};
  std::optional<Duration> rnr_wait_{};
  bool is_clean_ = true;
  bool is_stopped_ = false;
  bool has_failed_ = false;  ///< a completion said why the QP is in ERR
};

}  // namespace roce::conform::fuzz
