// SPDX-License-Identifier: BSD-2-Clause
// XRC: many SRQs behind one connection (IBTA vol. 1, annex A14). Domains, their SRQs, and which one a request uses.
#include "transport/xrc.h"

#include "roce/wire/xrceth.h"
#include "transport/refusal.h"

namespace roce::transport {

namespace detail {
namespace {

constexpr std::uint32_t kMaxSrqn = 0xFF'FFFF;

/// Returns the number that has been free for longest, so that late requests for its last SRQ find none.
[[nodiscard]] XrcSrqn next_number(DeviceState& device) {
  std::uint32_t number = 0;
  do {
    if (device.next_xrc_srq > kMaxSrqn) device.next_xrc_srq = 1;
    number = device.next_xrc_srq++;
  } while (device.xrc_srqs.contains(number));
  return XrcSrqn{number};
}

}  // namespace

// XRC-02 (a request of another domain's SRQ, of none, or inside a message of another one: NAK 0x61)
bool select_srq(const DeviceState& device, Qp& qp, const Packet& request) {
  const std::optional<XrcEth> header = request.get<XrcEth>();
  if (!header) return false;
  const auto found = device.xrc_srqs.find(header->xrc_srq.value());
  if (found == device.xrc_srqs.end() || found->second->xrcd != qp.init.xrcd) return false;
  SharedReceiveQueue& srq = *found->second;
  if (qp.resp.open != Responder::Open::nothing && qp.srq != &srq) return false;
  qp.srq = &srq;
  qp.receive_cq = srq.cq;
  qp.pd = qp.receive_pd = srq.pd;
  return true;
}

void detach_srq(DeviceState& device, const SharedReceiveQueue& srq) {
  for (const std::unique_ptr<Qp>& qp : device.qps) {
    if (qp == nullptr || qp->init.type != QpType::xrc_target || qp->srq != &srq) continue;
    qp->srq = nullptr;
    qp->receive_cq = nullptr;
    qp->resp.has_receive = false;
  }
  --srq.cq->users;
  --device.xrcds.find(srq.xrcd)->users;
  device.xrc_srqs.erase(srq.number.value());
}

}  // namespace detail

using namespace detail;

VerbResult<Xrcd> Device::create_xrcd() {
  return state_->xrcds.insert(std::make_unique<XrcDomain>());
}

VerbResult<void> Device::destroy_xrcd(Xrcd handle) {
  return state_->xrcds.erase_unused(handle, "no objects in it");
}

VerbResult<Srq> Device::create_xrc_srq(const XrcSrqInit& init) {
  VerbResult<XrcDomain*> xrcd = state_->xrcds.get(init.xrcd);
  if (!xrcd) return tl::unexpected(xrcd.error());
  VerbResult<CompletionQueue*> cq = state_->cqs.get(init.cq);
  if (!cq) return tl::unexpected(cq.error());
  VerbResult<Srq> handle = create_srq(init.pd, init.capacity, init.max_sge);
  if (!handle) return handle;
  SharedReceiveQueue& srq = *state_->srqs.find(*handle);
  srq.xrcd = init.xrcd;
  srq.cq = *cq;
  srq.number = next_number(*state_);
  ++(*xrcd)->users;
  ++(*cq)->users;
  state_->xrc_srqs.emplace(srq.number.value(), &srq);
  return handle;
}

VerbResult<XrcSrqn> Device::xrc_srq_number(Srq handle) const {
  VerbResult<SharedReceiveQueue*> srq = state_->srqs.get(handle);
  if (!srq) return tl::unexpected(srq.error());
  if ((*srq)->cq == nullptr) return invalid("srq", "an SRQ for XRC", handle.index);
  return (*srq)->number;
}

}  // namespace roce::transport
