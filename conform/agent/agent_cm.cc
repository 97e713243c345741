// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/agent_cm.h"

#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "conform/agent/socket_address.h"
#include "conform/agent/verbs_refusal.h"
#include "roce/live/control_request.h"

namespace roce::conform {

namespace {

using live::CmTerms;
using live::Refusal;

constexpr int kBacklog = 1024;
constexpr int kResolveTime = 2000;  // ms
// Nobody may leave more than this untaken.
constexpr std::size_t kMostReports = 65'536;

/// Returns the port space of a service ID that programs of librdmacm can have.
rdma_port_space space_of(ServiceId service) {
  const std::uint64_t space = service.value() & RDMA_IB_IP_PS_MASK;
  if (space == RDMA_IB_IP_PS_TCP) return RDMA_PS_TCP;
  if (space == RDMA_IB_IP_PS_UDP) return RDMA_PS_UDP;
  throw Refusal(
      "\"service\" is of no port space of librdmacm's programs: 0x01060000 and a port is of TCP, 0x01110000 and a port "
      "of UDP");
}

std::uint16_t port_of(ServiceId service) {
  return static_cast<std::uint16_t>(service.value() & RDMA_IB_IP_PORT_MASK);
}

std::uint8_t length_of(const std::vector<std::byte>& private_data) {
  constexpr std::size_t most = 255;
  if (private_data.size() > most) throw Refusal("\"private_data\" has more than 255 bytes");
  return static_cast<std::uint8_t>(private_data.size());
}

[[nodiscard]] bool is_datagram(const rdma_cm_id& id) {
  return id.ps == RDMA_PS_UDP;
}

void to_error(ibv_qp& qp) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  (void)ibv_modify_qp(&qp, &attributes, IBV_QP_STATE);
}

}  // namespace

AgentCm::AgentCm(const VerbsDevice& device, std::map<std::uint32_t, AgentQp>& qps)
    : device_(device), qps_(qps), channel_(rdma_create_event_channel()) {
  if (!channel_) refuse("hello", "rdma_create_event_channel", errno);
  (void)::fcntl(channel_->fd, F_SETFL, ::fcntl(channel_->fd, F_GETFL) | O_NONBLOCK);
}

bool AgentCm::is_there(const VerbsDevice& device) {
  const std::unique_ptr<rdma_event_channel, Destroy> channel{rdma_create_event_channel()};
  if (!channel) return false;
  try {
    return make_id(*channel, device, RDMA_PS_TCP, 0)->verbs != nullptr;
  } catch (const Refusal&) {
    return false;
  }
}

AgentCm::Id AgentCm::make_id(rdma_event_channel& channel, const VerbsDevice& device, rdma_port_space space,
                             std::uint16_t port) {
  rdma_cm_id* made = nullptr;
  if (rdma_create_id(&channel, &made, nullptr, space) != 0) refuse("cm", "rdma_create_id", errno);
  Id id{made};
  SocketAddress address{device.gid(), port};
  if (rdma_bind_addr(made, address.get()) != 0) refuse("cm", "rdma_bind_addr", errno);
  return id;
}

void AgentCm::take_events() {
  rdma_cm_event* event = nullptr;
  while (rdma_get_cm_event(channel_.get(), &event) == 0) {
    const Notice notice = take(*event);
    // Destroying an identifier waits until its events are acknowledged.
    (void)rdma_ack_cm_event(event);
    handle(notice);
  }
}

AgentCm::Notice AgentCm::take(const rdma_cm_event& event) {
  Notice notice{.event = event.event, .id = event.id, .listener = event.listen_id, .status = event.status};
  const bool is_ud = is_datagram(*event.id);
  const void* const data = is_ud ? event.param.ud.private_data : event.param.conn.private_data;
  const std::size_t length = is_ud ? event.param.ud.private_data_len : event.param.conn.private_data_len;
  if (data != nullptr && length != 0) {
    notice.private_data.resize(length);
    std::memcpy(notice.private_data.data(), data, length);
  }
  if (!is_ud) {
    notice.responder_resources = event.param.conn.responder_resources;
    notice.initiator_depth = event.param.conn.initiator_depth;
  }
  return notice;
}

void AgentCm::handle(const Notice& notice) {
  if (notice.event == RDMA_CM_EVENT_CONNECT_REQUEST) return take_request(notice);
  // One that was given up in the meantime, or a listener.
  if (!connections_.contains(notice.id)) return;
  const bool is_ud = is_datagram(*notice.id);
  switch (notice.event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      if (rdma_resolve_route(notice.id, kResolveTime) == 0) return;
      report("unreachable", notice);
      return drop(*notice.id);
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return resolved(*notice.id);
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      report("reply", notice);
      return take_reply(*notice.id);
    case RDMA_CM_EVENT_ESTABLISHED:
      report(is_ud ? "resolved" : "established", notice);
      if (is_ud) drop(*notice.id);
      return;
    case RDMA_CM_EVENT_UNREACHABLE:
      // An answer that says no has the status that it says, and silence an errno.
      report(is_ud && notice.status > 0 ? "resolved" : "unreachable", notice);
      break;
    case RDMA_CM_EVENT_REJECTED:
      report("rejected", notice);
      break;
    case RDMA_CM_EVENT_DISCONNECTED:
      report("disconnected", notice);
      stop(*notice.id);
      // This also answers the peer's request to disconnect.
      (void)rdma_disconnect(notice.id);
      return;
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      report("closed", notice);
      return drop(*notice.id);
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_CONNECT_ERROR:
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      report("unreachable", notice);
      break;
    default:
      return;
  }
  stop(*notice.id);
  drop(*notice.id);
}

