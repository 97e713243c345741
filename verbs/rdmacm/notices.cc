// SPDX-License-Identifier: BSD-2-Clause
// The events that programs get of what the manager in roce-portd reports.
#include <algorithm>
#include <cstring>
#include <memory>

#include "roce/wire/cma.h"
#include "verbs/rdmacm/address.h"
#include "verbs/rdmacm/objects.h"

namespace roce::verbs {

namespace {

void copy_data(const CmPrivateData& from, std::size_t skip, EventObject& event, const void*& data, std::uint8_t& size) {
  const std::size_t all = std::min<std::size_t>(from.size, from.bytes.size());
  const std::size_t count = all - std::min(skip, all);
  std::copy_n(from.bytes.begin() + static_cast<std::ptrdiff_t>(all - count), count, event.data.begin());
  data = count != 0 ? event.data.data() : nullptr;
  size = static_cast<std::uint8_t>(count);
}

/// Writes what the peer proposes as our side sees it: what it can take is what we may begin, and the other way round.
void describe(const CmNotice& notice, std::size_t skip, EventObject& event) {
  const CmProposal& proposal = notice.proposal;
  rdma_conn_param& param = event.param.conn;
  param.responder_resources = proposal.initiator_depth;
  param.initiator_depth = proposal.responder_resources;
  param.flow_control = proposal.flow_control;
  param.retry_count = proposal.retry_count;
  param.rnr_retry_count = proposal.rnr_retry_count;
  param.srq = proposal.srq;
  param.qp_num = proposal.qpn;
  copy_data(notice.private_data, skip, event, param.private_data, param.private_data_len);
}

void describe_service(const IdObject& id, const CmNotice& notice, EventObject& event) {
  event.param.ud = parameters_towards(id, id.remote, notice.proposal.qpn, notice.q_key);
  copy_data(notice.private_data, 0, event, event.param.ud.private_data, event.param.ud.private_data_len);
}

/// Makes the identifier of a connection that a peer asks a listener for. Under the lock.
[[nodiscard]] IdObject* make_passive(CmDevice& device, IdObject& listener, const CmNotice& notice) {
  IdObject* const id = make_id(listener.channel, listener.context, listener.ps, listener.qp_type);
  if (id == nullptr) return nullptr;
  id->is_passive = true;
  set_device(*id, device);
  id->connection = notice.connection;
  id->remote = notice.remote;
  id->proposal = notice.proposal;
  id->agreement = notice.agreement;
  id->responder_resources = notice.proposal.initiator_depth;
  id->initiator_depth = notice.proposal.responder_resources;
  id->traffic_class = listener.traffic_class;
  id->ack_timeout = listener.ack_timeout;
  if (notice.proposal.is_uc != 0) id->qp_type = IBV_QPT_UC;
  const Cma header = read<Cma>(notice.private_data.bytes.data());
  write_address(device.address, ServiceId{notice.service}.port(), id->route.addr.src_storage);
  write_address(notice.remote, header.source_port, id->route.addr.dst_storage);
  return id;
}

[[nodiscard]] EventObject* request_of(CmDevice& device, const CmNotice& notice) {
  auto event = std::make_unique<EventObject>();
  {
    const std::scoped_lock lock{shared().mutex};
    const auto found = shared().listeners.find(notice.listener);
    if (found != shared().listeners.end()) {
      event->counted_at = found->second;
      ++found->second->unacknowledged;
    }
  }
  IdObject* const listener = event->counted_at;
  IdObject* const id = listener != nullptr ? make_passive(device, *listener, notice) : nullptr;
  if (id == nullptr) {
    (void)device.call({.verb = CmVerb::abandon, .connection = notice.connection});
    const std::scoped_lock lock{shared().mutex};
    if (listener != nullptr) --listener->unacknowledged;
    return nullptr;
  }
  event->event = RDMA_CM_EVENT_CONNECT_REQUEST;
  event->listen_id = listener;
  event->id = id;
  if (notice.kind == cm::EventKind::request) {
    describe(notice, kSize<Cma>, *event);
  } else {
    copy_data(notice.private_data, kSize<Cma>, *event, event->param.ud.private_data, event->param.ud.private_data_len);
  }
  const std::scoped_lock lock{shared().mutex};
  shared().connections[{&device, notice.connection}] = id;
  return event.release();
}

/// Handles a REP: with a QP that is ours to move the connection is established at once.
void take_reply(IdObject& id, const CmNotice& notice, EventObject& event) {
  id.remote = notice.remote;
  id.proposal = notice.proposal;
  id.agreement = notice.agreement;
  describe(notice, 0, event);
  event.event = RDMA_CM_EVENT_CONNECT_RESPONSE;
  if (id.qp == nullptr) return;
  int error = make_ready(id);
  if (error == 0) error = confirm(id);
  event.event = error == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
  event.status = -error;
  if (error != 0) {
    abandon(id);
    forget(id);
  }
}

}  // namespace

rdma_ud_param parameters_towards(const IdObject& id, const Gid& destination, std::uint32_t qpn, std::uint32_t q_key) {
  rdma_ud_param parameters{};
  parameters.qp_num = qpn;
  parameters.qkey = q_key;
  parameters.ah_attr.is_global = 1;
  parameters.ah_attr.port_num = 1;
  parameters.ah_attr.grh.hop_limit = 64;
  parameters.ah_attr.grh.traffic_class = id.traffic_class;
  std::memcpy(parameters.ah_attr.grh.dgid.raw, destination.octets.data(), sizeof parameters.ah_attr.grh.dgid.raw);
  return parameters;
}

EventObject* event_of(CmDevice& device, const CmNotice& notice) {
  using cm::EventKind;
  if (notice.kind == EventKind::request || notice.kind == EventKind::resolve_request) return request_of(device, notice);
  auto event = std::make_unique<EventObject>();
  {
    const std::scoped_lock lock{shared().mutex};
    const auto found = shared().connections.find({&device, notice.connection});
    if (found == shared().connections.end()) return nullptr;
    event->counted_at = found->second;
    ++found->second->unacknowledged;
  }
  IdObject& id = *event->counted_at;
  event->id = &id;
  switch (notice.kind) {
    case EventKind::reply:
      take_reply(id, notice, *event);
      break;
    case EventKind::established:
      event->event = RDMA_CM_EVENT_ESTABLISHED;
      break;
    case EventKind::rejected:
      event->event = RDMA_CM_EVENT_REJECTED;
      event->status = static_cast<int>(notice.status);
      copy_data(notice.private_data, 0, *event, event->param.conn.private_data, event->param.conn.private_data_len);
      end_qp(id);
      break;
    case EventKind::unreachable:
      event->event = RDMA_CM_EVENT_UNREACHABLE;
      event->status = -ETIMEDOUT;
      end_qp(id);
      break;
    case EventKind::disconnected:
      event->event = RDMA_CM_EVENT_DISCONNECTED;
      break;
    case EventKind::resolved:
      event->event = notice.status == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_UNREACHABLE;
      event->status = static_cast<int>(notice.status);
      describe_service(id, notice, *event);
      break;
    default:
      event->event = RDMA_CM_EVENT_TIMEWAIT_EXIT;
      break;
  }
  return event.release();
}

}  // namespace roce::verbs
