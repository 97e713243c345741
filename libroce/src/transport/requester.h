// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "roce/congestion/control.h"
#include "roce/transport/verbs.h"
#include "roce/wire/bth.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"
#include "transport/requester_recovery.h"

namespace roce::transport::detail {

class Emitter;
struct DeviceState;
struct Qp;
enum class Served : std::uint8_t;

/// The members that only some send requests use.
struct SendWqeExtra {
  std::uint64_t compare_add = 0;
  std::uint64_t swap = 0;
  FlushTarget flush{};
  DatagramAddress datagram{};
  XrcSrqn xrc_srq{};
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

  /// Ends the request with a status, once those before it are complete (RC-REQ-27).
  void fail(CompletionStatus with) {
    done = true;
    status = with;
  }
  [[nodiscard]] Psn last_psn() const { return first_psn + (psn_count - 1); }
  /// True if the request needs a response of its own; an ACK of a later PSN does not complete it.
  [[nodiscard]] bool needs_response() const {
    return opcode == WorkOpcode::read || opcode == WorkOpcode::compare_swap || opcode == WorkOpcode::fetch_add ||
           opcode == WorkOpcode::atomic_write || opcode == WorkOpcode::flush;
  }
  /// True if the request counts against max_rd_atomic.
  [[nodiscard]] bool is_rd_atomic() const { return needs_response() && opcode != WorkOpcode::flush && psn_count != 0; }
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
  Msn credit_limit{};                           ///< the last SSN that may be sent
  std::unique_ptr<RequesterRecovery> recovery;  ///< null if the profile recovers from losses as the specification says

  std::vector<SendWqe> ring;
  std::vector<SendWqeExtra> extra;
  std::vector<Sge> sges;
  std::vector<std::byte> inline_data;

  [[nodiscard]] SendWqe& wqe(std::uint32_t i) { return ring[i & mask]; }
  [[nodiscard]] std::size_t slot(const SendWqe& wqe) const { return static_cast<std::size_t>(&wqe - ring.data()); }
  [[nodiscard]] SendWqeExtra& extra_of(const SendWqe& wqe) { return extra[slot(wqe)]; }
  /// Returns the oldest request that is on the wire, or nullptr.
  [[nodiscard]] SendWqe* oldest() { return oldest_of(*this); }
  [[nodiscard]] const SendWqe* oldest() const { return oldest_of(*this); }
  [[nodiscard]] bool outstanding() const { return sent_end.distance_from(una) > 0; }

 private:
  template <typename Self>
  static auto oldest_of(Self& self) -> decltype(self.ring.data()) {
    for (std::uint32_t i = self.head; i != self.fresh; ++i) {
      if (self.ring[i & self.mask].psn_count != 0) return &self.ring[i & self.mask];
    }
    return nullptr;
  }
};

/// Sends up to `quantum` packets of requests, and takes them off `quantum`.
[[nodiscard]] Served serve_requester(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum);
void on_response(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_requester_timer(DeviceState& device, Qp& qp, Time now);
/// Resumes sending at the PSN `una`; counts as a retry if `costs_retry` says so. The QP goes to ERR if no retry is
/// left.
void go_back(DeviceState& device, Qp& qp, congestion::Loss loss, Time now);
/// Moves the send position to the oldest unacknowledged PSN.
void seek_una(Qp& qp);
/// Fails request `index` with `status`, after completing or flushing those before it; the QP goes to ERR (RC) or SQE.
void fail_request(DeviceState& device, Qp& qp, std::uint32_t index, CompletionStatus status, std::uint8_t syndrome);
/// Copies `length` bytes of the message at `offset` into `out`; false if a key is wrong.
[[nodiscard]] bool gather(const DeviceState& device, const Qp& qp, const SendWqe& wqe, std::uint64_t offset,
                          std::uint32_t length, std::byte* out);
/// Completes the requests at the head of the queue that are done; reports a drained send queue.
void retire(DeviceState& device, Qp& qp);

}  // namespace roce::transport::detail
