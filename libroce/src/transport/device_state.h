// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "roce/transport/device.h"
#include "transport/emitter.h"
#include "transport/memory.h"
#include "transport/qp.h"
#include "transport/queues.h"
#include "transport/slot_table.h"
#include "transport/timer_heap.h"

namespace roce::transport::detail {

struct ProtectionDomain {
  std::uint32_t users = 0;
};

struct AddressHandle {
  std::uint32_t pd = 0;
  Pd pd_handle{};
  AddressVector address{};
  Path path{};
};

/// A congestion notification that waits to be sent.
struct PendingCnp {
  Path path{};
  Qpn dest_qp{};
  Qpn qpn{};  ///< the local QP that received the marked packet
};

/// The result of serving a QP.
enum class Served : std::uint8_t {
  idle,     ///< nothing to send until something happens
  more,     ///< its share is used up, and it has more to send
  no_room,  ///< the buffer is full
};

/// The whole state of a device. The functions that act on it are in the files named after their subjects.
struct DeviceState {
  static constexpr std::uint32_t kNoQp = ~0U;
  static constexpr std::uint32_t kCnpRing = 256;

  DeviceState(DeviceConfig device_config, RandomSource random_source, RateLimiterFactory limiter_factory);

  DeviceConfig config;
  RandomSource random;
  RateLimiterFactory limiters;
  std::uint16_t id;

  MemoryTable memory;
  SlotTable<ProtectionDomain, Pd> pds;
  SlotTable<CompletionQueue, Cq> cqs;
  SlotTable<SharedReceiveQueue, Srq> srqs;
  SlotTable<AddressHandle, Ah> ahs;

  /// Indexed by the QPN's bits above the shard bits; the last element is QP1.
  std::vector<std::unique_ptr<Qp>> qps;
  std::uint32_t slot_mask;
  std::uint32_t next_qpn;
  std::uint32_t live_qps = 0;
  std::vector<std::pair<Gid, std::uint32_t>> groups;  ///< multicast group, QP slot

  TimerHeap timers;
  struct ReadyList {
    std::uint32_t first = kNoQp;
    std::uint32_t last = kNoQp;
  };
  std::array<ReadyList, 8> ready;
  std::uint8_t ready_classes = 0;  ///< one bit per class, set if its list is not empty
  std::uint8_t paused = 0;         ///< one bit per class
  std::uint8_t next_class = 7;
  std::array<ReceiveLevel, 8> receive_levels{};  ///< by class
  Ring<PendingCnp> cnps;

  std::map<std::pair<Gid, std::uint32_t>, MacAddress> neighbours;  ///< by GID and VLAN id (0xFFFF: no VLAN)
  std::vector<std::uint32_t> waiting_for_neighbour;

  Ring<Event> events;
  std::uint64_t lost_events = 0;
  std::uint32_t prefetched = kNoQp;  ///< slot of the QP fetched last: a burst is often of one QP
  bool cq_overflowed = false;        ///< a CQ has overflowed since `settle_overflows` last ran
  Counters other{};                  ///< counts that belong to no existing QP

