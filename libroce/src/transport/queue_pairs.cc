// SPDX-License-Identifier: BSD-2-Clause
// Creating and destroying QPs; their multicast groups, hooks and counters.
#include <algorithm>
#include <bit>

#include "roce/wire/xrceth.h"
#include "transport/device_state.h"
#include "transport/faults.h"
#include "transport/owed_answers.h"
#include "transport/refusal.h"
#include "transport/scheduler.h"

namespace roce::transport {

namespace detail {
namespace {

constexpr std::uint32_t kSmallestMtu = 256;
constexpr std::uint32_t kFirstUserQpn = 2;
constexpr std::uint32_t kMaxQpn = 0xFF'FFFE;

[[nodiscard]] VerbResult<void> within_limit(std::string_view subject, std::uint64_t value, std::uint64_t limit) {
  if (value <= limit) return {};
  return invalid(subject, "at most the device's limit", value, limit);
}

[[nodiscard]] VerbResult<void> check_sizes(const Limits& limits, const QpInit& init) {
  for (const VerbResult<void>& result : {within_limit("max_send", init.max_send, limits.max_wr),
                                         within_limit("max_receive", init.max_receive, limits.max_wr),
                                         within_limit("max_send_sge", init.max_send_sge, limits.max_sge),
                                         within_limit("max_receive_sge", init.max_receive_sge, limits.max_sge),
                                         within_limit("max_inline", init.max_inline, limits.max_inline)}) {
    if (!result) return result;
  }
  return {};
}

/// Returns the QPN that has been free for longest, so that late packets of its last user find no QP (QP-21).
[[nodiscard]] std::optional<Qpn> next_qpn(DeviceState& device) {
  const std::uint32_t step = 1U << device.config.shard_bits;
  for (std::uint32_t tries = 0; tries <= device.slot_mask; ++tries) {
    if (device.next_qpn > kMaxQpn) device.next_qpn = (kFirstUserQpn + step - 1) / step * step + device.config.shard;
    const std::uint32_t candidate = device.next_qpn;
    device.next_qpn += step;
    if (device.qps[candidate >> device.config.shard_bits & device.slot_mask] == nullptr) return Qpn{candidate};
  }
  return std::nullopt;
}

/// Checks that the device is shard 0, to which packets for QP1 and multicast groups are steered.
[[nodiscard]] VerbResult<void> is_in_shard_0(const DeviceState& device, std::string_view subject) {
  if (device.config.shard == 0) return {};
  return invalid(subject, "a device that is shard 0", device.config.shard);
}

[[nodiscard]] std::uint32_t slot_of(const DeviceState& device, Qpn qpn) {
  return qpn.value() == 1 ? device.slot_mask + 1 : qpn.value() >> device.config.shard_bits & device.slot_mask;
}

/// Returns the service bits of the QP's opcodes.
[[nodiscard]] std::uint8_t opcode_base(const Qp& qp) {
  Service service = Service::rc;
  if (qp.init.type == QpType::uc) service = Service::uc;
  if (qp.is_xrc()) service = Service::xrc;
  return static_cast<std::uint8_t>(static_cast<unsigned>(service) << 5U);
}

/// `most_sges`: as many as a receive of any SRQ may have.
void make_queues(Qp& qp, std::uint8_t most_sges) {
  const QpInit& init = qp.init;
  Requester& req = qp.req;
  const std::uint32_t slots = std::bit_ceil(std::max(init.max_send, 1U));
  req.mask = slots - 1;
  req.ring.resize(slots);
  req.extra.resize(slots);
  req.sges.resize(std::size_t{slots} * init.max_send_sge);
  req.inline_data.resize(std::size_t{slots} * init.max_inline);
  if (init.type == QpType::xrc_target) {
    qp.resp.receive_sges.resize(most_sges);
  } else if (qp.srq != nullptr) {
    qp.resp.receive_sges.resize(qp.srq->queue.max_sge());
  } else if (init.type != QpType::xrc_initiator) {
    qp.resp.queue = ReceiveQueue{init.max_receive, init.max_receive_sge};
    qp.resp.receive_sges.resize(init.max_receive_sge);
  }
}

/// The objects that a QP refers to; null where its type has none.
struct QpParts {
  ProtectionDomain* pd = nullptr;
  CompletionQueue* send_cq = nullptr;
  CompletionQueue* receive_cq = nullptr;
  SharedReceiveQueue* srq = nullptr;
  XrcDomain* xrcd = nullptr;
};

[[nodiscard]] VerbResult<QpParts> parts_of(const DeviceState& device, const QpInit& init) {
  QpParts parts;
  std::optional<VerbError> error;
  const auto find = [&](bool is_needed, const auto& table, auto handle, auto*& part) {
    if (!is_needed || error) return;
    if (auto found = table.get(handle)) {
      part = *found;
    } else {
      error = found.error();
    }
  };
  const bool is_initiator = init.type == QpType::xrc_initiator;
  const bool is_target = init.type == QpType::xrc_target;
  if ((is_initiator || is_target) && init.srq) return invalid("srq", "none: XRC requests name theirs", init.srq->index);
  find(!is_target, device.pds, init.pd, parts.pd);
  find(!is_target, device.cqs, init.send_cq, parts.send_cq);
  find(!is_target && !is_initiator, device.cqs, init.receive_cq, parts.receive_cq);
  find(is_target, device.xrcds, init.xrcd, parts.xrcd);
  find(init.srq.has_value(), device.srqs, init.srq.value_or(Srq{}), parts.srq);
  if (error) return tl::unexpected(*error);
  if (parts.srq != nullptr && parts.srq->cq != nullptr) {
    return invalid("srq", "one that is not for XRC", init.srq->index);
  }
  return parts;
}

/// Calls `change` with the number of users of each part.
template <typename Change>
void for_each_count(const QpParts& parts, Change&& change) {
  if (parts.pd != nullptr) change(parts.pd->users);
  if (parts.send_cq != nullptr) change(parts.send_cq->users);
  if (parts.receive_cq != nullptr) change(parts.receive_cq->users);
  if (parts.srq != nullptr) change(parts.srq->users);
  if (parts.xrcd != nullptr) change(parts.xrcd->users);
}

template <typename T>
[[nodiscard]] std::size_t bytes_of(const std::vector<T>& vector) {
  return vector.capacity() * sizeof(T);
}

void add(Counters& sum, const Counters& part) {
  for (const CounterName& name : counter_names()) sum.*name.member += part.*name.member;
}

}  // namespace

Qp make_qp(const DeviceState& device, Qpn qpn, const QpInit& init) {
  Qp qp;
  qp.qpn = qpn;
  qp.slot = slot_of(device, qpn);
  qp.init = init;
  qp.mtu = qp.is_datagram() ? device.config.port_mtu : kSmallestMtu;
  qp.opcode_base = opcode_base(qp);
  if (init.type == QpType::xrc_initiator) qp.xrceth_bytes = kSize<XrcEth>;
  // An object that its type has no use for may be destroyed before the QP.
  if (init.type != QpType::xrc_target) qp.send_cq = device.cqs.find(init.send_cq);
  if (!qp.is_xrc()) qp.receive_cq = device.cqs.find(init.receive_cq);
  qp.srq = init.srq ? device.srqs.find(*init.srq) : nullptr;
  qp.pd = init.pd.index;
  qp.receive_pd = qp.srq != nullptr ? qp.srq->pd : init.pd.index;
  make_queues(qp, device.config.limits.max_sge);
  return qp;
}

}  // namespace detail

using namespace detail;

VerbResult<Qpn> Device::create_qp(const QpInit& init) {
  DeviceState& device = *state_;
  const VerbResult<QpParts> parts = parts_of(device, init);
  if (!parts) return tl::unexpected(parts.error());
  if (VerbResult<void> checked = check_sizes(device.config.limits, init); !checked) {
    return tl::unexpected(checked.error());
  }
  std::optional<Qpn> qpn;
  if (init.type == QpType::gsi) {
    if (VerbResult<void> first = is_in_shard_0(device, "type"); !first) return tl::unexpected(first.error());
    if (device.qps.back() != nullptr) return refuse(VerbErrorCode::in_use, "type", "one QP1 only", 1);
    qpn = Qpn{1};
  } else {
    qpn = next_qpn(device);
    if (!qpn) {
      return refuse(VerbErrorCode::no_resources, "qp", "at most max_qp", device.live_qps, device.slot_mask + 1);
    }
    ++device.live_qps;
  }
  auto qp = std::make_unique<Qp>(make_qp(device, *qpn, init));
  for_each_count(*parts, [](std::uint32_t& users) { ++users; });
  const std::uint32_t slot = qp->slot;
  device.qps[slot] = std::move(qp);
  return *qpn;
}

VerbResult<void> Device::destroy_qp(Qpn qpn) {
  DeviceState& device = *state_;
  Qp* qp = device.find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  if (qp->groups != 0) return refuse(VerbErrorCode::in_use, "qp", "no multicast groups", qp->groups);
  if (fault(Fault::destroyed_stays)) return {};
  leave_answers(device, *qp);
  unschedule(device, *qp);
  device.memory.unbind_windows_of(qpn);
  // None of them can have been destroyed since.
  for_each_count(*parts_of(device, qp->init), [](std::uint32_t& users) { --users; });
  qp->resp.queue.watch(nullptr);
  if (qp->init.type != QpType::gsi) --device.live_qps;
  add(device.other, qp->counters);
  device.qps[qp->slot].reset();
  return {};
}

VerbResult<void> Device::attach_multicast(Qpn qpn, const Gid& group) {
  DeviceState& device = *state_;
  Qp* qp = device.find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  if (qp->init.type != QpType::ud) return refuse(VerbErrorCode::wrong_type, "qp", "a UD QP", qpn.value());
  if (VerbResult<void> first = is_in_shard_0(device, "group"); !first && !device.config.takes_groups) return first;
  if (!is_multicast(group)) return invalid("group", "a multicast GID", 0);
  const std::pair<Gid, std::uint32_t> entry{group, qp->slot};
  if (std::ranges::find(device.groups, entry) != device.groups.end()) return {};
  if (device.groups.size() >= device.config.limits.max_groups) {
    return refuse(VerbErrorCode::no_resources, "group", "at most max_groups", device.groups.size(),
                  device.config.limits.max_groups);
  }
  device.groups.push_back(entry);
  ++qp->groups;
  return {};
}

VerbResult<void> Device::detach_multicast(Qpn qpn, const Gid& group) {
  DeviceState& device = *state_;
  Qp* qp = device.find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  if (std::erase(device.groups, std::pair<Gid, std::uint32_t>{group, qp->slot}) == 0) {
    return invalid("group", "a group the QP is attached to", 0);
  }
  --qp->groups;
  return {};
}

VerbResult<void> Device::set_hook(Qpn qpn, MisbehaviourHook* hook) {
  Qp* qp = state_->find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  if (qp->misbehaviour == nullptr) {
    if (hook == nullptr) return {};
    qp->misbehaviour = std::make_unique<Misbehaviour>();
  }
  qp->misbehaviour->hook = hook;
  // Packets that are still held back are sent when they are due.
  if (hook == nullptr && qp->misbehaviour->held.empty()) qp->misbehaviour.reset();
  return {};
}

Counters Device::counters() const {
  Counters sum = state_->other;
  for (const std::unique_ptr<Qp>& qp : state_->qps) {
    if (qp != nullptr) add(sum, qp->counters);
  }
  return sum;
}

VerbResult<Counters> Device::counters(Qpn qpn) const {
  const Qp* qp = state_->find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  return qp->counters;
}

VerbResult<std::size_t> Device::memory_of(Qpn qpn) const {
  const Qp* qp = state_->find_qp(qpn);
  if (qp == nullptr) return unknown_qp(qpn);
  return sizeof(Qp) + bytes_of(qp->req.ring) + bytes_of(qp->req.extra) + bytes_of(qp->req.sges) +
         bytes_of(qp->req.inline_data) + qp->resp.queue.bytes() + qp->resp.responses.bytes() +
         bytes_of(qp->resp.replays) + bytes_of(qp->resp.flushes) + bytes_of(qp->resp.receive_sges);
}

}  // namespace roce::transport
