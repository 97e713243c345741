// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "roce/transport/counters.h"
#include "roce/transport/hook.h"
#include "roce/transport/qp_attributes.h"
#include "roce/wire/aeth.h"
#include "roce/wire/opcode.h"
#include "transport/emitter.h"
#include "transport/pacer.h"
#include "transport/queues.h"

namespace roce::transport::detail {

/// What only some send requests have.
struct SendWqeExtra {
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  FlushTarget flush{};
  DatagramAddress datagram{};
  MwBinding bind{};
};

/// A posted send request: what every packet of it needs, in less than a cache line.
struct SendWqe {
  std::uint64_t wr_id = 0;
  std::uint64_t remote_address = 0;
  RKey r_key{};
  std::uint32_t length = 0;     ///< bytes of the message
  std::uint32_t immediate = 0;  ///< or the key to invalidate
  Psn first_psn{};
  std::uint32_t psn_count = 0;  ///< 0 for what does not go on the wire
  Msn ssn{};                    ///< which message of the QP it is, from 1
  WorkOpcode opcode = WorkOpcode::send;
  CompletionStatus status = CompletionStatus::success;
  std::uint8_t sge_count = 0;
  bool signaled = false;
  bool fence = false;
  bool solicited = false;
  bool is_inline = false;
  bool done = false;  ///< complete, waits for the requests before it

  [[nodiscard]] Psn last_psn() const { return first_psn + (psn_count - 1); }
  /// Whether it takes an answer of its own; an ACK of a later PSN does not complete it.
  [[nodiscard]] bool needs_response() const {
    return opcode == WorkOpcode::read || opcode == WorkOpcode::compare_swap || opcode == WorkOpcode::fetch_add ||
           opcode == WorkOpcode::atomic_write || opcode == WorkOpcode::flush;
  }
  /// Whether it counts against max_rd_atomic.
  [[nodiscard]] bool is_rd_atomic() const { return needs_response() && opcode != WorkOpcode::flush; }
  [[nodiscard]] bool is_local() const {
    return opcode == WorkOpcode::local_invalidate || opcode == WorkOpcode::bind_mw;
  }
  [[nodiscard]] bool takes_receive() const {
    return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate ||
           opcode == WorkOpcode::send_with_invalidate || opcode == WorkOpcode::write_with_immediate;
  }
};

/// The sending half of a QP. Requests are numbered as posted: those below `head` are complete, those below `next` were
/// sent since the last go-back, those below `fresh` were sent at least once.
struct Requester {
  std::uint32_t mask = 0;
  std::uint32_t head = 0;
  std::uint32_t next = 0;
  std::uint32_t next_packet = 0;  ///< of request `next`
  std::uint32_t fresh = 0;
  std::uint32_t tail = 0;

  Psn una{};       ///< the oldest PSN not acknowledged; of a READ: the next response expected
  Psn next_psn{};  ///< of the next request to be sent for the first time
  Psn sent_end{};  ///< one past the highest PSN that went out or was asked for
  Msn next_ssn{1};
  std::uint32_t rd_outstanding = 0;  ///< READs and atomics among [head, next)
  std::uint32_t packets_without_ack_request = 0;
  std::uint32_t messages_without_ack_request = 0;

  std::uint8_t retries_left = 0;
  std::uint8_t rnr_left = 0;
  bool recovering = false;  ///< went back and has seen no progress since
  bool drain_reported = true;
  Time timeout_at = kNever;
  Time rnr_until = kNever;
  bool credit_limited = false;
  Msn credit_limit{};  ///< the last SSN that may be sent

  std::vector<SendWqe> ring;
  std::vector<SendWqeExtra> extra;
  std::vector<Sge> sges;
  std::vector<std::byte> inline_data;

  [[nodiscard]] SendWqe& wqe(std::uint32_t i) { return ring[i & mask]; }
  [[nodiscard]] std::size_t slot(const SendWqe& wqe) const { return static_cast<std::size_t>(&wqe - ring.data()); }
  [[nodiscard]] SendWqeExtra& extra_of(const SendWqe& wqe) { return extra[slot(wqe)]; }
  [[nodiscard]] bool outstanding() const { return sent_end.distance_from(una) > 0; }
};

/// An answer that waits to be sent.
struct Response {
  enum class Kind : std::uint8_t { ack, atomic_ack, read };

  Kind kind = Kind::ack;
  AethSyndrome syndrome{};
  bool resumed = false;  ///< a READ that goes on where an earlier answer stopped
  bool started = false;  ///< its first packet is out
  bool counts = false;   ///< against max_dest_rd_atomic: it is the first answer to its request
  Psn psn{};             ///< of the next packet
  Msn msn{};
  RKey r_key{};
  std::uint64_t value = 0;    ///< atomic_ack: what was there; read: where the data begins
  std::uint32_t length = 0;   ///< read: bytes left
  std::uint32_t packets = 1;  ///< left