void AgentCm::report(std::string_view kind, const Notice& notice) {
  if (reports_.size() >= kMostReports) return;
  const bool has_reason = notice.status > 0 && (kind == "rejected" || kind == "resolved");
  reports_.push_back({.kind = std::string{kind},
                      .reason = has_reason ? static_cast<std::uint16_t>(notice.status) : std::uint16_t{0},
                      .private_data = notice.private_data});
}

std::optional<live::CmReport> AgentCm::take_report() {
  if (reports_.empty()) return std::nullopt;
  live::CmReport report = std::move(reports_.front());
  reports_.pop_front();
  return report;
}

void AgentCm::listen(const CmTerms& terms, std::vector<End> ends, bool answers) {
  const rdma_port_space space = space_of(terms.service);
  for (const End& end : ends) {
    if (qp_of(end.qpn).type == IBV_QPT_UC) throw Refusal("programs of librdmacm have no connections of UC");
  }
  (void)length_of(terms.private_data);
  Id id = make_id(*channel_, device_, space, port_of(terms.service));
  if (rdma_listen(id.get(), kBacklog) != 0) refuse("cm_listen", "rdma_listen", errno);
  rdma_cm_id* const key = id.get();
  listeners_.emplace(key, Listening{.id = std::move(id), .terms = terms, .ends = std::move(ends), .answers = answers});
}

void AgentCm::take_request(const Notice& notice) {
  report(is_datagram(*notice.id) ? "resolve_request" : "request", notice);
  connections_.emplace(notice.id, Connection{.id = Id{notice.id},
                                             .listener = notice.listener,
                                             .responder_resources = notice.responder_resources,
                                             .initiator_depth = notice.initiator_depth});
  const auto listening = listeners_.find(notice.listener);
  if (listening == listeners_.end()) return drop(*notice.id);
  if (!listening->second.answers) return waiting_.push_back(notice.id);
  try {
    answer(*notice.id, listening->second.terms);
  } catch (const Refusal&) {
    // Nobody asked for this answer: the peer alone learns that there is none.
  }
}

void AgentCm::answer(rdma_cm_id& id, const CmTerms& terms) {
  try {
    agree(id, terms);
  } catch (const Refusal&) {
    (void)rdma_reject(&id, nullptr, 0);
    drop(id);
    throw;
  }
}

void AgentCm::agree(rdma_cm_id& id, const CmTerms& terms) {
  Connection& connection = connections_.at(&id);
  Listening& listening = listeners_.at(connection.listener);
  if (listening.used >= listening.ends.size()) throw Refusal("no QP is left for the request");
  const End end = listening.ends[listening.used];
  if (!is_datagram(id)) ++listening.used;
  rdma_conn_param agreed{};
  agreed.private_data = terms.private_data.data();
  agreed.private_data_len = length_of(terms.private_data);
  agreed.responder_resources = std::min(terms.responder_resources, connection.responder_resources);
  agreed.initiator_depth = std::min(terms.initiator_depth, connection.initiator_depth);
  agreed.rnr_retry_count = terms.rnr_retry;
  agreed.qp_num = end.qpn;
  if (is_datagram(id)) {
    // The answer names the Q_Key that all programs of librdmacm share.
    ibv_qp_attr attributes{};
    attributes.qkey = RDMA_UDP_QKEY;
    check("cm_accept", "ibv_modify_qp", ibv_modify_qp(qp_of(end.qpn).qp.get(), &attributes, IBV_QP_QKEY));
  } else {
    ready(id, end, &agreed);
    connection.end = end;
  }
  if (rdma_accept(&id, &agreed) != 0) refuse("cm_accept", "rdma_accept", errno);
  if (is_datagram(id)) drop(id);
}

/// Takes the QP of a connection to RTS. `agreed` is what this side says in its answer; nullptr if the peer has said it.
void AgentCm::ready(rdma_cm_id& id, const End& end, const rdma_conn_param* agreed) {
  ibv_qp* const qp = qp_of(end.qpn).qp.get();
  ibv_qp_attr attributes{};
  int mask = 0;
  attributes.qp_state = IBV_QPS_RTR;
  if (rdma_init_qp_attr(&id, &attributes, &mask) != 0) refuse("cm", "rdma_init_qp_attr to RTR", errno);
  attributes.min_rnr_timer = end.min_rnr_timer;
  if (agreed != nullptr) attributes.max_dest_rd_atomic = agreed->responder_resources;
  check("cm", "ibv_modify_qp to RTR", ibv_modify_qp(qp, &attributes, mask));
  attributes = {};
  attributes.qp_state = IBV_QPS_RTS;
  if (rdma_init_qp_attr(&id, &attributes, &mask) != 0) refuse("cm", "rdma_init_qp_attr to RTS", errno);
  if (agreed != nullptr) attributes.max_rd_atomic = agreed->initiator_depth;
  check("cm", "ibv_modify_qp to RTS", ibv_modify_qp(qp, &attributes, mask));
}

