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
  Qpn qpn{};  ///< of the QP whose packet was marked
};

/// What serving a QP came to.
enum class Served : std::uint8_t {
  idle,     ///< nothing to send until something happens
  more,     ///< its share is used up
  no_room,  ///< the buffer is full
};

/// Everything a device has. The functions that act on it are in the files named after the subject.
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

  /// By the bits of the QPN above the shard's; the last one is QP1.
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
  std::uint8_t ready_classes = 0;  ///< a bit for each class whose list is not empty
  std::uint8_t paused = 0;         ///< a bit for each class
  std::uint8_t next_class = 7;
  std::array<ReceiveLevel, 8> receive_levels{};  ///< by class
  Ring<PendingCnp> cnps;

  std::map<std::pair<Gid, std::uint32_t>, MacAddress> neighbours;  ///< by GID and VLAN id, 0xFFFF for none
  std::vector<std::uint32_t> waiting_for_neighbour;

  Ring<Event> events;
  std::uint64_t lost_events = 0;
  std::uint32_t prefetched = kNoQp;  ///< slot of the QP fetched last: a burst is often of one QP
  bool cq_overflowed = false;        ///< some CQ did since its QPs were last told
  Counters other{};                  ///< of no QP that exists

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

/// Puts a completion into a CQ; an overflow is remembered for `settle_overflows`.
void push_completion(DeviceState& device, CompletionQueue& cq, const Completion& completion, bool solicited);
/// Completes the oldest send request.
void complete_send(DeviceState& device, Qp& qp, CompletionStatus status, std::uint8_t syndrome = 0);
/// Completes the receive that the responder holds.
void complete_receive(DeviceState& device, Qp& qp, const Completion& completion, bool solicited);
/// Takes a receive from the QP's own or shared queue; false when there is none.
[[nodiscard]] bool take_receive(DeviceState& device, Qp& qp);
/// Sends the QP to ERR and flushes its queues in order. Answers that wait are dropped unless `keep_answers`.
void enter_error(DeviceState& device, Qp& qp, bool keep_answers);
/// Sends the QPs of overflowed CQs to ERR.
void settle_overflows(DeviceState& device);

// Paths (path.cc).

/// Works out the way along an address vector for a QP. Error: names the member that is wrong.
[[nodiscard]] VerbResult<Path> make_path(const DeviceState& device, const AddressVector& address, Qpn local,
                                         Qpn remote);
/// Whether packets can be built for `link`; if a neighbour's address is missing, asks for it.
[[nodiscard]] bool build_path(DeviceState& device, Path& path, TxCaps::Link link);
/// As `build_path`; a QP that has to wait is remembered.
[[nodiscard]] bool build_path(DeviceState& device, Qp& qp, Path& path, TxCaps::Link link);

// Scheduling (scheduler.cc).

/// Lets the QP be served.
void make_ready(DeviceState& device, Qp& qp);
/// Takes the QP out of the ready lists and of the timers.
void unschedule(DeviceState& device, Qp& qp);
/// Sets the QP's timer to the earliest of what it waits for. What was due at `served` needs no timer any more.
void arm_timer(DeviceState& device, Qp& qp, Time served = Time{});
/// What `send_placed` does for a QP with a misbehaviour hook, after the ICRC.
void send_misbehaving(DeviceState& device, Qp& qp, Emitter& out, Time now);
/// Completes what was placed last: computes the ICRC, asks the misbehaviour hook, counts.
inline void send_placed(DeviceState& device, Qp& qp, Emitter& out, Time now) {
  out.seal();
  if (qp.misbehaviour != nullptr) [[unlikely]]
    return send_misbehaving(device, qp, out, now);
  ++qp.counters.sent_packets;
  qp.counters.sent_bytes += out.last().size();
}
/// Room for a packet of the QP, or nullptr.
[[nodiscard]] inline std::byte* place(Qp& qp, Path& path, Emitter& out, std::uint32_t size) {
  const bool alone = qp.misbehaviour != nullptr;
  return out.place(path, path.priority, qp.qpn.value(), size, alone);
}
/// Serves the QPs that are ready, in turn, until nothing is left or `out` is full; returns how many units it filled.
[[nodiscard]] std::size_t serve_all(DeviceState& device, Emitter& out, Time now);

// Requester (requester*.cc).

[[nodiscard]] Served serve_requester(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum);
[[nodiscard]] Served serve_datagrams(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum);
void on_response(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_requester_timer(DeviceState& device, Qp& qp, Time now);
/// Takes up sending at the PSN `una`; counts as a retry. The QP goes to ERR when none is left.
void go_back(DeviceState& device, Qp& qp, Time now);
/// Moves the place of sending to the oldest unacknowledged PSN.
void seek_una(Qp& qp);
/// Fails request `index` with `status`, after flushing those before it, and sends the QP to ERR.
void fail_request(DeviceState& device, Qp& qp, std::uint32_t index, CompletionStatus status, std::uint8_t syndrome);
/// Copies `length` bytes of the message at `offset` into `out`; false when a key is wrong.
[[nodiscard]] bool gather(const DeviceState& device, const Qp& qp, const SendWqe& wqe, std::uint64_t offset,
                          std::uint32_t length, std::byte* out);
/// Copies `bytes` into a list of pieces at `offset`. `too_long` when they do not fit.
enum class Scattered : std::uint8_t { done, too_long, bad_key };
[[nodiscard]] Scattered scatter(const DeviceState& device, std::uint32_t pd, std::span<const Sge> sges,
                                std::uint64_t offset, Bytes bytes);
/// Completes the requests at the head that are done; reports a drained send queue.
void retire(DeviceState& device, Qp& qp);

// Responder (responder*.cc, unreliable.cc, datagram.cc).

void on_request(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_duplicate(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_unreliable(DeviceState& device, Qp& qp, const Packet& packet, const Bth& bth, Time now);
void on_datagram(DeviceState& device, Qp& qp, const Packet& packet, const NetMeta& net, Time now);
[[nodiscard]] Served serve_responder(DeviceState& device, Qp& qp, Emitter& out, std::uint32_t& quantum, Time now);
/// Queues an answer of one packet.
void answer(DeviceState& device, Qp& qp, AethSyndrome syndrome, Psn psn);
/// Sends the ACK that is held back, if one is.
void release_ack(DeviceState& device, Qp& qp);
/// What an ACK says: credits or none.
[[nodiscard]] AethSyndrome ack_syndrome(const DeviceState& device, const Qp& qp);

// Congestion (congestion.cc).

/// Answers a packet marked CE.
void on_congestion_mark(DeviceState& device, Qp& qp, const Packet& packet, Time now);
void on_cnp(Qp& qp, const Packet& packet, Time now);
[[nodiscard]] bool serve_cnps(DeviceState& device, Emitter& out);

}  // namespace roce::transport::detail