  /// How a request that is answered by more than an ACK is: an ATOMIC WRITE and a FLUSH by a READ response of nothing.
  [[nodiscard]] static Kind kind_for(Operation request) {
    const bool is_atomic = request == Operation::compare_swap || request == Operation::fetch_add;
    return is_atomic ? Kind::atomic_ack : Kind::read;
  }
};

/// A READ, atomic or ATOMIC WRITE that may be asked for again.
struct Replay {
  Operation operation = Operation::unknown;  ///< `unknown`: the place is free
  std::uint32_t psn_count = 0;
  std::uint64_t position = 0;  ///< of its first PSN, as in `Responder`
  RKey r_key{};
  std::uint32_t length = 0;
  std::uint64_t address = 0;
  std::uint64_t original = 0;  ///< what an atomic found
};

/// The receiving half of a QP.
struct Responder {
  static constexpr std::uint64_t kLap = 1U << 24U;
  /// FLUSHes that are remembered. They are not counted against max_dest_rd_atomic, so there may be any number of them.
  static constexpr std::uint32_t kFlushes = 128;

  enum class Open : std::uint8_t { nothing, send, write };

  /// How many PSNs were expected before `e_psn`, and a lap of them: unlike a PSN, it never comes again.
  std::uint64_t position = kLap;
  Psn e_psn{};  ///< expected next
  Msn msn{};    ///< messages completed
  Open open = Open::nothing;
  bool nak_latched = false;  ///< the gap was reported; silent until `e_psn` comes
  bool has_receive = false;  ///< `receive` was taken from its queue and not completed
  bool established = false;
  Psn last_non_read_psn{};  ///< of the last request executed that was no READ
  Ring<Response> responses;
  ReceiveWqe receive{};
  std::vector<Sge> receive_sges;
  std::uint64_t receive_offset = 0;
  std::uint64_t write_address = 0;
  RKey write_key{};
  std::uint32_t write_left = 0;
  std::uint32_t write_total = 0;

  std::uint32_t acks_held = 0;
  Psn held_psn{};
  Time ack_due = kNever;

  ReceiveQueue queue;
  std::vector<Replay> replays;
  std::uint32_t next_replay = 0;
  std::vector<std::uint64_t> flushes;  ///< a ring of their positions, 0 for none; empty where the QP allows none
  std::uint32_t next_flush = 0;
  std::uint32_t rd_pending = 0;  ///< READs and atomics accepted and not yet answered

  void advance(std::uint32_t psns) {
    e_psn = e_psn + psns;
    position += psns;
  }
  /// Of a PSN around `e_psn`.
  [[nodiscard]] std::uint64_t position_of(Psn psn) const {
    return position + static_cast<std::uint64_t>(std::int64_t{psn.distance_from(e_psn)});
  }
  /// Whether a request that is answered by more than an ACK can be taken now.
  [[nodiscard]] bool has_room_for_answer() const { return responses.size() + 2 < responses.capacity(); }
  /// What took the PSN at `at`, if it is in the store; else nullptr.
  [[nodiscard]] const Replay* replay_at(std::uint64_t at) const {
    for (const Replay& replay : replays) {
      if (replay.operation != Operation::unknown && at >= replay.position && at - replay.position < replay.psn_count) {
        return &replay;
      }
    }
    return nullptr;
  }
};

/// Packets that a misbehaviour hook holds back.
struct Misbehaviour {
  struct Held {
    std::vector<std::byte> bytes;
    std::uint16_t ip_id = 0;
    Time due{};
    std::uint32_t behind = 0;  ///< packets that have to go first
  };
  static constexpr std::size_t kMaxHeld = 64;

  MisbehaviourHook* hook = nullptr;
  std::vector<Held> held;
};

/// A queue pair. What each packet needs stands first and together: with ten thousand QPs every line of it is a miss.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order of their use they are better off than by size.
struct alignas(64) Qp {
  Qpn qpn{};
  std::uint32_t slot = 0;
  QpState state = QpState::reset;
  std::uint8_t opcode_base = 0;  ///< service bits of its opcodes
  PKey p_key{};
  std::uint32_t mtu = 0;
  std::uint32_t pd = 0;
  std::uint32_t receive_pd = 0;  ///< of the memory that receives name: the SRQ's, or the QP's own
  Qpn dest_qp{};
  Access access = Access::none;

  // Scheduling.
  std::uint32_t next_ready = 0;
  std::uint8_t ready_class = 0;
  bool queued = false;  ///< in a ready list
  bool waits_for_neighbour = false;
  bool respond_next = true;  ///< whose turn it is, the responder's or the requester's

  std::unique_ptr<Pacer> pacer;
  std::unique_ptr<Misbehaviour> misbehaviour;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* receive_cq = nullptr;
  SharedReceiveQueue* srq = nullptr;

  QpInit init{};
  Duration timeout{0};  ///< 0: none

  Requester req;
  Responder resp;
  Path path{};
  Counters counters{};

  QpAttributes attributes{};

  // Congestion.
  bool cnp_sent_before = false;
  Time last_cnp{};
  std::uint32_t groups = 0;  ///< multicast attachments

  [[nodiscard]] bool is_datagram() const { return init.type == QpType::ud || init.type == QpType::gsi; }

  /// Fetches what a packet needs into the cache, ahead of use.
  void prefetch() const {
    constexpr std::size_t line = 64;
    constexpr std::size_t hot = 16 * line;
    const auto* bytes = reinterpret_cast<const std::byte*>(this);
    for (std::size_t offset = 0; offset < hot; offset += line) __builtin_prefetch(bytes + offset);
  }
  /// Fetches the request to be sent next; the QP itself should be there.
  void prefetch_request() const {
    const std::uint32_t next = req.next & req.mask;
    __builtin_prefetch(req.ring.data() + next);
    __builtin_prefetch(req.sges.data() + std::size_t{next} * init.max_send_sge);
  }
};

}  // namespace roce::transport::detail
