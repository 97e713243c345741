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

/// The members that only some send requests use.
struct SendWqeExtra {
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  FlushTarget flush{};
  DatagramAddress datagram{};
  MwBinding bind{};
};

/// A posted send request: the members that each of its packets needs, in less than a cache line.
struct SendWqe {
  std::uint64_t wr_id = 0;
  std::uint64_t remote_address = 0;
  RKey r_key{};
  std::uint32_t length = 0;     ///< bytes of the message
  std::uint32_t immediate = 0;  ///< immediate data, or the key to invalidate
  Psn first_psn{};
  std::uint32_t psn_count = 0;  ///< 0 for a request that does not go on the wire
  Msn ssn{};                    ///< number of the message on its QP, from 1
  WorkOpcode opcode = WorkOpcode::send;
  CompletionStatus status = CompletionStatus::success;
  std::uint8_t sge_count = 0;
  bool signaled = false;
  bool fence = false;
  bool solicited = false;
  bool is_inline = false;
  bool done = false;  ///< complete, but waits for the requests before it

  [[nodiscard]] Psn last_psn() const { return first_psn + (psn_count - 1); }
  /// True if the request needs a response of its own; an ACK of a later PSN does not complete it.
  [[nodiscard]] bool needs_response() const {
    return opcode == WorkOpcode::read || opcode == WorkOpcode::compare_swap || opcode == WorkOpcode::fetch_add ||
           opcode == WorkOpcode::atomic_write || opcode == WorkOpcode::flush;
  }
  /// True if the request counts against max_rd_atomic.
  [[nodiscard]] bool is_rd_atomic() const { return needs_response() && opcode != WorkOpcode::flush; }
  [[nodiscard]] bool is_local() const {
    return opcode == WorkOpcode::local_invalidate || opcode == WorkOpcode::bind_mw;
  }
  [[nodiscard]] bool takes_receive() const {
    return opcode == WorkOpcode::send || opcode == WorkOpcode::send_with_immediate ||
           opcode == WorkOpcode::send_with_invalidate || opcode == WorkOpcode::write_with_immediate;
  }
};

/// The sending half of a QP. Requests are numbered as posted: those below `head` are complete, those below `next`
/// were sent since the last go-back, those below `fresh` were sent at least once.
struct Requester {
  std::uint32_t mask = 0;
  std::uint32_t head = 0;
  std::uint32_t next = 0;
  std::uint32_t next_packet = 0;  ///< next packet of request `next`
  std::uint32_t fresh = 0;
  std::uint32_t tail = 0;

  Psn una{};       ///< oldest PSN not acknowledged; within a READ: the next response expected
  Psn next_psn{};  ///< first PSN of the next request to be sent for the first time
  Psn sent_end{};  ///< one past the highest PSN that was sent or belongs to a requested response
  Msn next_ssn{1};
  std::uint32_t rd_outstanding = 0;  ///< READs and atomics among [head, next)
  std::uint32_t packets_without_ack_request = 0;
  std::uint32_t messages_without_ack_request = 0;

  std::uint8_t retries_left = 0;
  std::uint8_t rnr_left = 0;
  bool recovering = false;  ///< went back, and no progress since
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

/// A response that waits to be sent.
struct Response {
  enum class Kind : std::uint8_t { ack, atomic_ack, read };

  Kind kind = Kind::ack;
  AethSyndrome syndrome{};
  bool resumed = false;  ///< a READ response that continues where an earlier one stopped
  bool started = false;  ///< its first packet is out
  bool counts = false;   ///< counts against max_dest_rd_atomic: the first response to its request
  Psn psn{};             ///< PSN of the next packet
  Msn msn{};
  RKey r_key{};
  std::uint64_t value = 0;    ///< atomic_ack: the value before; read: the address of the next data
  std::uint32_t length = 0;   ///< read: bytes left
  std::uint32_t packets = 1;  ///< packets left

