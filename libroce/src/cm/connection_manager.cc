// SPDX-License-Identifier: BSD-2-Clause
#include "roce/cm/connection_manager.h"

#include <algorithm>

#include "cm/manager_state.h"
#include "cm/mistakes.h"

namespace roce::cm {

VerbResult<ConnectionManager> ConnectionManager::make(const Config& config, RandomSource random) {
  constexpr std::uint8_t kMostRetries = 15;
  if (config.ca_guid == 0) return tl::unexpected(bad("ca_guid", "not 0"));
  for (const auto& [code, name] :
       {std::pair{config.response_timeout, "response_timeout"}, std::pair{config.packet_lifetime, "packet_lifetime"},
        std::pair{config.ack_delay, "ack_delay"}}) {
    if (code > kLargestTimeCode) return tl::unexpected(bad(name, "at most 31", code, kLargestTimeCode));
  }
  if (config.max_retries > kMostRetries)
    return tl::unexpected(bad("max_retries", "at most 15", config.max_retries, kMostRetries));
  if (to_bytes(config.max_path_mtu) == 0) return tl::unexpected(bad("max_path_mtu", "a code from 1 to 5"));
  if (config.max_connections == 0) return tl::unexpected(bad("max_connections", "at least 1"));
  if (!random) return tl::unexpected(bad("random", "a source"));
  auto impl = std::make_unique<Impl>();
  impl->config = config;
  impl->random = std::move(random);
  // They start at random, so that numbers from before a restart of this node are not used again soon.
  impl->next_id = static_cast<std::uint32_t>(impl->random());
  impl->next_transaction = impl->random();
  return ConnectionManager{std::move(impl)};
}

ConnectionManager::ConnectionManager(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
ConnectionManager::ConnectionManager(ConnectionManager&&) noexcept = default;
ConnectionManager& ConnectionManager::operator=(ConnectionManager&&) noexcept = default;
ConnectionManager::~ConnectionManager() = default;

VerbResult<void> ConnectionManager::listen(ServiceId service, std::optional<Gid> address) {
  if (!impl_->listeners.emplace(service.value(), key_of(address.value_or(Gid{}))).second) {
    return tl::unexpected(VerbError{VerbErrorCode::in_use, "service", "nobody listening for it yet", service.value()});
  }
  return {};
}

VerbResult<void> ConnectionManager::stop_listening(ServiceId service, std::optional<Gid> address) {
  if (impl_->listeners.erase({service.value(), key_of(address.value_or(Gid{}))}) == 0) {
    return tl::unexpected(
        VerbError{VerbErrorCode::unknown_handle, "service", "one that is listened for", service.value()});
  }
  return {};
}

void ConnectionManager::receive(Bytes mad, const Peer& from, Time now) {
  Impl& impl = *impl_;
  impl.now = now;
  ++impl.counters.received;
  if (mad.size() < kMadSize) return impl.ignore(Ignored::not_cm);
  auto header = read<Mad>(mad.data());
  if (fault(Fault::cm_class_ignored)) header.mgmt_class = MgmtClass::communication;
  const std::byte* const data = mad.data() + kSize<Mad>;
  switch (cm_header_id(header)) {
    case HeaderId::cm_req:
      return impl.on_req(read<CmReq>(data), header, from);
    case HeaderId::cm_rep:
      return impl.on_rep(read<CmRep>(data));
    case HeaderId::cm_rtu:
      return impl.on_rtu(read<CmRtu>(data));
    case HeaderId::cm_mra:
      return impl.on_mra(read<CmMra>(data));
    case HeaderId::cm_rej:
      return impl.on_rej(read<CmRej>(data));
    case HeaderId::cm_dreq:
      return impl.on_dreq(read<CmDreq>(data), header, from);
    case HeaderId::cm_drep:
      return impl.on_drep(read<CmDrep>(data));
    case HeaderId::cm_lap:
      return impl.on_lap(read<CmLap>(data), header);
    case HeaderId::cm_sidr_req:
      return impl.on_sidr_req(read<CmSidrReq>(data), header, from);
    case HeaderId::cm_sidr_rep:
      return impl.on_sidr_rep(read<CmSidrRep>(data));
    case HeaderId::none:
      return impl.ignore(Ignored::not_cm);
    default:
      return impl.ignore(Ignored::unsupported);
  }
}

std::optional<OutMessage> ConnectionManager::poll_message() {
  if (impl_->messages.empty()) return std::nullopt;
  const OutMessage message = impl_->messages.front();
  impl_->messages.pop_front();
  return message;
}

std::optional<Event> ConnectionManager::poll_event() {
  if (impl_->events.empty()) return std::nullopt;
  const Event event = impl_->events.front();
  impl_->events.pop_front();
  return event;
}

const Connection* ConnectionManager::find(CommId id) const {
  return impl_->find(id);
}

std::size_t ConnectionManager::connections() const {
  return impl_->connections.size();
}

const Counters& ConnectionManager::counters() const {
  return impl_->counters;
}

ManagedConnection* ConnectionManager::Impl::find(CommId id) {
  const auto found = connections.find(id.value());
  return found != connections.end() ? &found->second : nullptr;
}

ManagedConnection* ConnectionManager::Impl::find_by_comm_id(std::uint64_t ca_guid, CommId remote) {
  const auto found = by_comm_id.find({ca_guid, remote.value()});
  return found != by_comm_id.end() ? find(CommId{found->second}) : nullptr;
}

ManagedConnection* ConnectionManager::Impl::find_by_qpn(std::uint64_t ca_guid, Qpn qpn) {
  const auto found = by_qpn.find({ca_guid, qpn.value()});
  return found != by_qpn.end() ? find(CommId{found->second}) : nullptr;
}

ManagedConnection* ConnectionManager::Impl::make_connection() {
  if (connections.size() >= config.max_connections) return nullptr;
  do {
    ++next_id;
  } while (next_id == 0 || connections.contains(next_id));
  ManagedConnection& connection = connections[next_id];
  connection.local = CommId{next_id};
  return &connection;
}

void ConnectionManager::Impl::name_peer(ManagedConnection& connection, std::uint64_t ca_guid, CommId remote, Qpn qpn) {
  connection.remote_ca_guid = ca_guid;
  connection.remote = remote;
  connection.remote_qpn = qpn;
  by_comm_id[{ca_guid, remote.value()}] = connection.local.value();
  by_qpn[{ca_guid, qpn.value()}] = connection.local.value();
}

void ConnectionManager::Impl::forget(ManagedConnection& connection) {
  const std::uint32_t id = connection.local.value();
  stop_waiting(connection);
  if (fault(Fault::cm_slots_leak)) return;
  const auto erase_if_ours = [id](auto& index, std::uint64_t ca_guid, std::uint32_t key) {
    const auto found = index.find({ca_guid, key});
    if (found != index.end() && found->second == id) index.erase(found);
  };
  erase_if_ours(by_comm_id, connection.remote_ca_guid, connection.remote.value());
  erase_if_ours(by_qpn, connection.remote_ca_guid, connection.remote_qpn.value());
  if (connection.state == State::sidr_req_received) {
    by_question.erase({key_of(connection.peer.remote), connection.sidr_request.request_id});
  }
  connections.erase(id);
}

}  // namespace roce::cm
