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
  const auto header = read<Mad>(mad.data());
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

Time ConnectionManager::next_timeout() const {
  return impl_->deadlines.empty() ? kNever : impl_->deadlines.begin()->first;
}

void ConnectionManager::advance(Time now) {
  Impl& impl = *impl_;
  impl.now = now;
  while (!impl.deadlines.empty() && impl.deadlines.begin()->first <= now) {
    Link& link = impl.links.at(impl.deadlines.begin()->second);
    if (link.state == State::timewait) {
      impl.say(EventKind::closed, link);
      impl.forget(link);
    } else if (link.retries_left == 0) {
      impl.give_up(link);
    } else {
      --link.retries_left;
      impl.messages.push_back(link.waits_for_answer);
      ++impl.counters.sent;
      ++impl.counters.sent_again;
      impl.wait_until(link, now + link.interval);
    }
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

const Connection* ConnectionManager::find(CommId connection) const {
  return impl_->find(connection);
}

std::size_t ConnectionManager::connections() const {
  return impl_->links.size();
}

const Counters& ConnectionManager::counters() const {
  return impl_->counters;
}

Link* ConnectionManager::Impl::find(CommId id) {
  const auto found = links.find(id.value());
  return found != links.end() ? &found->second : nullptr;
}

Link* ConnectionManager::Impl::find_by_comm_id(std::uint64_t ca_guid, CommId remote) {
  const auto found = by_comm_id.find({ca_guid, remote.value()});
  return found != by_comm_id.end() ? find(CommId{found->second}) : nullptr;
}

Link* ConnectionManager::Impl::find_by_qpn(std::uint64_t ca_guid, Qpn qpn) {
  const auto found = by_qpn.find({ca_guid, qpn.value()});
  return found != by_qpn.end() ? find(CommId{found->second}) : nullptr;
}

Link* ConnectionManager::Impl::make_link() {
  if (links.size() >= config.max_connections) return nullptr;
  do {
    ++next_id;
  } while (next_id == 0 || links.contains(next_id));
  Link& link = links[next_id];
  link.local = CommId{next_id};
  return &link;
}

void ConnectionManager::Impl::name_peer(Link& link, std::uint64_t ca_guid, CommId remote, Qpn qpn) {
  link.remote_ca_guid = ca_guid;
  link.remote = remote;
  link.remote_qpn = qpn;
  by_comm_id[{ca_guid, remote.value()}] = link.local.value();
  by_qpn[{ca_guid, qpn.value()}] = link.local.value();
}

void ConnectionManager::Impl::forget(Link& link) {
  const std::uint32_t id = link.local.value();
  stop_waiting(link);
  const auto erase_if_ours = [id](auto& index, std::uint64_t ca_guid, std::uint32_t key) {
    const auto found = index.find({ca_guid, key});
    if (found != index.end() && found->second == id) index.erase(found);
  };
  erase_if_ours(by_comm_id, link.remote_ca_guid, link.remote.value());
  erase_if_ours(by_qpn, link.remote_ca_guid, link.remote_qpn.value());
  if (link.state == State::sidr_req_received) {
    by_question.erase({key_of(link.peer.remote), link.sidr_request.request_id});
  }
  links.erase(id);
}

void ConnectionManager::Impl::repeat_last(Link& link, Duration interval, std::uint8_t retries) {
  link.waits_for_answer = messages.back();
  link.interval = interval;
  link.max_retries = link.retries_left = retries;
  wait_until(link, now + interval);
}

void ConnectionManager::Impl::wait_until(Link& link, Time deadline) {
  if (link.deadline != kNever) deadlines.erase({link.deadline, link.local.value()});
  link.deadline = deadline;
  if (deadline != kNever) deadlines.emplace(deadline, link.local.value());
}

}  // namespace roce::cm
