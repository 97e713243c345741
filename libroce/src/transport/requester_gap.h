// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>

#include "roce/wire/bth.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "transport/held_packets.h"

namespace roce::transport::detail {

struct Qp;

/// The memory of an RC requester about a gap in the responses to its READs and atomics (LossRecovery::held_responses).
struct ResponseGap {
  ResponseGap(std::uint32_t packets, std::uint32_t packet_bytes) : held(packets, packet_bytes) {}

  HeldPackets held;
  std::uint64_t position = 1U << 24U;  ///< of the oldest PSN without an answer: as many more as PSNs were answered
  std::optional<Psn> newest{};         ///< of the responses that came behind the gap, held or not
  std::optional<Psn> acknowledged{};   ///< the newest PSN that a response or an ACK acknowledged behind the gap
  std::optional<Psn> alone_end{};      ///< one past the PSNs of a request that went again alone and is to be answered
  Psn alone_at{};                      ///< one past the newest PSN when it went
  Psn last{};                          ///< of the responses that came since
  bool is_answered = false;            ///< a response to it has come: each before was of a greater PSN than the last

  /// Forgets what is expected, not what is held.
  void forget() {
    newest.reset();
    acknowledged.reset();
    alone_end.reset();
  }
};

// All of these do nothing, or return nothing, for a QP without a ResponseGap.

/// True if the answers behind a gap are held.
[[nodiscard]] bool holds_answers(const Qp& qp);
/// Keeps a response that came behind a gap.
void hold_response(Qp& qp, const Packet& packet, Psn psn, Time now);
/// Notes that a response has come, to the oldest PSN without an answer or to one behind it.
void note_response(Qp& qp, Psn psn);
/// Notes an ACK of a PSN behind the oldest request, which awaits a response of its own.
void hold_acknowledgement(Qp& qp, Psn psn);
/// Returns the held response to the oldest PSN without an answer, as long as nothing is kept; empty if there is none.
[[nodiscard]] Bytes held_response(const Qp& qp);
/// Returns the newest PSN that is acknowledged, once the requests before it are answered.
[[nodiscard]] std::optional<Psn> held_acknowledgement(const Qp& qp);
/// Notes that so many more PSNs were answered.
void close_response_gap(Qp& qp, std::uint32_t psns);
/// True if a request went again alone, and is to be answered.
[[nodiscard]] bool goes_alone(const Qp& qp);
/// True if a request with older PSNs than this one did.
[[nodiscard]] bool goes_alone_before(const Qp& qp, Psn psn);
/// True if an answer to `psn` shows that the one to a request that went again alone is lost, too.
[[nodiscard]] bool is_answer_lost_again(const Qp& qp, Psn psn);
/// True if an answer behind the oldest PSN without one has come, so that its own was lost.
[[nodiscard]] bool shows_gap(const Qp& qp);
/// Notes that the oldest request went again alone.
void await_alone(Qp& qp);
/// Notes that it need not go any more.
void forget_alone(Qp& qp);
/// True if the oldest request alone is to go again, which is then the next to be sent.
[[nodiscard]] bool requests_alone(Qp& qp);

}  // namespace roce::transport::detail
