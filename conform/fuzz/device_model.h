// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "conform/fuzz/expectation.h"
#include "conform/fuzz/memory_model.h"
#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

/// The responder of a QP of the device as the specification has it (RC: IBTA vol. 1, 9.7.4 and 9.7.5, docs/rules.md
/// RC-RESP; UC: 9.8.2, UC-01 to UC-04; UD: 9.8.3, UD-01 to UD-05): what it may answer to a request, and what it knows
/// afterwards. It shares nothing with our endpoint, so that a mistake of that is not in both. Requests come one at a
/// time: each is answered before the next one is taken.
class DeviceModel {
 public:
  struct Attributes {
    Qpn qpn{};
    transport::QpType type = transport::QpType::rc;
    transport::QpState state = transport::QpState::rts;  ///< in which it was before any packet
    Qpn peer{};                                          ///< the tester's QPN
    QKey q_key{};                                        ///< of a UD QP
    std::uint32_t port_mtu = 1024;                       ///< the most bytes of a datagram
    std::uint32_t path_mtu = 1024;                       ///< bytes
    Psn first_psn{};
    transport::Access access = transport::Access::none;
    std::uint8_t rnr_timer = 12;       ///< the code of its RNR NAKs
    std::uint8_t rd_atomic_depth = 4;  ///< READs and atomics that it has to remember for duplicates
    bool has_windows = false;          ///< the device can bind windows of type 2 on it
  };
  /// Returns the attributes of a QP that was made by a setup.
  [[nodiscard]] static Attributes attributes_of(const QpSetup& setup, Qpn qpn, std::uint32_t port_mtu);
  /// `port` and `memory` have to outlive the model.
  DeviceModel(const Attributes& attributes, const Port& port, MemoryModel& memory);

  /// Returns what the device may do with a frame that comes now; at least one thing.
  [[nodiscard]] Expectation judge(const Packet& request) const;
  /// Takes over what the device did.
  void apply(const Behaviour& behaviour);
  /// Takes over that the QP went to RESET and came back, with this PSN as the first one.
  void restart(Psn first_psn);
  /// Returns the events of the QP up to now, in their order.
  [[nodiscard]] const std::vector<AwaitedEvent>& events() const { return events_; }
  /// Returns what has to become of a binding that the device posts now.
  [[nodiscard]] BindOutcome judge(const Bind& bind) const;
  /// Takes over that a window was bound to these bytes, with this key.
  void bind_window(const Region& window, transport::Access access) { memory_.add(Key::window, window, access); }
  /// Takes over that the window is free.
  void free_window() { memory_.remove(Key::window); }
  /// Takes over that the QP went to ERR; returns the completions of its receives, of which one that is in use may have
  /// any error.
  std::vector<ReceiveDone> stop();
  /// Takes a receive that the device has posted.
  void post_receive(const PostedReceive& receive) { state_.receives.push_back(receive); }

  [[nodiscard]] const DeviceState& state() const { return state_; }
  [[nodiscard]] const Attributes& attributes() const { return attributes_; }
  /// Returns the bytes that the open WRITE still lacks.
  [[nodiscard]] std::uint64_t missing() const { return state_.write.dma_length - state_.received; }
  /// True if requests may still name the region of `Key::lent`.
  [[nodiscard]] bool is_lent() const { return memory_.has(Key::lent); }
  /// Returns how many bytes there are from address 0 of a key on; those of the region for a key that opens none.
  [[nodiscard]] std::uint64_t length_of(Key key) const;
  /// True if a window is bound.
  [[nodiscard]] bool has_window() const { return memory_.has(Key::window); }
  /// Returns the key that a READ or atomic named.
  [[nodiscard]] Key key_of(const Executed& executed) const;
  /// Returns where a READ or atomic was, from the begin of the region that it named.
  [[nodiscard]] std::int64_t offset_of(const Executed& executed) const;
  /// Returns a number of 0 … kStates-1 that stands for the state, for telling states apart.
  [[nodiscard]] unsigned abstract_state() const;
  static constexpr unsigned kReliableStates = 49;
  static constexpr unsigned kUnreliableStates = 12;
  static constexpr unsigned kDatagramStates = 2;
  static constexpr unsigned kStates = kReliableStates + kUnreliableStates + kDatagramStates;

 private:
  /// True if the frame is one that the QP looks at.
  [[nodiscard]] bool is_taken(const Packet& request) const;
  [[nodiscard]] Expectation judge_reliable(const Packet& request) const;
  /// Lets the ACKs of a behaviour promise no more receives than are posted then (RC-RESP-25).
  void limit_credits(Behaviour& behaviour) const;
  [[nodiscard]] Expectation judge_gap() const;
  [[nodiscard]] Expectation judge_duplicate(const Packet& request) const;
  [[nodiscard]] Expectation judge_duplicate_read(const Packet& request) const;
  [[nodiscard]] bool may_read_again(const Reth& read) const;
  [[nodiscard]] Expectation judge_duplicate_atomic(const Packet& request) const;
  [[nodiscard]] Expectation judge_next(const Packet& request) const;
  [[nodiscard]] Expectation execute_send(const Packet& request) const;
  /// Takes over which events a behaviour makes.
  void note_events(const Behaviour& behaviour);
  /// Returns the completions of all receives of a QP that goes to ERR.
  [[nodiscard]] std::vector<ReceiveDone> flushed_receives() const;
  /// Returns what may become of a SEND that is to invalidate a key which no peer can invalidate.
  [[nodiscard]] Expectation refuse_invalidation(const PostedReceive& receive) const;
  [[nodiscard]] Expectation execute_write(const Packet& request) const;
  [[nodiscard]] Expectation execute_read(const Packet& request) const;
  [[nodiscard]] Expectation execute_atomic(const Packet& request) const;
  [[nodiscard]] Expectation judge_unreliable(const Packet& request) const;
  [[nodiscard]] Expectation execute_unreliable(const Packet& request) const;
  [[nodiscard]] Behaviour lose_message(const Packet& request) const;
  [[nodiscard]] Expectation judge_datagram(const Packet& request) const;

  [[nodiscard]] bool is_in_order(const OpcodeInfo& info) const;
  [[nodiscard]] bool has_right(Operation operation) const;
  [[nodiscard]] bool has_legal_length(const Packet& request) const;

  [[nodiscard]] Behaviour refuse(NakCode code) const;
  [[nodiscard]] Behaviour not_ready() const;
  /// Adds what may become of a READ or atomic that has a payload, beside being executed.
  void add_payload_refusals(Expectation& expectation) const;
  /// Adds an executed request: with its ACK, and also without it if it did not ask for one.
  void add_executed(Expectation& expectation, Behaviour behaviour, const Packet& request) const;
  /// Adds the responses to a READ from one of its packets on.
  void add_read_responses(Behaviour& behaviour, const Reth& read, Psn psn, Msn msn, bool goes_on) const;

  Attributes attributes_;
  const Port& port_;
  MemoryModel& memory_;
  DeviceState state_;
  std::vector<AwaitedEvent> events_{};
  std::optional<std::size_t> established_{};  ///< which one of them says so, in this life of the QP
};

}  // namespace roce::conform::fuzz
