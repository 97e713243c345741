// SPDX-License-Identifier: BSD-2-Clause
// Creating and destroying the objects behind handles: PDs, regions, windows, CQs, SRQs, address handles.
#include <algorithm>

#include "transport/completion.h"
#include "transport/device_state.h"
#include "transport/refusal.h"
#include "transport/xrc.h"

namespace roce::transport {

namespace detail {
namespace {

[[nodiscard]] VerbResult<void> within(std::string_view subject, std::uint64_t value, std::uint64_t limit) {
  if (value >= 1 && value <= limit) return {};
  return invalid(subject, "at least 1 and at most", value, limit);
}

}  // namespace
}  // namespace detail

using namespace detail;

VerbResult<Pd> Device::create_pd() {
  return state_->pds.insert(std::make_unique<ProtectionDomain>());
}

VerbResult<void> Device::destroy_pd(Pd handle) {
  return state_->pds.erase_unused(handle, "no objects in it");
}

VerbResult<Mr> Device::register_memory(Pd handle, const MrInit& init) {
  VerbResult<ProtectionDomain*> pd = state_->pds.get(handle);
  if (!pd) return tl::unexpected(pd.error());
  VerbResult<Mr> mr = state_->memory.register_region(handle.index, init);
  if (mr) ++(*pd)->users;
  return mr;
}

VerbResult<MrInfo> Device::query_mr(Mr mr) const {
  return state_->memory.query(mr);
}

VerbResult<MrInfo> Device::renew_key(Mr mr, std::uint8_t variant) {
  return state_->memory.renew_key(mr, variant);
}

VerbResult<MrInfo> Device::change_memory(Mr mr, Pd handle, const MrInit& init) {
  VerbResult<ProtectionDomain*> pd = state_->pds.get(handle);
  if (!pd) return tl::unexpected(pd.error());
  const VerbResult<std::uint32_t> before = state_->memory.change_region(mr, handle.index, init);
  if (!before) return tl::unexpected(before.error());
  --state_->pds.at(*before).users;
  ++(*pd)->users;
  return state_->memory.query(mr);
}

VerbResult<void> Device::deregister_memory(Mr mr) {
  VerbResult<std::uint32_t> pd = state_->memory.deregister(mr);
  if (!pd) return tl::unexpected(pd.error());
  --state_->pds.at(*pd).users;
  return {};
}

VerbResult<Mw> Device::create_mw(Pd handle, MwType type) {
  VerbResult<ProtectionDomain*> pd = state_->pds.get(handle);
  if (!pd) return tl::unexpected(pd.error());
  VerbResult<Mw> mw = state_->memory.create_window(handle.index, type);
  if (mw) ++(*pd)->users;
  return mw;
}

VerbResult<RKey> Device::query_mw(Mw mw) const {
  return state_->memory.query(mw);
}

VerbResult<void> Device::destroy_mw(Mw mw) {
  VerbResult<std::uint32_t> pd = state_->memory.destroy(mw);
  if (!pd) return tl::unexpected(pd.error());
  --state_->pds.at(*pd).users;
  return {};
}

VerbResult<Cq> Device::create_cq(std::uint32_t capacity) {
  if (VerbResult<void> checked = within("capacity", capacity, state_->config.limits.max_cqe); !checked) {
    return tl::unexpected(checked.error());
  }
  VerbResult<Cq> cq = state_->cqs.insert(std::make_unique<CompletionQueue>(capacity));
  if (cq) state_->cqs.find(*cq)->handle = *cq;
  return cq;
}

VerbResult<void> Device::destroy_cq(Cq handle) {
  return state_->cqs.erase_unused(handle, "no QPs or SRQs on it");
}

VerbResult<void> Device::resize_cq(Cq handle, std::uint32_t capacity) {
  VerbResult<CompletionQueue*> cq = state_->cqs.get(handle);
  if (!cq) return tl::unexpected(cq.error());
  if (VerbResult<void> checked = within("capacity", capacity, state_->config.limits.max_cqe); !checked) return checked;
  Ring<Completion>& ring = (*cq)->ring;
  if (capacity < ring.size()) return invalid("capacity", "at least the completions in it", capacity, ring.size());
  ring.resize(capacity);
  return {};
}

std::size_t Device::poll_cq(Cq handle, std::span<Completion> out) {
  CompletionQueue* cq = state_->cqs.find(handle);
  if (cq == nullptr) return 0;
  std::size_t count = 0;
  while (count < out.size() && !cq->ring.empty()) {
    out[count++] = cq->ring.front();
    cq->ring.pop();
  }
  return count;
}

VerbResult<void> Device::request_notify(Cq handle, bool solicited_only) {
  VerbResult<CompletionQueue*> cq = state_->cqs.get(handle);
  if (!cq) return tl::unexpected(cq.error());
  // QP-13 (a completion that waits, and that no event has told of, makes the event at once)
  if (!solicited_only && (*cq)->has_untold && !(*cq)->ring.empty()) {
    tell(*state_, **cq);
    return {};
  }
  // If notification is requested twice, the wider request holds.
  if ((*cq)->armed != CompletionQueue::Armed::any) {
    (*cq)->armed = solicited_only ? CompletionQueue::Armed::solicited : CompletionQueue::Armed::any;
  }
  return {};
}

VerbResult<Srq> Device::create_srq(Pd handle, std::uint32_t capacity, std::uint8_t max_sge) {
  VerbResult<ProtectionDomain*> pd = state_->pds.get(handle);
  if (!pd) return tl::unexpected(pd.error());
  const Limits& limits = state_->config.limits;
  if (VerbResult<void> checked = within("capacity", capacity, limits.max_wr); !checked) {
    return tl::unexpected(checked.error());
  }
  if (VerbResult<void> checked = within("max_sge", max_sge, limits.max_sge); !checked) {
    return tl::unexpected(checked.error());
  }
  VerbResult<Srq> srq = state_->srqs.insert(std::make_unique<SharedReceiveQueue>(handle.index, capacity, max_sge));
  if (!srq) return srq;
  SharedReceiveQueue* object = state_->srqs.find(*srq);
  object->handle = *srq;
  object->pd_handle = handle;
  ++(*pd)->users;
  return srq;
}

VerbResult<void> Device::destroy_srq(Srq handle) {
  VerbResult<SharedReceiveQueue*> srq = state_->srqs.get(handle);
  if (!srq) return tl::unexpected(srq.error());
  if ((*srq)->users != 0) return refuse(VerbErrorCode::in_use, "srq", "no QPs on it", (*srq)->users);
  if ((*srq)->cq != nullptr) detach_srq(*state_, **srq);
  --state_->pds.at((*srq)->pd).users;
  (*srq)->queue.watch(nullptr);
  state_->srqs.erase(handle);
  return {};
}

VerbResult<void> Device::resize_srq(Srq handle, std::uint32_t capacity) {
  VerbResult<SharedReceiveQueue*> srq = state_->srqs.get(handle);
  if (!srq) return tl::unexpected(srq.error());
  if (VerbResult<void> checked = within("capacity", capacity, state_->config.limits.max_wr); !checked) return checked;
  ReceiveQueue& queue = (*srq)->queue;
  if (const std::uint32_t least = std::max(queue.size(), (*srq)->limit); capacity < least) {
    return invalid("capacity", "at least the receives in it, and its limit", capacity, least);
  }
  queue.resize(capacity);
  return {};
}

VerbResult<void> Device::arm_srq_limit(Srq handle, std::uint32_t limit) {
  VerbResult<SharedReceiveQueue*> srq = state_->srqs.get(handle);
  if (!srq) return tl::unexpected(srq.error());
  if (limit > (*srq)->queue.capacity()) {
    return invalid("limit", "at most the SRQ's capacity", limit, (*srq)->queue.capacity());
  }
  (*srq)->limit = limit;
  return {};
}

VerbResult<Ah> Device::create_ah(Pd handle, const AddressVector& address) {
  VerbResult<ProtectionDomain*> pd = state_->pds.get(handle);
  if (!pd) return tl::unexpected(pd.error());
  VerbResult<Path> path = make_path(*state_, address, Qpn{}, Qpn{});
  if (!path) return tl::unexpected(path.error());
  auto object = std::make_unique<AddressHandle>();
  object->pd = handle.index;
  object->pd_handle = handle;
  object->address = address;
  object->path = *path;
  VerbResult<Ah> ah = state_->ahs.insert(std::move(object));
  if (ah) ++(*pd)->users;
  return ah;
}

VerbResult<void> Device::destroy_ah(Ah handle) {
  VerbResult<AddressHandle*> ah = state_->ahs.get(handle);
  if (!ah) return tl::unexpected(ah.error());
  --state_->pds.at((*ah)->pd).users;
  state_->ahs.erase(handle);
  return {};
}

}  // namespace roce::transport