rdma_cm_id& AgentCm::next_waiting() const {
  if (waiting_.empty()) throw Refusal("no request waits for an answer");
  return *waiting_.front();
}

void AgentCm::accept(const CmTerms& terms) {
  (void)length_of(terms.private_data);
  rdma_cm_id& id = next_waiting();
  waiting_.pop_front();
  answer(id, terms);
}

void AgentCm::reject(const CmTerms& terms) {
  constexpr std::uint16_t by_the_program = 28;
  if (terms.reason != by_the_program || !terms.info.empty()) {
    throw Refusal("a program of librdmacm rejects with reason 28 and without \"info\"");
  }
  rdma_cm_id& id = next_waiting();
  const std::uint8_t length = length_of(terms.private_data);
  waiting_.pop_front();
  const int rejected = rdma_reject(&id, terms.private_data.data(), length);
  const int error = errno;
  drop(id);
  if (rejected != 0) refuse("cm_reject", "rdma_reject", error);
}

void AgentCm::connect(const Gid& peer, const End& end, const CmTerms& terms) {
  const rdma_port_space space = space_of(terms.service);
  if (qp_of(end.qpn).type == IBV_QPT_UC) throw Refusal("programs of librdmacm have no connections of UC");
  (void)length_of(terms.private_data);
  Id id = make_id(*channel_, device_, space, 0);
  SocketAddress address{peer, port_of(terms.service)};
  if (rdma_resolve_addr(id.get(), nullptr, address.get(), kResolveTime) != 0) {
    refuse("cm_connect", "rdma_resolve_addr", errno);
  }
  rdma_cm_id* const key = id.get();
  connections_.emplace(key, Connection{.id = std::move(id), .end = end, .terms = terms});
}

/// Asks the peer of a connection, whose address and route are known now.
void AgentCm::resolved(rdma_cm_id& id) {
  const Connection& connection = connections_.at(&id);
  const CmTerms& terms = connection.terms;
  rdma_conn_param asked{};
  asked.private_data = terms.private_data.data();
  asked.private_data_len = length_of(terms.private_data);
  asked.responder_resources = terms.responder_resources;
  asked.initiator_depth = terms.initiator_depth;
  asked.flow_control = 1;
  asked.retry_count = connection.end->retry_count;
  asked.rnr_retry_count = terms.rnr_retry;
  asked.qp_num = connection.end->qpn;
  if (rdma_connect(&id, &asked) == 0) return;
  report("unreachable", Notice{.event = RDMA_CM_EVENT_ROUTE_ERROR, .id = &id});
  drop(id);
}

void AgentCm::take_reply(rdma_cm_id& id) {
  try {
    ready(id, *connections_.at(&id).end, nullptr);
    if (rdma_establish(&id) != 0) refuse("cm_connect", "rdma_establish", errno);
  } catch (const Refusal&) {
    (void)rdma_reject(&id, nullptr, 0);
    drop(id);
  }
}

void AgentCm::disconnect(std::uint32_t qpn) {
  rdma_cm_id* const id = find(qpn);
  if (id == nullptr) throw Refusal("\"qp\" has no connection");
  stop(*id);
  if (rdma_disconnect(id) != 0) refuse("cm_disconnect", "rdma_disconnect", errno);
}

void AgentCm::forget(std::uint32_t qpn) {
  if (rdma_cm_id* const id = find(qpn)) drop(*id);
}

void AgentCm::note_data(std::uint32_t qpn) {
  if (rdma_cm_id* const id = find(qpn)) (void)rdma_notify(id, IBV_EVENT_COMM_EST);
}

void AgentCm::close() {
  waiting_.clear();
  connections_.clear();
  listeners_.clear();
  reports_.clear();
}

void AgentCm::stop(rdma_cm_id& id) {
  const std::optional<End>& end = connections_.at(&id).end;
  if (!end) return;
  // The client may have destroyed it.
  if (const auto qp = qps_.find(end->qpn); qp != qps_.end()) to_error(*qp->second.qp);
}

void AgentCm::drop(rdma_cm_id& id) {
  std::erase(waiting_, &id);
  connections_.erase(&id);
}

AgentQp& AgentCm::qp_of(std::uint32_t qpn) const {
  const auto found = qps_.find(qpn);
  if (found == qps_.end()) throw Refusal("\"qp\" was not made by this connection");
  return found->second;
}

rdma_cm_id* AgentCm::find(std::uint32_t qpn) const {
  for (const auto& [id, connection] : connections_) {
    if (connection.end && connection.end->qpn == qpn) return id;
  }
  return nullptr;
}

}  // namespace roce::conform
