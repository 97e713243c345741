// SPDX-License-Identifier: BSD-2-Clause
// QP states: the transitions, and the attributes that each one needs and allows (IBTA vol. 1, 10.3.1, 11.2.5.2).
#include <array>
#include <bit>
#include <cmath>

#include "transport/device_state.h"
#include "transport/emitter.h"
#include "transport/faults.h"
#include "transport/flush.h"
#include "transport/owed_answers.h"
#include "transport/refusal.h"
#include "transport/scheduler.h"

namespace roce::transport {

namespace detail {
namespace {

// Attributes as bits, in the order of `kAttributeNames`.
enum Attribute : std::uint32_t {
  kPKeyIndex = 1U << 0,
  kPort = 1U << 1,
  kAccess = 1U << 2,
  kQKey = 1U << 3,
  kAddress = 1U << 4,
  kPathMtu = 1U << 5,
  kDestQp = 1U << 6,
  kRqPsn = 1U << 7,
  kSqPsn = 1U << 8,
  kMaxRdAtomic = 1U << 9,
  kMaxDestRdAtomic = 1U << 10,
  kMinRnrTimer = 1U << 11,
  kTimeout = 1U << 12,
  kRetryCount = 1U << 13,
  kRnrRetry = 1U << 14,
  kDrainNotify = 1U << 15,
  kRateLimit = 1U << 16,
};
constexpr std::array<std::string_view, 17> kAttributeNames{
    "p_key_index",        "port",          "access",  "q_key",       "address",
    "path_mtu",           "dest_qp",       "rq_psn",  "sq_psn",      "max_rd_atomic",
    "max_dest_rd_atomic", "min_rnr_timer", "timeout", "retry_count", "rnr_retry",
    "sq_drained_notify",  "rate_limit"};

[[nodiscard]] std::uint32_t attributes_of(const QpChange& change) {
  std::uint32_t set = 0;
  const auto add = [&set](bool present, std::uint32_t bit) { set |= present ? bit : 0; };
  add(change.p_key_index.has_value(), kPKeyIndex);
  add(change.port.has_value(), kPort);
  add(change.access.has_value(), kAccess);
  add(change.q_key.has_value(), kQKey);
  add(change.address.has_value(), kAddress);
  add(change.path_mtu.has_value(), kPathMtu);
  add(change.dest_qp.has_value(), kDestQp);
  add(change.rq_psn.has_value(), kRqPsn);
  add(change.sq_psn.has_value(), kSqPsn);
  add(change.max_rd_atomic.has_value(), kMaxRdAtomic);
  add(change.max_dest_rd_atomic.has_value(), kMaxDestRdAtomic);
  add(change.min_rnr_timer.has_value(), kMinRnrTimer);
  add(change.timeout.has_value(), kTimeout);
  add(change.retry_count.has_value(), kRetryCount);
  add(change.rnr_retry.has_value(), kRnrRetry);
  add(change.sq_drained_notify.has_value(), kDrainNotify);
  add(change.rate_limit_bps.has_value() || change.rate_limit_pps.has_value(), kRateLimit);
  return set;
}

/// One row of the state table: the attributes that a transition needs, and those that it allows in addition.
struct Transition {
  QpState from;
  QpState to;
  std::uint32_t rc_needs, rc_allows;
  std::uint32_t uc_needs, uc_allows;
  std::uint32_t ud_needs, ud_allows;
};
constexpr std::uint32_t kConnect = kAddress | kPathMtu | kDestQp | kRqPsn;
constexpr std::uint32_t kSqdRc = kAddress | kTimeout | kRetryCount | kRnrRetry | kMaxRdAtomic | kMaxDestRdAtomic |
                                 kPKeyIndex | kAccess | kMinRnrTimer | kRateLimit;
constexpr std::uint32_t kOfResponder = kMaxDestRdAtomic | kMinRnrTimer;
constexpr std::uint32_t kOfRequester = kRetryCount | kRnrRetry | kMaxRdAtomic;
// QP-02 (the attributes that each transition needs and allows)
constexpr std::array kTransitions{
    Transition{QpState::reset, QpState::init, kPKeyIndex | kPort | kAccess, 0, kPKeyIndex | kPort | kAccess, 0,
               kPKeyIndex | kPort | kQKey, 0},
    Transition{QpState::init, QpState::init, 0, kPKeyIndex | kPort | kAccess, 0, kPKeyIndex | kPort | kAccess, 0,
               kPKeyIndex | kPort | kQKey},
    Transition{QpState::init, QpState::rtr, kConnect | kMaxDestRdAtomic | kMinRnrTimer, kAccess | kPKeyIndex, kConnect,
               kAccess | kPKeyIndex, 0, kPKeyIndex | kQKey},
    Transition{QpState::rtr, QpState::rts, kSqPsn | kTimeout | kRetryCount | kRnrRetry | kMaxRdAtomic,
               kAccess | kMinRnrTimer | kRateLimit, kSqPsn, kAccess | kRateLimit, kSqPsn, kQKey | kRateLimit},
    Transition{QpState::rts, QpState::rts, 0, kAccess | kMinRnrTimer | kRateLimit, 0, kAccess | kRateLimit, 0,
               kQKey | kRateLimit},
    Transition{QpState::rts, QpState::sqd, 0, kDrainNotify, 0, kDrainNotify, 0, kDrainNotify},
    Transition{QpState::sqd, QpState::sqd, 0, kSqdRc, 0, kAddress | kPKeyIndex | kAccess | kRateLimit, 0,
               kPKeyIndex | kQKey | kRateLimit},
    Transition{QpState::sqd, QpState::rts, 0, kAccess | kMinRnrTimer | kRateLimit, 0, kAccess | kRateLimit, 0,
               kQKey | kRateLimit},
    Transition{QpState::sqe, QpState::rts, 0, 0, 0, kAccess, 0, kQKey},
};

[[nodiscard]] std::string_view first_name(std::uint32_t set) {
  return kAttributeNames[static_cast<std::size_t>(std::countr_zero(set))];
}

[[nodiscard]] VerbResult<void> check_transition(const Qp& qp, QpState to, std::uint32_t given) {
  if (to == QpState::err || to == QpState::reset) {
    if (given != 0) {
      return refuse(VerbErrorCode::unexpected_attribute, first_name(given), "no attribute on the way to RESET or ERR",
                    given);
    }
    return {};
  }
  for (const Transition& row : kTransitions) {
    if (row.from != qp.state || row.to != to) continue;
    const bool rc = qp.is_reliable();
    const bool uc = qp.init.type == QpType::uc;
    std::uint32_t needs = rc ? row.rc_needs : uc ? row.uc_needs : row.ud_needs;
    const std::uint32_t allows = needs | (rc ? row.rc_allows : uc ? row.uc_allows : row.ud_allows);
    // Programs such as perftest set what RC needs at both ends of XRC, although half of it is for the other end.
    if (qp.init.type == QpType::xrc_initiator) needs &= ~kOfResponder;
    if (qp.init.type == QpType::xrc_target) needs &= ~kOfRequester;
    // QP1 already belongs to its port.
    if (qp.init.type == QpType::gsi) needs &= ~kPort;
    if ((needs & ~given) != 0) {
      return refuse(VerbErrorCode::missing_attribute, first_name(needs & ~given), "to be set in this transition", given,
                    needs);
    }
    if ((given & ~allows) != 0) {
      return refuse(VerbErrorCode::unexpected_attribute, first_name(given & ~allows),
                    "not to be set in this transition", given, allows);
    }
    return {};
  }
  // QP-01 (the transitions between states)
  return refuse(VerbErrorCode::wrong_state, "state", "a transition that exists from the current state",
                static_cast<std::uint64_t>(to), static_cast<std::uint64_t>(qp.state));
}

[[nodiscard]] VerbResult<void> at_most(std::string_view subject, std::uint64_t value, std::uint64_t limit) {
  if (value <= limit) return {};
  return invalid(subject, "at most", value, limit);
}

// QP-03 (attributes out of range are refused, and then nothing is changed)
[[nodiscard]] VerbResult<void> check_values(const DeviceState& device, const QpChange& change) {
  const DeviceConfig& config = device.config;
  if (change.p_key_index && *change.p_key_index >= config.p_keys.size()) {
    return invalid("p_key_index", "an entry of the P_Key table, below", *change.p_key_index, config.p_keys.size());
  }
  if (change.port && *change.port != 1) return invalid("port", "1", *change.port, 1);
  if (change.path_mtu && (!is_path_mtu(*change.path_mtu) || *change.path_mtu > config.port_mtu)) {
    return invalid("path_mtu", "256, 512, 1024, 2048 or 4096, at most the port's", *change.path_mtu, config.port_mtu);
  }
  const auto value = [](const auto& optional) { return optional ? std::uint64_t{*optional} : std::uint64_t{0}; };
  constexpr std::uint64_t five_bits = 31;
  constexpr std::uint64_t three_bits = 7;
  for (const VerbResult<void>& result :
       {at_most("max_rd_atomic", value(change.max_rd_atomic), config.limits.max_rd_atomic),
        at_most("max_dest_rd_atomic", value(change.max_dest_rd_atomic), config.limits.max_rd_atomic),
        at_most("min_rnr_timer", value(change.min_rnr_timer), five_bits),
        at_most("timeout", value(change.timeout), five_bits),
        at_most("retry_count", value(change.retry_count), three_bits),
        at_most("rnr_retry", value(change.rnr_retry), three_bits)}) {
    if (!result) return result;
  }
  return {};
}

// QP-09 (RESET forgets everything that is posted without completing it), and everything about the connection
void reset(DeviceState& device, Qp& qp) {
  leave_answers(device, qp);
  unschedule(device, qp);
  // The program has to find only completions of the next connection afterwards.
  for (CompletionQueue* cq : {qp.send_cq, qp.receive_cq}) {
    if (cq == nullptr) continue;
    cq->ring.remove_if([&](const Completion& completion) { return completion.qpn == qp.qpn; });
  }
  qp.resp.queue.watch(nullptr);
  Qp made = make_qp(device, qp.qpn, qp.init);
  // The QP keeps its counters, its multicast groups and its hook, but none of the packets that the hook held back.
  made.counters = qp.counters;
  made.groups = qp.groups;
  if (qp.misbehaviour != nullptr && qp.misbehaviour->hook != nullptr) {
    made.misbehaviour = std::make_unique<Misbehaviour>();
    made.misbehaviour->hook = qp.misbehaviour->hook;
  }
  if (fault(Fault::reset_keeps_store)) made.resp.replays = std::move(qp.resp.replays);
  if (fault(Fault::reset_keeps_store)) made.resp.position = qp.resp.position;
  if (fault(Fault::reset_keeps_store)) made.attributes.max_dest_rd_atomic = qp.attributes.max_dest_rd_atomic;
  if (fault(Fault::reset_keeps_msn)) made.resp.msn = qp.resp.msn;
  qp = std::move(made);
}

/// Makes the receive level of the QP's priority watch its receive queue, if that level is in use.
void watch_receives(DeviceState& device, Qp& qp) {
  ReceiveLevel& level = device.receive_levels[qp.path.priority];
  if (level.enough == 0 || qp.init.type == QpType::gsi || qp.is_xrc()) return;
  ReceiveQueue& queue = qp.srq != nullptr ? qp.srq->queue : qp.resp.queue;
  if (!queue.is_watched()) queue.watch(&level);
}

void make_responder_store(Qp& qp) {
  // RC-RESP-29 (the store is rounded up to a power of two), because Soft-RoCE peers round their max_rd_atomic up too.
  const std::uint32_t replays = std::bit_ceil(std::max<std::uint32_t>(qp.attributes.max_dest_rd_atomic, 1));
  constexpr std::uint32_t acks = 16;
  const bool allows_flush = allows(qp.access, Access::flush_global) || allows(qp.access, Access::flush_persistent);
  if (allows_flush) qp.resp.flushes.resize(Responder::kFlushes);
  if (qp.resp.replays.size() != replays) qp.resp.replays.assign(replays, Replay{});
  if (qp.resp.responses.capacity() != 2 * replays + acks) qp.resp.responses = Ring<Response>{2 * replays + acks};
}

/// Returns the QP's path as a congestion control has to know it: rates count packets from the BTH on, and the wire
/// carries more than that.
[[nodiscard]] congestion::Path congestion_path(const DeviceState& device, const Qp& qp) {
  const std::uint32_t mtu = qp.is_datagram() ? device.config.port_mtu : qp.mtu;
  const auto counted = static_cast<double>(packet_size(0, mtu));
  const double share = counted / (counted + bytes_around(qp.path));
  return {.line_rate_bps =
              static_cast<std::uint64_t>(std::llround(static_cast<double>(device.config.line_rate_bps) * share)),
          .mtu = mtu};
}

/// Returns the QP's pacer, which is made if there is none.
[[nodiscard]] Pacer& pacer_of(Qp& qp) {
  if (qp.pacer == nullptr) qp.pacer = std::make_unique<Pacer>();
  return *qp.pacer;
}

void drop_idle_pacer(Qp& qp) {
  if (qp.pacer != nullptr && qp.pacer->is_idle()) qp.pacer.reset();
}

void set_limits(Qp& qp) {
  pacer_of(qp).limit(qp.attributes.rate_limit_bps, qp.attributes.rate_limit_pps);
  drop_idle_pacer(qp);
}

void set_control(const DeviceState& device, Qp& qp, std::unique_ptr<congestion::CongestionControl> control, Time now) {
  pacer_of(qp).control(std::move(control), congestion_path(device, qp), now);
  drop_idle_pacer(qp);
}

void apply(DeviceState& device, Qp& qp, const QpChange& change, const std::optional<Path>& path, Time now) {
  QpAttributes& attributes = qp.attributes;
  const auto set = [](auto& member, const auto& optional) {
    if (optional) member = *optional;
  };
  set(attributes.p_key_index, change.p_key_index);
  set(attributes.access, change.access);
  set(attributes.q_key, change.q_key);
  set(attributes.address, change.address);
  set(attributes.path_mtu, change.path_mtu);
  set(attributes.dest_qp, change.dest_qp);
  set(attributes.max_rd_atomic, change.max_rd_atomic);
  set(attributes.max_dest_rd_atomic, change.max_dest_rd_atomic);
  set(attributes.min_rnr_timer, change.min_rnr_timer);
  set(attributes.timeout, change.timeout);
  set(attributes.retry_count, change.retry_count);
  set(attributes.rnr_retry, change.rnr_retry);
  set(attributes.rate_limit_bps, change.rate_limit_bps);
  set(attributes.rate_limit_pps, change.rate_limit_pps);
  qp.dest_qp = attributes.dest_qp;
  qp.access = attributes.access;
  qp.p_key = device.config.p_keys[attributes.p_key_index];
  if (change.path_mtu) qp.mtu = *change.path_mtu;
  if (change.rq_psn) {
    qp.resp.e_psn = *change.rq_psn;
    qp.resp.last_non_read_psn = *change.rq_psn - 1;
  }
  if (change.sq_psn) qp.req.una = qp.req.next_psn = qp.req.sent_end = *change.sq_psn;
  if (path) qp.path = *path;
  if (change.state == QpState::rtr) {
    watch_receives(device, qp);
    make_gap(device, qp);
  }
  if (change.timeout) {
    // RC-REQ-15 (the ACK timeout is 4.096 us * 2^timeout, 0 is none)
    constexpr std::int64_t unit_ns = 4096;
    qp.timeout = *change.timeout == 0 ? Duration{0}
                                      : std::max(Duration{unit_ns << *change.timeout}, device.profile().min_timeout);
  }
  if (fault(Fault::timeout_half)) qp.timeout /= 2;
  if (fault(Fault::timeout_never)) qp.timeout = Duration{0};
  if (change.retry_count) qp.req.retries_left = *change.retry_count;
  if (change.rnr_retry) qp.req.rnr_left = *change.rnr_retry;
  if (fault(Fault::retry_one_more) && change.rnr_retry) ++qp.req.rnr_left;
  const bool has_store = !qp.resp.replays.empty();
  if (change.state == QpState::rtr || (has_store && (change.max_dest_rd_atomic || change.access))) {
    make_responder_store(qp);
  }
  if (change.rate_limit_bps || change.rate_limit_pps) set_limits(qp);
  if (change.state == QpState::rts && qp.state == QpState::rtr) make_requester_recovery(device, qp);
  if (change.state == QpState::rts && qp.state == QpState::rtr && device.congestion) {
    set_control(device, qp, device.congestion(qp.qpn), now);
  }
}

}  // namespace
}  // namespace detail

using namespace detail;

VerbResult<void> Device::modify_qp(Qpn qpn, const QpChange& change, Time now) {
  DeviceState& device = *state_;
  Qp* found = device.find_qp(qpn);
  if (found == nullptr) return unknown_qp(qpn);
  Qp& qp = *found;
  if (change.current_state && *change.current_state != qp.state) {
    return refuse(VerbErrorCode::wrong_state, "current_state", "the QP's state",
                  static_cast<std::uint64_t>(*change.current_state), static_cast<std::uint64_t>(qp.state));
  }
  const QpState to = change.state.value_or(qp.state);
  if (to == QpState::sqe || (to == qp.state && (to == QpState::reset || to == QpState::err) && !change.state)) {
    return refuse(VerbErrorCode::wrong_state, "state", "a state that can be asked for", static_cast<std::uint64_t>(to));
  }
  const std::uint32_t given = attributes_of(change);
  if (VerbResult<void> checked = check_transition(qp, to, given); !checked) return checked;
  if (VerbResult<void> checked = check_values(device, change); !checked) return checked;
  std::optional<Path> path;
  if (change.address) {
    VerbResult<Path> made = make_path(device, *change.address, qp.qpn, change.dest_qp.value_or(qp.attributes.dest_qp));
    if (!made) return tl::unexpected(made.error());
    if (made->multicast) {
      return invalid("address.dgid", "a unicast GID for a connection", 0);
    }
    path = *made;
  }

  if (to == QpState::reset) {
    reset(device, qp);
    return {};
  }
  if (to == QpState::err) {
    enter_error(device, qp, false);
    settle_overflows(device);
    return {};
  }
  const QpState from = qp.state;
  // A QP moves to another ready list if its class changes.
  const bool reschedule = path.has_value() && qp.queued;
  if (reschedule) unschedule(device, qp);
  apply(device, qp, change, path, now);
  qp.state = to;
  if (to == QpState::sqd && from == QpState::rts) {
    qp.req.drain_reported = !change.sq_drained_notify.value_or(false);
    retire(device, qp);
  }
  if (to == QpState::rts || to == QpState::sqd) make_ready(device, qp);
  return {};
}

VerbResult<void> Device::set_congestion_control(Qpn qpn, std::unique_ptr<congestion::CongestionControl> control,
                                                Time now) {
  Qp* qp = state_->find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  if (qp->state != QpState::rts && qp->state != QpState::sqd) {
    return refuse(VerbErrorCode::wrong_state, "state", "RTS or SQD", static_cast<std::uint64_t>(qp->state));
  }
  set_control(*state_, *qp, std::move(control), now);
  make_ready(*state_, *qp);
  return {};
}

VerbResult<std::optional<congestion::Reading>> Device::congestion_reading(Qpn qpn, Time now) const {
  const Qp* qp = state_->find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  if (qp->pacer == nullptr || qp->pacer->control() == nullptr) return std::optional<congestion::Reading>{};
  return std::optional{qp->pacer->control()->reading(now)};
}

std::vector<std::pair<Qpn, congestion::Reading>> Device::congestion_readings(Time now) const {
  std::vector<std::pair<Qpn, congestion::Reading>> readings;
  for (const std::unique_ptr<Qp>& qp : state_->qps) {
    if (qp == nullptr || qp->pacer == nullptr || qp->pacer->control() == nullptr) continue;
    readings.emplace_back(qp->qpn, qp->pacer->control()->reading(now));
  }
  return readings;
}

VerbResult<QpAttributes> Device::query_qp(Qpn qpn) const {
  const Qp* qp = state_->find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  QpAttributes attributes = qp->attributes;
  attributes.type = qp->init.type;
  attributes.state = qp->state;
  attributes.rq_psn = qp->resp.e_psn;
  attributes.sq_psn = qp->req.next_psn;
  attributes.sq_draining = qp->state == QpState::sqd && qp->req.head != qp->req.fresh;
  attributes.sends_outstanding = qp->req.tail - qp->req.head;
  attributes.receives_outstanding = qp->resp.queue.size() + (qp->resp.has_receive ? 1 : 0);
  attributes.msn = qp->resp.msn;
  attributes.service_level = qp->path.service_level;
  attributes.traffic_class = qp->path.net.traffic_class;
  attributes.udp_source_port = qp->path.net.udp_source_port;
  return attributes;
}

}  // namespace roce::transport
