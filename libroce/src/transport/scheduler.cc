// SPDX-License-Identifier: BSD-2-Clause
// Scheduling: the QPs of a priority take turns, and so do the two halves of a QP.
#include "transport/scheduler.h"

#include <algorithm>

#include "transport/congestion.h"
#include "transport/datagram.h"
#include "transport/device_state.h"
#include "transport/owed_answers.h"

namespace roce::transport::detail {

namespace {

/// Number of packets that a QP sends before the next one's turn.
constexpr std::uint32_t kQuantum = 16;
/// The longest time that a packet held `behind_next` waits for other packets.
constexpr Duration kLongestHold = std::chrono::milliseconds{10};

void append(DeviceState& device, Qp& qp, std::uint8_t priority) {
  DeviceState::ReadyList& list = device.ready[priority];
  qp.ready_class = priority;
  qp.next_ready = DeviceState::kNoQp;
  if (list.first == DeviceState::kNoQp) {
    list.first = qp.slot;
  } else {
    device.qps[list.last]->next_ready = qp.slot;
  }
  list.last = qp.slot;
  device.ready_classes |= static_cast<std::uint8_t>(1U << priority);
}

/// Updates the class's list and its ready bit if the QP just removed was the last one.
void note_if_empty(DeviceState& device, std::uint8_t priority) {
  DeviceState::ReadyList& list = device.ready[priority];
  if (list.first != DeviceState::kNoQp) return;
  list.last = DeviceState::kNoQp;
  device.ready_classes &= static_cast<std::uint8_t>(~(1U << priority));
}

void remove_first(DeviceState& device, std::uint8_t priority) {
  DeviceState::ReadyList& list = device.ready[priority];
  list.first = device.qps[list.first]->next_ready;
  note_if_empty(device, priority);
}

/// Puts a packet that was held back into `out`; false if there is no room. A datagram whose address handle is gone
/// since is lost.
[[nodiscard]] bool send_held(DeviceState& device, Qp& qp, const Misbehaviour::Held& held, Emitter& out) {
  Path* path = &qp.path;
  if (qp.is_datagram()) {
    AddressHandle* ah = device.ahs.find(held.ah);
    if (ah == nullptr) return true;
    path = datagram_path(qp, *ah, out);
    if (path == nullptr) return false;
    if (!build_path(device, *path, out.link())) return true;
  }
  const auto size = static_cast<std::uint32_t>(held.bytes.size());
  std::byte* bytes = out.place(*path, path->priority, qp.qpn.value(), size, true);
  if (bytes == nullptr) return false;
  std::copy(held.bytes.begin(), held.bytes.end(), bytes);
  out.keep(held.ip_id);
  ++qp.counters.sent_packets;
  qp.counters.sent_bytes += size;
  return true;
}

/// Sends the packets that a hook held back and that are due now. False if there is no room.
[[nodiscard]] bool serve_held(DeviceState& device, Qp& qp, Emitter& out, Time now) {
  if (qp.misbehaviour == nullptr) return true;
  std::vector<Misbehaviour::Held>& held = qp.misbehaviour->held;
  for (std::size_t i = 0; i < held.size();) {
    if (held[i].due > now) {
      ++i;
      continue;
    }
    if (!send_held(device, qp, held[i], out)) return false;
    held.erase(held.begin() + static_cast<std::ptrdiff_t>(i));
  }
  return true;
}

/// Prefetches for the turns to come: the request of the next QP, and the whole of the QP after it.
void prefetch_next(const DeviceState& device, const Qp& qp) {
  if (qp.next_ready == DeviceState::kNoQp) return;
  const Qp& next = *device.qps[qp.next_ready];
  next.prefetch_request();
  if (next.next_ready != DeviceState::kNoQp) device.qps[next.next_ready]->prefetch();
}

/// Sends up to `quantum` packets of the QP that are ready, and takes them off `quantum`.
[[nodiscard]] Served serve_halves(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum) {
  if (qp.is_datagram()) return serve_datagrams(device, qp, out, now, quantum);
  Served result = Served::idle;
  for (int half = 0; half < 2 && quantum > 0; ++half) {
    // CC-08 (requester and responder take turns): neither a long READ response nor our own requests starve the other.
    const bool respond = qp.respond_next;
    qp.respond_next = !respond;
    std::uint32_t share = quantum;
    const std::uint32_t before = share;
    const Served half_result =
        respond ? serve_responder(device, qp, out, now, share) : serve_requester(device, qp, out, now, share);
    quantum -= before - share;
    if (half_result == Served::no_room) {
      result = Served::no_room;
      break;
    }
    if (half_result == Served::more) result = Served::more;
  }
  if (quantum == 0 && result == Served::idle) result = Served::more;
  return result;
}

/// Serves a QP with a pacer if its time has come.
// CC-07 (a QP with a rate limit sends data at that pace, packet by packet; its ACKs do not wait)
[[nodiscard]] Served serve_paced(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum) {
  Pacer& pacer = *qp.pacer;
  pacer.catch_up(now);
  if (pacer.may_send_at() > now) {
    pacer.hold_back();
    arm_timer(device, qp);
    // Only data is paced; an ACK that waits would slow the peer down.
    while (!qp.resp.responses.empty() && qp.resp.responses.front().kind != Response::Kind::read) {
      std::uint32_t share = 1;
      if (serve_responder(device, qp, out, now, share) == Served::no_room) return Served::no_room;
    }
    return Served::idle;
  }
  const std::uint64_t bytes_before = qp.counters.sent_bytes;
  const std::uint32_t turn = pacer.turn(quantum);
  std::uint32_t left = turn;
  const Served result = serve_halves(device, qp, out, now, left);
  quantum -= turn - left;
  pacer.charge(qp.counters.sent_bytes - bytes_before, result != Served::idle, now);
  arm_timer(device, qp, now);
  return result;
}

/// Serves one turn of a QP, of `quantum` packets, and takes those that were sent off `quantum`.
[[nodiscard]] Served serve(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum) {
  if (qp.state == QpState::reset || qp.state == QpState::init) return Served::idle;
  if (!qp.is_datagram() && !build_path(device, qp, qp.path, out.link())) return Served::idle;
  if (!serve_held(device, qp, out, now)) return Served::no_room;
  const std::uint64_t sent_before = qp.counters.sent_packets;
  const Served result =
      qp.pacer != nullptr ? serve_paced(device, qp, out, now, quantum) : serve_halves(device, qp, out, now, quantum);
  // RC-RESP-22: an ACK that is held back goes with other packets of its QP. It goes behind them, so that a program that
  // waits for its completion before it looks for the peer's WRITE finds it.
  if (result != Served::idle || qp.resp.acks_held == 0 || qp.counters.sent_packets == sent_before) return result;
  release_ack(device, qp);
  return Served::more;
}

/// Serves one turn of a QP whose class has a share of the link.
[[nodiscard]] Served serve_charged(DeviceState& device, Qp& qp, Emitter& out, Time now, std::uint32_t& quantum) {
  const std::uint8_t priority = qp.ready_class;
  const std::uint64_t packets_before = qp.counters.sent_packets;
  const std::uint64_t bytes_before = qp.counters.sent_bytes;
  const Served result = serve(device, qp, out, now, quantum);
  device.classes.charge(priority, qp.counters.sent_bytes - bytes_before +
                                      (qp.counters.sent_packets - packets_before) * bytes_around(qp.path));
  return result;
}

}  // namespace

void make_ready(DeviceState& device, Qp& qp) {
  // NET-24 (a MAD that another one is behind does not wait for a neighbour)
  if (qp.queued || (qp.waits_for_neighbour && qp.init.type != QpType::gsi)) return;
  qp.queued = true;
  append(device, qp, qp.path.priority);
}

void unschedule(DeviceState& device, Qp& qp) {
  device.timers.remove(qp.slot);
  std::erase(device.waiting_for_neighbour, qp.slot);
  qp.waits_for_neighbour = false;
  if (!qp.queued) return;
  qp.queued = false;
  DeviceState::ReadyList& list = device.ready[qp.ready_class];
  std::uint32_t* link = &list.first;
  std::uint32_t previous = DeviceState::kNoQp;
  while (*link != qp.slot) {
    previous = *link;
    link = &device.qps[*link]->next_ready;
  }
  *link = qp.next_ready;
  if (list.last == qp.slot) list.last = previous;
  note_if_empty(device, qp.ready_class);
}

void arm_timer(DeviceState& device, Qp& qp, Time served) {
  Time next = std::min({qp.req.timeout_at, qp.req.rnr_until, qp.resp.ack_due});
  if (qp.req.recovery != nullptr) next = std::min(next, qp.req.recovery->probe_at);
  if (qp.resp.gap != nullptr) next = std::min(next, qp.resp.gap->nak_due);
  // A time that has come stays due until the QP, which is ready, is served: a timer for it would fire without end.
  const auto wait_for = [&next, served](Time due) {
    if (due > served) next = std::min(next, due);
  };
  if (qp.pacer != nullptr) {
    wait_for(qp.pacer->may_send_at());
    wait_for(qp.pacer->next_change());
  }
  if (qp.misbehaviour != nullptr) {
    for (const Misbehaviour::Held& held : qp.misbehaviour->held) wait_for(held.due);
  }
  if (next != kNever) device.timers.set_earlier(qp.slot, next);
}

void send_misbehaving(DeviceState& device, Qp& qp, Emitter& out, Time now) {
  if (qp.misbehaviour->hook != nullptr) {
    std::vector<Misbehaviour::Held>& held = qp.misbehaviour->held;
    const TxVerdict verdict = qp.misbehaviour->hook->on_transmit(out.last(), now);
    if (verdict.seal_again) out.seal_again();
    for (Misbehaviour::Held& other : held) {
      if (other.behind == 0 || --other.behind != 0) continue;
      other.due = now;
      arm_timer(device, qp);
    }
    const bool keeps_copy = verdict.fate == TxVerdict::Fate::duplicate || verdict.fate == TxVerdict::Fate::delay ||
                            verdict.fate == TxVerdict::Fate::behind_next;
    if (keeps_copy && held.size() < Misbehaviour::kMaxHeld) {
      const std::span<std::byte> last = out.last();
      Misbehaviour::Held copy{.bytes = {last.begin(), last.end()}, .ip_id = out.last_ip_id(), .due = now};
      if (qp.is_datagram()) copy.ah = qp.req.extra_of(qp.req.wqe(qp.req.next)).datagram.ah;
      if (verdict.fate == TxVerdict::Fate::delay) copy.due = now + verdict.delay;
      if (verdict.fate == TxVerdict::Fate::behind_next) {
        copy.due = now + kLongestHold;
        copy.behind = verdict.behind;
      }
      held.push_back(std::move(copy));
      arm_timer(device, qp);
      if (verdict.fate != TxVerdict::Fate::duplicate) return out.take_back();
    } else if (verdict.fate == TxVerdict::Fate::drop) {
      return out.take_back();
    }
  }
  ++qp.counters.sent_packets;
  qp.counters.sent_bytes += out.last().size();
}

/// Serves the QPs that are ready, in turn, until nothing is left or the buffer is full.
std::size_t serve_all(DeviceState& device, Emitter& out, Time now) {
  // CC-05 (CNPs go before data)
  if (!serve_cnps(device, out)) return out.finish();
  if (!serve_left_answers(device, out, now)) return out.finish();
  // CC-06 (a paused class sends nothing and holds up no other)
  while (const auto may_send = static_cast<std::uint8_t>(device.ready_classes & ~device.paused)) {
    const std::uint8_t priority = device.classes.choose(may_send);
    DeviceState::ReadyList& list = device.ready[priority];
    Qp& qp = *device.qps[list.first];
    prefetch_next(device, qp);
    // A turn goes on where the last call had no room, or whoever takes packets one by one would get those of one QP
    // only.
    std::uint32_t quantum = list.turn_of == qp.slot ? list.turn_left : kQuantum;
    const Served served = device.classes.is_charged(priority) ? serve_charged(device, qp, out, now, quantum)
                                                              : serve(device, qp, out, now, quantum);
    list.turn_of = served == Served::no_room && quantum > 0 ? qp.slot : DeviceState::kNoQp;
    list.turn_left = quantum;
    if (served == Served::no_room) break;
    remove_first(device, priority);
    qp.queued = false;
    if (served == Served::more) make_ready(device, qp);
    device.classes.end_turn(priority);
  }
  return out.finish();
}

}  // namespace roce::transport::detail