  [[nodiscard]] const Profile& profile() const { return config.profile; }
  [[nodiscard]] Qp* find_qp(Qpn qpn) const {
    if (qpn.value() == 1) return qps.back().get();
    Qp* qp = qps[qpn.value() >> config.shard_bits & slot_mask].get();
    return qp != nullptr && qp->qpn == qpn ? qp : nullptr;
  }
  void report(const Event& event) {
    if (events.full()) {
      ++lost_events;
    } else {
      events.push() = event;
    }
  }
};

// Completions (completion.cc).

/// Puts a completion into a CQ; an overflow is left to `settle_overflows`.
void push_completion(DeviceState& device, CompletionQueue& cq, const Completion& completion, bool solicited);
/// Completes the oldest send request.
void complete_send(DeviceState& device, Qp& qp, CompletionStatus status, std::uint8_t syndrome = 0);
/// Completes the receive that the responder holds.
void complete_receive(DeviceState& device, Qp& qp, const Completion& completion, bool solicited);
/// Takes a receive from the QP's own or shared queue; false if there is none.
[[nodiscard]] bool take_receive(DeviceState& device, Qp& qp);
/// Moves the QP to ERR and flushes its queues in order. Responses not yet sent are dropped unless `keep_answers`.
void enter_error(DeviceState& device, Qp& qp, bool keep_answers);
/// Moves the QPs of overflowed CQs to ERR.
void settle_overflows(DeviceState& device);

// Paths (path.cc).

/// Resolves an address vector into a path between two QPs. Error: names the member that is wrong.
[[nodiscard]] VerbResult<Path> make_path(const DeviceState& device, const AddressVector& address, Qpn local,
                                         Qpn remote);
/// True if packets can be built for `link`; if a neighbour's MAC address is missing, asks for it.
[[nodiscard]] bool build_path(DeviceState& device, Path& path, TxCaps::Link link);
/// Does the same for a QP, and remembers the QP if it has to wait.
[[nodiscard]] bool build_path(DeviceState& device, Qp& qp, Path& path, TxCaps::Link link);

// Scheduling (scheduler.cc).

/// Puts the QP into its ready list, unless it waits for a neighbour.
void make_ready(DeviceState& device, Qp& qp);
/// Takes the QP out of the ready lists and of the timers.
void unschedule(DeviceState& device, Qp& qp);
/// Sets the QP's timer to the earliest time that it waits for. Pacing and held packets due by `served` need no timer.
void arm_timer(DeviceState& device, Qp& qp, Time served = Time{});
/// Does the work of `send_placed` after the ICRC, for a QP with a misbehaviour hook.
void send_misbehaving(DeviceState& device, Qp& qp, Emitter& out, Time now);
/// Finishes the packet placed last: computes its ICRC, asks the misbehaviour hook, counts it.
inline void send_placed(DeviceState& device, Qp& qp, Emitter& out, Time now) {
  out.seal();
  if (qp.misbehaviour != nullptr) [[unlikely]]
    return send_misbehaving(device, qp, out, now);
  ++qp.counters.sent_packets;
  qp.counters.sent_bytes += out.last().size();
}
/// Returns room for a packet of the QP, or nullptr.
[[nodiscard]] inline std::byte* place(Qp& qp, Path& path, Emitter& out, std::uint32_t size) {
  const bool alone = qp.misbehaviour != nullptr;
  return out.place(path, path.priority, qp.qpn.value(), size, alone);
}
/// Serves the ready QPs in turn until nothing is left or `out` is full; returns the number of units filled.
[[nodiscard]] std::size_t serve_all(DeviceState& device, Emitter& out, Time now);

// Requester (requester*.cc).

[[nodiscard]] Served serve_requester(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum);
[[nodiscard]] Served serve_datagrams(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum);
void on_response(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_requester_timer(DeviceState& device, Qp& qp, Time now);
/// Resumes sending at the PSN `una`; counts as a retry. The QP goes to ERR if no retry is left.
void go_back(DeviceState& device, Qp& qp, Time now);
/// Moves the send position to the oldest unacknowledged PSN.
void seek_una(Qp& qp);
/// Fails request `index` with `status`, after completing or flushing those before it; the QP goes to ERR (RC) or SQE.
void fail_request(DeviceState& device, Qp& qp, std::uint32_t index, CompletionStatus status, std::uint8_t syndrome);
/// Copies `length` bytes of the message at `offset` into `out`; false if a key is wrong.
[[nodiscard]] bool gather(const DeviceState& device, const Qp& qp, const SendWqe& wqe, std::uint64_t offset,
                          std::uint32_t length, std::byte* out);
/// Copies `bytes` into a list of SGEs at `offset`; `too_long` if they do not fit.
enum class Scattered : std::uint8_t { done, too_long, bad_key };
[[nodiscard]] Scattered scatter(const DeviceState& device, std::uint32_t pd, std::span<const Sge> sges,
                                std::uint64_t offset, Bytes bytes);
/// Completes the requests at the head of the queue that are done; reports a drained send queue.
void retire(DeviceState& device, Qp& qp);

// Responder (responder*.cc, unreliable.cc, datagram.cc).

void on_request(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_duplicate(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_unreliable(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_datagram(DeviceState& device, Qp& qp, const Packet& packet, const NetMeta& net, Time now);
[[nodiscard]] Served serve_responder(DeviceState& device, Qp& qp, Emitter& out, std::uint32_t& quantum, Time now);
/// Queues a response of one packet.
void answer(DeviceState& device, Qp& qp, AethSyndrome syndrome, Psn psn);
/// Sends the ACK that is held back, if there is one.
void release_ack(DeviceState& device, Qp& qp);
/// Returns the syndrome of an ACK, with or without credits.
[[nodiscard]] AethSyndrome ack_syndrome(const DeviceState& device, const Qp& qp);

// Congestion (congestion.cc).

/// Answers a packet with a CNP if it is marked CE.
void on_congestion_mark(DeviceState& device, Qp& qp, const Packet& packet, Time now);
void on_cnp(Qp& qp, const Packet& packet, Time now);
[[nodiscard]] bool serve_cnps(DeviceState& device, Emitter& out);

}  // namespace roce::transport::detail
