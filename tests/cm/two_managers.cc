// SPDX-License-Identifier: BSD-2-Clause
#include "two_managers.h"

#include <stdexcept>

#include "roce/wire/fields.h"

namespace roce::cm::test {

namespace {

constexpr Duration kFlight = std::chrono::milliseconds{1};
/// Longer than every timer of these tests.
constexpr Duration kLate = std::chrono::seconds{20};

const Gid kGidA = Gid::from_ipv4(Ipv4Address{{192, 0, 2, 1}});
const Gid kGidB = Gid::from_ipv4(Ipv4Address{{192, 0, 2, 2}});

ConnectionManager make(Config config, std::uint64_t guid, std::uint64_t seed) {
  config.ca_guid = guid;
  auto made = ConnectionManager::make(config, [seed]() mutable { return seed++ * 0x9E37'79B9'7F4A'7C15; });
  if (!made) throw std::logic_error(to_string(made.error()));
  return std::move(*made);
}

MadAttribute attribute_of(const OutMessage& message) {
  return read<Mad>(message.mad.data()).attribute_id;
}

std::string name_of(MadAttribute attribute) {
  for (const ValueName& name : kMadAttributeNames) {
    if (name.value == static_cast<std::uint64_t>(attribute)) return std::string{name.name.substr(3)};
  }
  return "?";
}

std::string text_of(const Event& event) {
  switch (event.kind) {
    case EventKind::request:
      return "request";
    case EventKind::reply:
      return "reply";
    case EventKind::established:
      return "established";
    case EventKind::rejected:
      return "rejected " + std::to_string(static_cast<unsigned>(event.rejection.reason));
    case EventKind::unreachable:
      return "unreachable";
    case EventKind::disconnected:
      return "disconnected";
    case EventKind::closed:
      return "closed";
    case EventKind::resolve_request:
      return "resolve_request";
    case EventKind::resolved:
      return "resolved " + std::to_string(static_cast<unsigned>(event.resolution.status));
  }
  return "?";
}

}  // namespace

std::vector<std::byte> rdma_ip_data() {
  Cma cma;
  cma.source_port = 50'000;
  cma.source_address = Cma::from_ipv4(Ipv4Address{{192, 0, 2, 1}});
  cma.destination_address = Cma::from_ipv4(Ipv4Address{{192, 0, 2, 2}});
  std::vector<std::byte> bytes(kSize<Cma>);
  write(cma, bytes.data());
  return bytes;
}

TwoManagers::TwoManagers(Plan plan, Config config)
    : a(make(config, kGuidA, 1)), b(make(config, kGuidB, 1000)), plan_(std::move(plan)) {
  (void)b.listen(kService);
  reply.qpn = Qpn{0x12};
  reply.starting_psn = Psn{0x123456};
  reply.responder_resources = 1;
  reply.initiator_depth = 1;
}

ConnectRequest TwoManagers::request(Qpn qpn) const {
  static const std::vector<std::byte> kData = rdma_ip_data();
  ConnectRequest request;
  request.peer = {kGidA, kGidB};
  request.service = kService;
  request.qpn = qpn;
  request.starting_psn = Psn{0xABCDEF};
  request.responder_resources = 1;
  request.initiator_depth = 1;
  request.private_data = kData;
  return request;
}

CommId TwoManagers::connect() {
  const VerbResult<CommId> made = a.connect(request(), now);
  if (!made) throw std::logic_error(to_string(made.error()));
  return *made;
}

void TwoManagers::collect(ConnectionManager& from, bool is_a) {
  while (const std::optional<OutMessage> message = from.poll_message()) {
    const MadAttribute attribute = attribute_of(*message);
    sent.push_back((is_a ? "a " : "b ") + name_of(attribute));
    const unsigned count = ++counts_[attribute];
    const Fate fate = plan_ ? plan_(attribute, count) : Fate::arrives;
    if (fate == Fate::lost) continue;
    const Arrival arrival{!is_a, *message};
    on_the_way_.emplace(now + (fate == Fate::late ? kLate : kFlight), arrival);
    if (fate == Fate::doubled) on_the_way_.emplace(now + 2 * kFlight, arrival);
  }
}

void TwoManagers::take_events(ConnectionManager& of, bool is_a) {
  while (const std::optional<Event> event = of.poll_event()) {
    (is_a ? events_a : events_b).push_back(text_of(*event));
    if (event->kind == EventKind::request) {
      of_b = event->connection;
      if (accepts) (void)of.accept(of_b, reply, now);
    } else if (event->kind == EventKind::resolve_request) {
      (void)of.answer(event->connection, resolution, now);
    } else if (event->kind == EventKind::resolved) {
      resolved = event->resolution;
    } else if (event->kind == EventKind::reply && confirms) {
      (void)of.confirm(event->connection, {}, now);
    }
  }
}

void TwoManagers::run(Time until) {
  while (true) {
    take_events(a, true);
    take_events(b, false);
    collect(a, true);
    collect(b, false);
    Time next = std::min(a.next_timeout(), b.next_timeout());
    if (!on_the_way_.empty()) next = std::min(next, on_the_way_.begin()->first);
    if (next == kNever || next > until) break;
    now = next;
    while (!on_the_way_.empty() && on_the_way_.begin()->first <= now) {
      const Arrival arrival = on_the_way_.begin()->second;
      on_the_way_.erase(on_the_way_.begin());
      // Local and remote address change places at the receiver.
      const Peer from{arrival.message.to.remote, arrival.message.to.local};
      (arrival.is_for_a ? a : b).receive(arrival.message.mad, from, now);
    }
    a.advance(now);
    b.advance(now);
  }
  if (until != kNever) now = std::max(now, until);
}

}  // namespace roce::cm::test
