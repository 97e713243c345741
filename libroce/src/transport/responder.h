// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "roce/transport/verbs.h"
#include "roce/wire/aeth.h"
#include "roce/wire/bth.h"
#include "roce/wire/opcode.h"
#include "roce/wire/packet.h"
#include "roce/wire/reth.h"
#include "roce/wire/time.h"
#include "transport/faults.h"
#include "transport/memory.h"
#include "transport/queues.h"
#include "transport/responder_gap.h"

namespace roce::transport::detail {

class Emitter;
struct DeviceState;
struct Qp;
enum class Served : std::uint8_t;

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
  std::uint32_t pd = 0;       ///< read: of the memory
  std::uint64_t value = 0;    ///< atomic_ack: the value before; read: the address of the next data
  std::uint32_t length = 0;   ///< read: bytes left
  std::uint32_t packets = 1;  ///< packets left
};

/// An executed READ, atomic or ATOMIC WRITE that may be requested again.
struct Replay {
  Operation operation = Operation::unknown;  ///< `unknown`: the slot is free
  std::uint32_t psn_count = 0;
  std::uint64_t position = 0;  ///< position of its first PSN, as in `Responder`
  RKey r_key{};
  std::uint32_t pd = 0;
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

  std::unique_ptr<Gap> gap;  ///< null if the profile recovers from gaps as the specification says

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
  /// True if a request whose response is more than an ACK can be accepted now: two places stay free for ACKs and NAKs.
  [[nodiscard]] bool has_room_for_answer() const { return responses.size() + 2 < responses.capacity(); }
  /// True if an ACK can be queued: the last place stays free for a NAK.
  [[nodiscard]] bool has_room_for_ack() const { return responses.size() + 1 < responses.capacity(); }
  /// Forgets the ACK that is held back, because another response acknowledges as much, or nothing is to be sent.
  void drop_held_ack() {
    acks_held = 0;
    ack_due = kNever;
  }
  /// Returns the memory of the receive that the responder holds.
  [[nodiscard]] std::span<const Sge> receive_memory() const { return {receive_sges.data(), receive.sge_count}; }
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

// Received packets (responder_receive.cc, responder_gap.cc, responder_duplicate.cc, unreliable.cc).

/// Takes a request of an RC QP, in its turn or not.
void on_request(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
/// Takes a request of an RC QP that has the expected PSN.
void take_in_turn(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
/// Answers a request that was executed before.
void on_duplicate(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth);
/// Takes a packet of a UC QP.
void on_unreliable(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth);

// SENDs and WRITEs packet by packet, alike for RC and UC (responder_message.cc).

/// True if the payload of a SEND or WRITE fits its opcode and the path MTU.
[[nodiscard]] inline bool has_fitting_payload(const Packet& packet, std::uint32_t mtu) {
  const OpcodeInfo& info = packet.info();
  const std::uint32_t length = packet.payload_length();
  if (fault(Fault::first_short_ok) && !info.ends_message() && length < mtu) return true;
  if (fault(Fault::last_empty_ok) && info.position == Position::last && length == 0) return true;
  if (fault(Fault::only_long_ok) && info.ends_message() && length > mtu) return true;
  if (fault(Fault::pad_ignored) && length + packet.pad().size() == mtu) return true;
  return payload_fits(info.payload, length, mtu);
}

/// Puts the payload of a SEND's packet into the receive that the responder holds.
[[nodiscard]] Scattered take_send_payload(DeviceState& device, Qp& qp, const Packet& packet);
/// The result of `take_write_payload`; `bad_length`: the packets of the WRITE do not add up to the length in its RETH.
enum class Written : std::uint8_t { done, bad_length, no_access };
/// Puts the payload of a WRITE's packet, which has to fit its opcode, where its RETH says.
[[nodiscard]] Written take_write_payload(DeviceState& device, Qp& qp, const Packet& packet);
/// Counts a message whose last packet was taken, and completes its receive if it has one.
void complete_message(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth);

// The responses that wait to be sent (responder_answer.cc).

/// Queues an ACK or NAK.
void answer(DeviceState& device, Qp& qp, AethSyndrome syndrome, Psn psn);
/// Queues the response to a READ from `psn` on; there must be room for it.
Response& answer_with_data(DeviceState& device, Qp& qp, const Reth& reth, Psn psn, std::uint32_t packets);
/// Queues the response to an atomic, or the empty READ response to an ATOMIC WRITE or FLUSH; there must be room for it.
Response& answer_with_value(DeviceState& device, Qp& qp, Operation request, Psn psn, std::uint64_t original = 0);
/// Queues the ACK that is held back, if there is one.
void release_ack(DeviceState& device, Qp& qp);
/// Returns the syndrome of an ACK, with or without credits.
[[nodiscard]] AethSyndrome ack_syndrome(const DeviceState& device, const Qp& qp);

/// Sends up to `quantum` packets of responses, and takes them off `quantum` (responder_send.cc).
[[nodiscard]] Served serve_responder(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum);

}  // namespace roce::transport::detail
