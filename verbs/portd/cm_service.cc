// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/portd/cm_service.h"

#include <sys/socket.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <optional>
#include <utility>

#include "roce/link/udp_link.h"
#include "roce/live/random.h"
#include "roce/port/udp_meta.h"
#include "roce/transport/profile.h"
#include "verbs/portd/errors.h"
#include "verbs/portd/notices.h"

namespace roce::verbs {

namespace {

using link::FileDescriptor;
using link::LinkError;
using link::LinkResult;

/// Notices that wait for one channel; a process that reads none of so many has hung, and loses the rest.
constexpr std::size_t kMostWaiting = 4096;
/// Commands of one process that are carried out before others have their turn.
constexpr int kCommandsInARow = 16;
/// Requests that wait for the listener of one service.
constexpr std::size_t kMostLingering = 64;

[[nodiscard]] PathMtu path_mtu_of(const Place& place) {
  // The code of 256 bytes is 1, and the next ones are of twice as many each.
  constexpr int below = std::bit_width(256U) - static_cast<int>(PathMtu::mtu_256);
  return static_cast<PathMtu>(std::bit_width(place.path_mtu) - below);
}

[[nodiscard]] std::span<const std::byte> bytes_of(const CmPrivateData& data) {
  return std::span{data.bytes}.first(std::min<std::size_t>(data.size, data.bytes.size()));
}

[[nodiscard]] transport::VerbResult<transport::Device> make_device(const Place& place) {
  live::Random random;
  transport::DeviceConfig config;
  config.mac = place.mac;
  config.gids = {{.gid = place.address, .type = transport::GidType::roce_v2}};
  config.port_mtu = place.path_mtu;
  config.profile = transport::hardware_like_profile();
  return transport::Device::make(std::move(config), [random]() mutable { return random.number(); });
}

}  // namespace

LinkResult<std::unique_ptr<CmService>> CmService::open(const Place& place, int receiver) {
  const auto cannot = [](const transport::VerbError& error) {
    return tl::unexpected(LinkError{.message = "cannot serve connections: " + to_string(error)});
  };
  link::UdpLinkOptions options;
  options.interface = place.interface;
  options.local = port::address_of(place.address);
  options.receiver = receiver;
  LinkResult<std::unique_ptr<link::UdpLink>> link = link::UdpLink::open(options);
  if (!link) return tl::unexpected(link.error());
  auto device = make_device(place);
  if (!device) return cannot(device.error());
  std::unique_ptr<CmService> service{new CmService{std::move(*device), std::move(*link), place}};
  cm::Config config;
  config.ca_guid = place.guid();
  config.max_path_mtu = path_mtu_of(place);
  live::Random random;
  auto agent = cm::GsiAgent::make(
      service->device_, config, [random]() mutable { return random.number(); }, now());
  if (!agent) return cannot(agent.error());
  service->agent_ = std::move(*agent);
  return service;
}

CmService::CmService(transport::Device device, std::unique_ptr<link::Link> link, const Place& place)
    : device_(std::move(device)), link_(std::move(link)), port_(device_, *link_, nullptr), place_(place) {}

Time CmService::now() {
  return Time{std::chrono::duration_cast<Duration>(std::chrono::steady_clock::now().time_since_epoch())};
}

std::uint32_t CmService::add_process(FileDescriptor commands) {
  while (++last_number_ == 0 || processes_.contains(last_number_)) {
  }
  processes_[last_number_].commands = std::move(commands);
  return last_number_;
}

bool CmService::add_channel(std::uint32_t process, std::uint32_t channel, FileDescriptor connection) {
  const auto found = processes_.find(process);
  if (found == processes_.end()) return false;
  return found->second.channels.try_emplace(channel, Channel{std::move(connection)}).second;
}

void CmService::append_to(std::vector<pollfd>& polled) const {
  const bool writes = port_.wants_to_write();
  polled.push_back({.fd = link_->fd(), .events = static_cast<short>(writes ? POLLIN | POLLOUT : POLLIN), .revents = 0});
  for (const auto& [number, process] : processes_) {
    polled.push_back({.fd = process.commands.get(), .events = POLLIN, .revents = 0});
    for (const auto& [name, channel] : process.channels) {
      const bool waits = !channel.waiting.empty();
      polled.push_back({.fd = channel.connection.get(),
                        .events = static_cast<short>(waits ? POLLIN | POLLOUT : POLLIN),
                        .revents = 0});
    }
  }
}

std::size_t CmService::open_connections() const {
  std::size_t count = processes_.size();
  for (const auto& [number, process] : processes_) count += process.channels.size();
  return count;
}

Time CmService::next_timeout() const {
  Time next = std::min(port_.next_timeout(), agent_->next_timeout());
  for (const auto& [service, linger] : lingering_) next = std::min(next, linger.until);
  return next;
}

LinkResult<void> CmService::serve(std::span<const pollfd> polled) {
  const auto is_ready = [polled](const FileDescriptor& descriptor) {
    const auto found = std::ranges::find(polled, descriptor.get(), &pollfd::fd);
    return found != polled.end() && found->revents != 0;
  };
  if (LinkResult<void> moved = step(); !moved) return moved;
  std::vector<std::uint32_t> gone;
  for (auto& [number, process] : processes_) {
    for (auto entry = process.channels.begin(); entry != process.channels.end();) {
      const bool is_open = !is_ready(entry->second.connection) || flush(entry->second);
      entry = is_open ? std::next(entry) : process.channels.erase(entry);
    }
    if (is_ready(process.commands) && !hear(number, process)) gone.push_back(number);
  }
  for (const std::uint32_t number : gone) drop(number);
  end_lingering();
  if (LinkResult<void> moved = step(); !moved) return moved;
  return polled.empty() || polled.front().revents == 0 ? LinkResult<void>{} : link_->check();
}

LinkResult<void> CmService::step() {
  for (bool moved = true; moved;) {
    const LinkResult<bool> turned = port_.turn(now());
    if (!turned) return tl::unexpected(turned.error());
    moved = *turned;
    moved = agent_->step(now()) || moved;
    while (const std::optional<cm::Event> event = agent_->manager().poll_event()) {
      report(*event);
      moved = true;
    }
    while (port_.poll_event(now())) {
    }
  }
  return {};
}

bool CmService::hear(std::uint32_t number, Process& process) {
  for (int i = 0; i < kCommandsInARow; ++i) {
    CmCommand command;
    const ssize_t got = ::recv(process.commands.get(), &command, sizeof command, MSG_DONTWAIT | MSG_TRUNC);
    if (got < 0) return errno == EAGAIN || errno == EINTR;
    if (got != sizeof command) return false;
    const CmAnswer answer = carry_out(number, process, command);
    if (::send(process.commands.get(), &answer, sizeof answer, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof answer)
      return false;
  }
  return true;
}

CmAnswer CmService::carry_out(std::uint32_t number, Process& process, const CmCommand& command) {
  cm::ConnectionManager& manager = agent_->manager();
  const CommId id{command.connection};
  // The first ones make a connection or are about none; of the others a process has only its own.
  switch (command.verb) {
    case CmVerb::listen:
      return {.error = listen(number, process, command)};
    case CmVerb::announce:
      return {.error = announce(ServiceId{command.service})};
    case CmVerb::stop_listening:
      return {.error = stop_listening(process, command)};
    case CmVerb::connect:
      return connect(number, command);
    case CmVerb::resolve:
      return resolve(number, command);
    case CmVerb::move:
      return {.error = move(number, process, command)};
    default:
      break;
  }
  const auto found = receivers_.find(id);
  if (found == receivers_.end() || found->second.process != number) return {.error = ENOTCONN};
  const std::span<const std::byte> data = bytes_of(command.private_data);
  switch (command.verb) {
    case CmVerb::accept:
      return {.error = accept(command)};
    case CmVerb::confirm:
      return {.error = errno_of(manager.confirm(id, data, now()))};
    case CmVerb::reject:
      return {.error = reject(id, data)};
    case CmVerb::disconnect:
      return {.error = errno_of(manager.disconnect(id, now()))};
    case CmVerb::abandon:
      abandon(id);
      return {};
    case CmVerb::answer:
      return {.error = errno_of(manager.answer(
                  id, {.qpn = Qpn{command.proposal.qpn}, .q_key = QKey{command.q_key}, .private_data = data}, now()))};
    case CmVerb::data_arrived:
      manager.data_arrived(id, now());
      return {};
    default:
      return {.error = EINVAL};
  }
}

int CmService::listen(std::uint32_t number, Process& process, const CmCommand& command) {
  const ServiceId service{command.service};
  if (process.listeners.contains(command.listener)) return EINVAL;
  const auto lingering = lingering_.find(service);
  std::vector<cm::Event> requests;
  if (lingering != lingering_.end()) {
    requests = std::move(lingering->second.requests);
    lingering_.erase(lingering);
  } else if (const auto listened = agent_->manager().listen(service); !listened) {
    return errno_of(listened.error());
  }
  process.listeners[command.listener] = service;
  listeners_[service] = {.process = number, .channel = command.channel, .listener = command.listener};
  for (const cm::Event& request : requests) report(request);
  return 0;
}

int CmService::stop_listening(Process& process, const CmCommand& command) {
  const auto found = process.listeners.find(command.listener);
  if (found == process.listeners.end()) return EINVAL;
  close_service(found->second);
  process.listeners.erase(found);
  return 0;
}

CmAnswer CmService::connect(std::uint32_t number, const CmCommand& command) {
  const ServiceId service{command.service};
  const CmProposal& proposal = command.proposal;
  cm::ConnectRequest request;
  request.peer = {.local = place_.address, .remote = command.remote};
  request.service = service;
  request.transport = proposal.is_uc != 0 ? CmTransportService::uc : CmTransportService::rc;
  request.qpn = Qpn{proposal.qpn};
  request.starting_psn = Psn{proposal.starting_psn};
  request.responder_resources = proposal.responder_resources;
  request.initiator_depth = proposal.initiator_depth;
  request.flow_control = proposal.flow_control != 0;
  request.srq = proposal.srq != 0;
  request.path_mtu = path_mtu_of(place_);
  request.retry_count = proposal.retry_count;
  request.rnr_retry_count = proposal.rnr_retry_count;
  request.traffic_class = proposal.traffic_class;
  // The data's UDP source port follows from it.
  request.flow_label = transport::flow_label_of(request.qpn, Qpn{service.port()});
  request.private_data = bytes_of(command.private_data);
  const transport::VerbResult<CommId> made = agent_->manager().connect(request, now());
  if (!made) return {.error = errno_of(made.error())};
  receivers_[*made] = {.process = number, .channel = command.channel};
  return {.connection = made->value()};
}

CmAnswer CmService::resolve(std::uint32_t number, const CmCommand& command) {
  cm::ResolveRequest request;
  request.peer = {.local = place_.address, .remote = command.remote};
  request.service = ServiceId{command.service};
  request.private_data = bytes_of(command.private_data);
  const transport::VerbResult<CommId> made = agent_->manager().resolve(request, now());
  if (!made) return {.error = errno_of(made.error())};
  receivers_[*made] = {.process = number, .channel = command.channel};
  return {.connection = made->value()};
}

int CmService::accept(const CmCommand& command) {
  const CommId id{command.connection};
  const cm::Connection* const connection = agent_->manager().find(id);
  if (connection == nullptr) return ENOTCONN;
  const CmProposal& proposal = command.proposal;
  cm::Reply reply;
  reply.qpn = Qpn{proposal.qpn};
  reply.starting_psn = Psn{proposal.starting_psn};
  reply.responder_resources = std::min(proposal.responder_resources, connection->request.initiator_depth);
  reply.initiator_depth = std::min(proposal.initiator_depth, connection->request.responder_resources);
  reply.flow_control = proposal.flow_control != 0;
  reply.srq = proposal.srq != 0;
  reply.rnr_retry_count = proposal.rnr_retry_count;
  reply.private_data = bytes_of(command.private_data);
  return errno_of(agent_->manager().accept(id, reply, now()));
}

int CmService::reject(CommId id, std::span<const std::byte> data) {
  cm::ConnectionManager& manager = agent_->manager();
  const cm::Connection* const connection = manager.find(id);
  if (connection == nullptr) return ENOTCONN;
  if (connection->state != cm::State::sidr_req_received) {
    return errno_of(manager.reject(id, {.private_data = data}, now()));
  }
  return errno_of(manager.answer(id, {.status = CmSidrStatus::rejected, .private_data = data}, now()));
}

int CmService::move(std::uint32_t number, Process& process, const CmCommand& command) {
  if (command.connection != 0) {
    const auto found = receivers_.find(CommId{command.connection});
    if (found == receivers_.end() || found->second.process != number) return ENOTCONN;
    found->second.channel = command.channel;
    return 0;
  }
  const auto found = process.listeners.find(command.listener);
  if (found == process.listeners.end()) return EINVAL;
  listeners_[found->second].channel = command.channel;
  return 0;
}

void CmService::abandon(CommId connection) {
  receivers_.erase(connection);
  cm::ConnectionManager& manager = agent_->manager();
  const cm::Connection* const found = manager.find(connection);
  if (found == nullptr || found->state == cm::State::timewait || found->state == cm::State::dreq_sent) return;
  // A DREQ is repeated until the peer agrees; the other messages that end a connection are sent once.
  if (found->state == cm::State::established && manager.disconnect(connection, now())) {
    ending_.insert(connection);
  } else {
    (void)manager.abandon(connection, now());
  }
}

void CmService::drop(std::uint32_t number) {
  std::vector<CommId> left;
  for (const auto& [connection, receiver] : receivers_) {
    if (receiver.process == number) left.push_back(connection);
  }
  for (const CommId connection : left) abandon(connection);
  for (const auto& [listener, service] : processes_[number].listeners) {
    close_service(service);
  }
  processes_.erase(number);
}

void CmService::report(const cm::Event& event) {
  const cm::Connection* const connection = agent_->manager().find(event.connection);
  CmNotice notice = notice_of(event, connection);
  if (event.kind == cm::EventKind::request || event.kind == cm::EventKind::resolve_request) {
    // The peer may have given up in the meantime.
    if (connection == nullptr) return;
    const auto listener = listeners_.find(ServiceId{notice.service});
    if (listener == listeners_.end()) {
      const auto lingering = lingering_.find(ServiceId{notice.service});
      if (lingering == lingering_.end() || lingering->second.requests.size() >= kMostLingering) {
        return abandon(event.connection);
      }
      return lingering->second.requests.push_back(event);
    }
    notice.listener = listener->second.listener;
    // perftest makes one connection, and only then listens for datagrams at the same port.
    if (const ServiceId asked{notice.service}; asked.is_rdma_ip() && asked.port_space() == PortSpace::tcp) {
      (void)announce(ServiceId{PortSpace::udp, asked.port()});
    }
    receivers_[event.connection] = {.process = listener->second.process, .channel = listener->second.channel};
    return send(listener->second, notice);
  }
  ending_.erase(event.connection);
  const auto found = receivers_.find(event.connection);
  if (found == receivers_.end()) return;
  send(found->second, notice);
  if (connection == nullptr) receivers_.erase(found);
}

void CmService::send(const Receiver& to, const CmNotice& notice) {
  const auto process = processes_.find(to.process);
  if (process == processes_.end()) return;
  const auto channel = process->second.channels.find(to.channel);
  if (channel == process->second.channels.end() || channel->second.waiting.size() >= kMostWaiting) return;
  channel->second.waiting.push_back(notice);
  // If the process has closed the channel, the next round of `serve` sees it.
  (void)flush(channel->second);
}

bool CmService::flush(Channel& channel) {
  while (!channel.waiting.empty()) {
    const CmNotice& notice = channel.waiting.front();
    if (::send(channel.connection.get(), &notice, sizeof notice, MSG_NOSIGNAL | MSG_DONTWAIT) != sizeof notice) {
      return errno == EAGAIN || errno == EINTR;
    }
    channel.waiting.pop_front();
  }
  std::byte nothing{};
  return ::recv(channel.connection.get(), &nothing, sizeof nothing, MSG_DONTWAIT | MSG_PEEK) < 0 &&
         (errno == EAGAIN || errno == EINTR);
}

}  // namespace roce::verbs