  /// Returns the kind of a response that is more than an ACK. ATOMIC WRITE and FLUSH get an empty READ response.
  [[nodiscard]] static Kind kind_for(Operation request) {
    const bool is_atomic = request == Operation::compare_swap || request == Operation::fetch_add;
    return is_atomic ? Kind::atomic_ack : Kind::read;
  }
};

/// An executed READ, atomic or ATOMIC WRITE that may be requested again.
struct Replay {
  Operation operation = Operation::unknown;  ///< `unknown`: the slot is free
  std::uint32_t psn_count = 0;
  std::uint64_t position = 0;  ///< position of its first PSN, as in `Responder`
  RKey r_key{};
  std::uint32_t length = 0;
  std::uint64_t address = 0;
  std::uint64_t original = 0;  ///< the value that an atomic found
};

/// The receiving half of a QP.
struct Responder {
  static constexpr std::uint64_t kLap = 1U << 24U;
  /// Number of FLUSHes remembered. They do not count against max_dest_rd_atomic, so there may be any number of them.
  static constexpr std::uint32_t kFlushes = 128;

  enum class Open : std::uint8_t { nothing, send, write };

  /// The number of PSNs expected before `e_psn`, plus one lap of the PSN space; unlike a PSN, it never repeats.
  std::uint64_t position = kLap;
  Psn e_psn{};  ///< the PSN expected next
  Msn msn{};    ///< number of messages completed
  Open open = Open::nothing;
  bool nak_latched = false;  ///< the gap was reported by a NAK; silent until `e_psn` comes
  bool has_receive = false;  ///< `receive` was taken from its queue and not completed
  bool established = false;
  Psn last_non_read_psn{};  ///< PSN of the last executed request that was not a READ
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
  std::vector<std::uint64_t> flushes;  ///< a ring of FLUSH positions, 0: free; empty if the QP does not allow FLUSH
  std::uint32_t next_flush = 0;
  std::uint32_t rd_pending = 0;  ///< READs and atomics accepted and not yet answered

  void advance(std::uint32_t psns) {
    e_psn = e_psn + psns;
    position += psns;
  }
  /// Returns the position of a PSN near `e_psn`.
  [[nodiscard]] std::uint64_t position_of(Psn psn) const {
    return position + static_cast<std::uint64_t>(std::int64_t{psn.distance_from(e_psn)});
  }
  /// True if a request whose response is more than an ACK can be accepted now.
  [[nodiscard]] bool has_room_for_answer() const { return responses.size() + 2 < responses.capacity(); }
  /// Returns the stored request that took the PSN at position `at`; nullptr if it is not in the store.
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
    std::uint32_t behind = 0;  ///< number of packets that must go first
  };
  static constexpr std::size_t kMaxHeld = 64;

  MisbehaviourHook* hook = nullptr;
  std::vector<Held> held;
};

/// A queue pair. The members that each packet needs come first and together: with 10,000 QPs each line is a cache miss.
// NOLINTNEXTLINE(clang-analyzer-optin.performance.Padding): in the order of their use they are better off than by size.
struct alignas(64) Qp {
  Qpn qpn{};
  std::uint32_t slot = 0;
  QpState state = QpState::reset;
  std::uint8_t opcode_base = 0;  ///< service bits of its opcodes
  PKey p_key{};
  std::uint32_t mtu = 0;
  std::uint32_t pd = 0;
  std::uint32_t receive_pd = 0;  ///< PD of the receive buffers: the SRQ's, or the QP's own
  Qpn dest_qp{};
  Access access = Access::none;

  // Scheduling.
  std::uint32_t next_ready = 0;
  std::uint8_t ready_class = 0;
  bool queued = false;  ///< in a ready list
  bool waits_for_neighbour = false;
  bool respond_next = true;  ///< true: the responder's turn; false: the requester's

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

  /// Fetches the members that a packet needs into the cache, ahead of use.
  void prefetch() const {
    constexpr std::size_t line = 64;
    constexpr std::size_t hot = 16 * line;
    const auto* bytes = reinterpret_cast<const std::byte*>(this);
    for (std::size_t offset = 0; offset < hot; offset += line) __builtin_prefetch(bytes + offset);
  }
  /// Fetches the request to be sent next into the cache; the QP itself should be there already.
  void prefetch_request() const {
    const std::uint32_t next = req.next & req.mask;
    __builtin_prefetch(req.ring.data() + next);
    __builtin_prefetch(req.sges.data() + std::size_t{next} * init.max_send_sge);
  }
};

}  // namespace roce::transport::detail
