// SPDX-License-Identifier: BSD-2-Clause
#include "one_manager.h"

#include <algorithm>
#include <stdexcept>

#include "two_managers.h"

namespace roce::cm::test {

namespace {

ConnectionManager make(Config config) {
  config.ca_guid = 1;
  auto made = ConnectionManager::make(config, [n = std::uint64_t{100}]() mutable { return n++; });
  if (!made) throw std::logic_error(to_string(made.error()));
  return std::move(*made);
}

template <std::size_t N>
std::string name_in(const std::array<ValueName, N>& names, std::uint64_t value) {
  const auto found = std::ranges::find(names, value, &ValueName::value);
  return found != names.end() ? std::string{found->name} : std::to_string(value);
}

void add(std::string& text, const std::string& more) {
  if (!text.empty()) text += ", ";
  text += more;
}

}  // namespace

OneManager::OneManager(Config config) : manager(make(config)) {
  (void)manager.listen(kService);
}

Peer OneManager::peer() {
  return {Gid::from_ipv4(Ipv4Address{{192, 0, 2, 2}}), Gid::from_ipv4(Ipv4Address{{192, 0, 2, 1}})};
}

CmReq OneManager::req(CommId id, Qpn qpn) {
  CmReq req;
  req.local_comm_id = id;
  req.local_ca_guid = kPeerGuid;
  req.local_qpn = qpn;
  req.service_id = kService;
  req.path_mtu = PathMtu::mtu_1024;
  req.local_cm_response_timeout = 20;
  req.max_cm_retries = 3;
  req.primary_local_ack_timeout = 17;
  const std::vector<std::byte> data = rdma_ip_data();
  std::ranges::copy(data, req.private_data.begin());
  return req;
}

void OneManager::receive_req(CommId id, Qpn qpn) {
  receive(MadAttribute::cm_req, req(id, qpn));
}

void OneManager::receive_rep() {
  CmRep rep;
  rep.local_comm_id = kPeerId;
  rep.remote_comm_id = connection;
  rep.local_ca_guid = kPeerGuid;
  rep.local_qpn = kPeerQpn;
  receive(MadAttribute::cm_rep, rep);
}

void OneManager::receive_drep() {
  CmDrep drep;
  drep.local_comm_id = kPeerId;
  drep.remote_comm_id = connection;
  receive(MadAttribute::cm_drep, drep);
}

void OneManager::receive_rej(CmMessageKind message, CmRejReason reason) {
  CmRej rej;
  rej.local_comm_id = kPeerId;
  rej.remote_comm_id = connection;
  rej.message = message;
  rej.reason = reason;
  receive(MadAttribute::cm_rej, rej);
}

State OneManager::state() const {
  const Connection* const found = manager.find(connection);
  return found != nullptr ? found->state : State::none;
}

std::string OneManager::take_sent() {
  std::string text;
  last_sent.clear();
  while (const std::optional<OutMessage> message = manager.poll_message()) {
    last_sent.push_back(*message);
    const MadAttribute attribute = read<Mad>(message->mad.data()).attribute_id;
    std::string one = name_in(kMadAttributeNames, static_cast<std::uint64_t>(attribute)).substr(3);
    if (attribute == MadAttribute::cm_rej) {
      const auto rej = read<CmRej>(message->mad.data() + kSize<Mad>);
      one += " (" + name_in(kCmRejReasonNames, static_cast<std::uint64_t>(rej.reason)) + ")";
    }
    add(text, one);
  }
  return text;
}

std::string OneManager::take_events() {
  std::string text;
  while (const std::optional<Event> event = manager.poll_event()) {
    if (event->kind == EventKind::request || event->kind == EventKind::resolve_request) connection = event->connection;
    constexpr std::array kNames{"request",      "reply",  "established",     "rejected", "unreachable",
                                "disconnected", "closed", "resolve_request", "resolved"};
    add(text, kNames[static_cast<std::size_t>(event->kind)]);
  }
  return text;
}

void OneManager::enter_as_active(State wanted) {
  ConnectRequest request;
  request.peer = {peer().local, peer().remote};
  request.service = kService;
  request.qpn = kQpn;
  connection = manager.connect(request, now).value();
  CmMra mra;
  mra.local_comm_id = kPeerId;
  mra.remote_comm_id = connection;
  mra.message = CmMessageKind::req;
  if (wanted == State::mra_req_received) receive(MadAttribute::cm_mra, mra);
  const bool is_replied = wanted != State::req_sent && wanted != State::mra_req_received;
  if (is_replied) receive_rep();
  if (wanted == State::mra_rep_sent) (void)manager.delay(connection, 20, now);
  const bool is_confirmed = wanted == State::established || wanted == State::dreq_sent || wanted == State::timewait;
  if (is_confirmed) (void)manager.confirm(connection, {}, now);
  if (wanted == State::dreq_sent || wanted == State::timewait) (void)manager.disconnect(connection, now);
  if (wanted == State::timewait) receive_drep();
  (void)take_sent();
  (void)take_events();
  if (state() != wanted) throw std::logic_error("state not reached: " + std::string{to_string(wanted)});
}

void OneManager::enter_as_passive(State wanted) {
  receive_req();
  (void)take_events();
  if (wanted == State::mra_req_sent) (void)manager.delay(connection, 20, now);
  const bool is_accepted = wanted != State::req_received && wanted != State::mra_req_sent;
  Reply reply;
  reply.qpn = kQpn;
  if (is_accepted) (void)manager.accept(connection, reply, now);
  if (wanted == State::mra_rep_received) {
    CmMra mra;
    mra.local_comm_id = kPeerId;
    mra.remote_comm_id = connection;
    mra.message = CmMessageKind::rep;
    receive(MadAttribute::cm_mra, mra);
  }
  const bool is_established = wanted == State::established || wanted == State::dreq_sent || wanted == State::timewait;
  if (is_established) manager.data_arrived(connection, now);
  if (wanted == State::dreq_sent || wanted == State::timewait) (void)manager.disconnect(connection, now);
  if (wanted == State::timewait) receive_drep();
  (void)take_sent();
  (void)take_events();
  if (state() != wanted) throw std::logic_error("state not reached: " + std::string{to_string(wanted)});
}

}  // namespace roce::cm::test
