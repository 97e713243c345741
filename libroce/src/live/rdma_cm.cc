// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/rdma_cm.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "roce/wire/cma.h"

namespace roce::live {

namespace {

/// How long the other side may take to agree to the end of a connection: time for two repetitions of our DREQ.
constexpr Duration kDisconnectTime = std::chrono::seconds{10};
/// How long a lost ACK may still be repeated after the peer, which has all it wanted, has ended the connection.
constexpr Duration kLateAckTime = std::chrono::seconds{1};
/// librdmacm leaves this at the kernel's value, the longest time; a peer should wait less for a receive.
constexpr std::uint8_t kMinRnrTimer = 12;

constexpr const char* kUnreachable = "the peer does not answer the messages of the communication manager";

[[nodiscard]] PathMtu path_mtu_of(std::uint32_t bytes) {
  auto mtu = PathMtu::mtu_256;
  for (const PathMtu larger : {PathMtu::mtu_512, PathMtu::mtu_1024, PathMtu::mtu_2048, PathMtu::mtu_4096}) {
    if (to_bytes(larger) <= bytes) mtu = larger;
  }
  return mtu;
}

[[nodiscard]] CmTransportService transport_service_of(transport::Device& device, Qpn qp) {
  const transport::QpAttributes attributes = granted(device.query_qp(qp), "look at the queue pair");
  return attributes.type == transport::QpType::uc ? CmTransportService::uc : CmTransportService::rc;
}

/// Returns the name of a value, or its number.
[[nodiscard]] std::string name_in(std::span<const ValueName> names, std::uint64_t value) {
  const auto found = std::ranges::find(names, value, &ValueName::value);
  return found != names.end() ? std::string{found->name} : fmt::format("number {}", value);
}

}  // namespace

Result<std::unique_ptr<RdmaCm>> RdmaCm::open(Endpoint& endpoint) {
  transport::Device& device = endpoint.device();
  cm::Config config;
  config.ca_guid = cm::guid_of(device.config().mac);
  config.max_path_mtu = path_mtu_of(endpoint.max_path_mtu());
  const transport::GidType mode = device.config().gids.at(endpoint.sgid_index()).type;
  auto agent = cm::GsiAgent::make(
      device, config, [&random = endpoint.random()] { return random.number(); }, endpoint.now(), mode);
  if (!agent) return failed(fmt::format("cannot make QP1: {}", to_string(agent.error())));
  endpoint.adopt(Qpn{1});
  return std::unique_ptr<RdmaCm>{new RdmaCm{endpoint, std::move(*agent)}};
}

Result<void> RdmaCm::listen(ServiceId service, std::function<void(CommId, Time)> arrived) {
  if (const auto listened = manager().listen(service); !listened) {
    return failed(fmt::format("cannot listen on RDMA port {}: {}", service.port(), to_string(listened.error())));
  }
  listeners_[service] = std::move(arrived);
  return {};
}

void RdmaCm::stop_listening(ServiceId service) {
  listeners_.erase(service);
  if (takers_.contains(service)) return;
  // If nobody listened there this is refused, which does no harm.
  (void)manager().stop_listening(service);
}

Result<void> RdmaCm::take_over(ServiceId service, std::function<void(CommId, Time)> arrived) {
  if (takers_.contains(service)) {
    return failed(
        fmt::format("cannot listen on RDMA port {}: another client does; wait until it has finished", service.port()));
  }
  if (!listeners_.contains(service)) {
    if (const auto listened = manager().listen(service); !listened) {
      return failed(fmt::format("cannot listen on RDMA port {}: {}", service.port(), to_string(listened.error())));
    }
  }
  takers_[service] = std::move(arrived);
  return {};
}

void RdmaCm::give_back(ServiceId service) {
  takers_.erase(service);
  if (!listeners_.contains(service)) (void)manager().stop_listening(service);
}

transport::AddressVector RdmaCm::address_of(const cm::Peer& peer) const {
  const std::optional<std::uint16_t> sgid_index = agent_->sgid_index_of(peer.local);
  if (!sgid_index) throw ScriptFailure(fmt::format("{} is no address of ours", to_string(peer.local)));
  transport::AddressVector address;
  address.sgid_index = *sgid_index;
  address.dgid = peer.remote;
  return address;
}

bool RdmaCm::step(Time now) {
  now_ = now;
  bool moved = agent_->step(now);
  while (const std::optional<cm::Event> event = manager().poll_event()) {
    take(*event, now);
    moved = true;
  }
  // Messages that the events led to go out at once.
  if (moved) agent_->step(now);
  endpoint_.driver().wake_at(agent_->next_timeout());
  return moved;
}

void RdmaCm::take(const cm::Event& event, Time now) {
  if (event.kind == cm::EventKind::request || event.kind == cm::EventKind::resolve_request) {
    const cm::Connection* connection = manager().find(event.connection);
    // The peer may have given up in the meantime.
    if (connection == nullptr) return;
    const ServiceId service =
        event.kind == cm::EventKind::request ? connection->request.service_id : connection->sidr_request.service_id;
    // A copy, because the function may stop listening.
    const auto taker = takers_.find(service);
    const auto listener = listeners_.find(service);
    if (taker != takers_.end() || listener != listeners_.end()) {
      const auto arrived = taker != takers_.end() ? taker->second : listener->second;
      arrived(event.connection, now);
    } else {
      (void)manager().abandon(event.connection, now);
    }
  } else if (const auto found = handlers_.find(event.connection); found != handlers_.end()) {
    // A copy, because the function may forget the connection.
    const auto happened = found->second;
    happened(event);
  }
}

std::vector<std::byte> rdma_ip_header(const Endpoint& endpoint, const Gid& to, std::uint16_t source_port) {
  Cma header;
  header.source_port = source_port;
  header.ip_version = to.is_ipv4_mapped() ? 4 : 6;
  header.source_address = to.is_ipv4_mapped() ? Cma::from_ipv4(endpoint.gid().ipv4()) : endpoint.gid();
  header.destination_address = to.is_ipv4_mapped() ? Cma::from_ipv4(to.ipv4()) : to;
  std::vector<std::byte> bytes(kSize<Cma>);
  write(header, bytes.data());
  return bytes;
}

std::uint16_t any_source_port(Random& random) {
  constexpr std::uint64_t kFirst = 32768;
  constexpr std::uint64_t kLast = 60999;
  return static_cast<std::uint16_t>(kFirst + random.number() % (kLast - kFirst + 1));
}

void prepare(QueuePair& qp, Time now) {
  transport::QpChange change{.state = transport::QpState::init};
  change.p_key_index = std::uint16_t{0};
  change.port = std::uint8_t{1};
  change.access = transport::Access::none;
  qp.modify(change, now, "move the queue pair to INIT");
}

CmConnection::CmConnection(RdmaCm& cm, CommId id) : cm_(cm), id_(id), state_(State::waiting) {
  cm_.handlers_[id_] = [this](const cm::Event& event) { take(event); };
}

CmConnection::~CmConnection() {
  if (id_ == CommId{}) return;
  cm_.handlers_.erase(id_);
  // If there is nothing left to end this is refused, which does no harm.
  (void)cm_.manager().abandon(id_, cm_.now_);
}

void CmConnection::take(const cm::Event& event) {
  switch (event.kind) {
    case cm::EventKind::reply:
      state_ = State::replied;
      break;
    case cm::EventKind::established:
      state_ = State::established;
      break;
    case cm::EventKind::rejected:
      state_ = State::over;
      rejected_ = event.rejection.reason;
      why_ = fmt::format("the peer rejected the connection: {}",
                         name_in(kCmRejReasonNames, static_cast<std::uint64_t>(event.rejection.reason)));
      break;
    case cm::EventKind::unreachable:
      state_ = State::over;
      why_ = kUnreachable;
      break;
    case cm::EventKind::disconnected:
      state_ = State::over;
      why_ = "the peer ended the connection";
      break;
    default:
      break;
  }
}

const cm::Connection& CmConnection::existing() const {
  const cm::Connection* connection = get();
  // The manager may know of an end that has not been reported to us yet.
  if (connection == nullptr) throw ScriptFailure("the peer gave the connection up");
  return *connection;
}

void CmConnection::make_ready(Qpn qp, Time now) {
  transport::Device& device = cm_.endpoint().device();
  const transport::QpAttributes attributes = granted(device.query_qp(qp), "look at the queue pair");
  const cm::Connection& connection = existing();
  const cm::Agreement agreement = connection.agreement();
  transport::AddressVector address = cm_.address_of(connection.peer);
  address.flow_label = agreement.flow_label;
  address.traffic_class = agreement.traffic_class;
  address.hop_limit = agreement.hop_limit;
  cm::QpChanges changes = cm::qp_changes(agreement, attributes.type, address, kMinRnrTimer);
  // The peer's rights depend on the agreement, and the queue pair went to INIT before there was one.
  changes.to_rtr.access = attributes.access | *changes.to_init.access;
  granted(device.modify_qp(qp, changes.to_rtr, now), "move the queue pair to RTR");
  granted(device.modify_qp(qp, changes.to_rts, now), "move the queue pair to RTS");
}

Task<> CmConnection::connect(Qpn qp, ConnectPlan plan) {
  Endpoint& endpoint = cm_.endpoint();
  const std::uint16_t source_port = any_source_port(cm_.endpoint().random());
  const std::vector<std::byte> header = rdma_ip_header(endpoint, plan.to, source_port);
  cm::ConnectRequest request;
  request.peer = {.local = endpoint.gid(), .remote = plan.to};
  request.service = ServiceId{PortSpace::tcp, plan.port};
  request.transport = transport_service_of(endpoint.device(), qp);
  request.qpn = qp;
  request.starting_psn = cm_.endpoint().random().psn();
  request.responder_resources = plan.responder_resources;
  request.initiator_depth = plan.initiator_depth;
  request.retry_count = plan.retry_count;
  request.rnr_retry_count = plan.rnr_retry_count;
  request.traffic_class = plan.traffic_class;
  request.path_mtu = path_mtu_of(plan.path_mtu != 0 ? plan.path_mtu : endpoint.max_path_mtu());
  // From both ports, as the flow label of a path has to tell flows apart; the data's UDP source port follows from it.
  request.flow_label = transport::flow_label_of(Qpn{source_port}, Qpn{plan.port});
  request.private_data = header;
  const Time begun = co_await this_time{};
  id_ = granted(cm_.manager().connect(request, begun), "connect");
  cm_.handlers_[id_] = [this](const cm::Event& event) { take(event); };
  state_ = State::waiting;
  co_await until([this] { return state_ != State::waiting; });
  if (rejected_) throw ConnectionRejected(why_, *rejected_);
  if (state_ != State::replied) throw ScriptFailure(why_);
  const Time replied = co_await this_time{};
  make_ready(qp, replied);
  granted(cm_.manager().confirm(id_, {}, replied), "confirm the connection");
  state_ = State::established;
}

void CmConnection::accept(Qpn qp, std::uint8_t rd_atomic, std::uint8_t rnr_retry_count, Time now) {
  const CmReq& request = existing().request;
  if (request.transport_service != transport_service_of(cm_.endpoint().device(), qp)) {
    (void)cm_.manager().reject(id_, {.reason = CmRejReason::invalid_transport_type}, now);
    throw ScriptFailure("the peer wants a connection of another type");
  }
  cm::Reply reply;
  reply.qpn = qp;
  reply.starting_psn = cm_.endpoint().random().psn();
  reply.responder_resources = std::min(rd_atomic, request.initiator_depth);
  reply.initiator_depth = std::min(rd_atomic, request.responder_resources);
  reply.rnr_retry_count = rnr_retry_count;
  granted(cm_.manager().accept(id_, reply, now), "accept the connection");
  make_ready(qp, now);
}

Task<> CmConnection::established(QueuePair& qp) {
  co_await until([&] { return state_ != State::waiting || qp.has_received(); });
  if (state_ == State::waiting) {
    const Time now = co_await this_time{};
    cm_.manager().data_arrived(id_, now);
    state_ = State::established;
  }
  if (state_ != State::established) throw ScriptFailure(why_);
}

Task<> CmConnection::sent(QueuePair& qp) {
  co_await until([&] { return qp.has_sent() || state_ == State::over; });
  if (!qp.has_sent()) {
    const Time now = co_await this_time{};
    const bool is_late = co_await until([&] { return qp.has_sent(); }, now + kLateAckTime);
    if (!is_late) throw ScriptFailure(why_);
  }
  (void)qp.take_sent();
}

Task<> CmConnection::disconnect() {
  if (state_ != State::established) co_return;
  const Time now = co_await this_time{};
  (void)cm_.manager().disconnect(id_, now);
  co_await until([this] { return state_ == State::over; }, now + kDisconnectTime);
}

CmQuestion::~CmQuestion() {
  if (id_ == CommId{}) return;
  cm_.handlers_.erase(id_);
  // If the question was answered this is refused, which does no harm.
  (void)cm_.manager().abandon(id_, cm_.now_);
}

Task<CmSidrRep> CmQuestion::resolve(Gid to, std::uint16_t port) {
  const std::vector<std::byte> header = rdma_ip_header(cm_.endpoint(), to, any_source_port(cm_.endpoint().random()));
  cm::ResolveRequest request;
  request.peer = {.local = cm_.endpoint().gid(), .remote = to};
  request.service = ServiceId{PortSpace::udp, port};
  request.private_data = header;
  const Time now = co_await this_time{};
  id_ = granted(cm_.manager().resolve(request, now), "ask for the queue pair of a service");
  cm_.handlers_[id_] = [this](const cm::Event& event) { answer_ = event; };
  co_await until([this] { return answer_.has_value(); });
  if (answer_->kind != cm::EventKind::resolved) throw ScriptFailure(kUnreachable);
  const CmSidrRep& found = answer_->resolution;
  if (found.status != CmSidrStatus::success) {
    throw ScriptFailure(fmt::format("the peer has no queue pair for RDMA port {}: {}", port,
                                    name_in(kCmSidrStatusNames, static_cast<std::uint64_t>(found.status))));
  }
  co_return found;
}

}  // namespace roce::live
