// SPDX-License-Identifier: BSD-2-Clause
// Event channels: where events come from, and how a program gets and acknowledges them.
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <memory>

#include "verbs/rdmacm/objects.h"
#include "verbs/rdmacm/outcome.h"
#include "verbs/report/complain.h"

namespace roce::verbs {

namespace {

[[nodiscard]] bool poll_for(const ChannelObject& channel, int descriptor, CmDevice* device) {
  epoll_event wanted{};
  wanted.events = EPOLLIN;
  wanted.data.ptr = device;
  return ::epoll_ctl(channel.epoll.get(), EPOLL_CTL_ADD, descriptor, &wanted) == 0;
}

/// Takes the oldest event of this process; nullptr if another thread was faster.
[[nodiscard]] EventObject* take_waiting(ChannelObject& channel) {
  const std::scoped_lock lock{shared().mutex};
  std::uint64_t one = 0;
  if (channel.waiting.empty() || ::read(channel.counter.get(), &one, sizeof one) != sizeof one) return nullptr;
  EventObject* const event = channel.waiting.front();
  channel.waiting.pop_front();
  return event;
}

/// Puts an event into a channel. Under the lock.
void put(ChannelObject& channel, EventObject* event) {
  constexpr std::uint64_t one = 1;
  channel.waiting.push_back(event);
  (void)::write(channel.counter.get(), &one, sizeof one);
}

/// Returns the identifiers made for requests to a listener that the program has not got.
[[nodiscard]] std::vector<IdObject*> requested_of(const IdObject& listener, const ChannelObject& channel) {
  std::vector<IdObject*> requested;
  const std::scoped_lock lock{shared().mutex};
  for (const EventObject* const event : channel.waiting) {
    if (event->listen_id == &listener) requested.push_back(&object_of(event->id));
  }
  return requested;
}

/// Moves the events of identifiers that the program has not got to another channel.
void move_events(const std::vector<IdObject*>& ids, ChannelObject& from, ChannelObject& to) {
  const std::scoped_lock lock{shared().mutex};
  std::erase_if(from.waiting, [&](EventObject* event) {
    if (std::ranges::find(ids, event->counted_at) == ids.end()) return false;
    std::uint64_t one = 0;
    (void)::read(from.counter.get(), &one, sizeof one);
    put(to, event);
    return true;
  });
}

/// Reports the end of a manager to all identifiers of a channel that are bound to its device.
void lose(ChannelObject& channel, CmDevice& device) {
  std::vector<IdObject*> bound;
  {
    const std::scoped_lock lock{shared().mutex};
    channel.managers.erase(&device);
    for (const auto& [number, id] : shared().listeners) {
      if (id->channel == &channel && id->device == &device) bound.push_back(id);
    }
    for (const auto& [key, id] : shared().connections) {
      if (id->channel == &channel && key.first == &device) bound.push_back(id);
    }
  }
  complain("roce-portd, which managed the connections of this program, has ended");
  for (IdObject* const id : bound) report(*id, RDMA_CM_EVENT_DEVICE_REMOVAL);
}

/// Reads the oldest notice of a manager; false if there is none.
[[nodiscard]] bool read_notice(ChannelObject& channel, CmDevice& device, CmNotice& notice) {
  int connection = -1;
  {
    const std::scoped_lock lock{shared().mutex};
    if (const auto found = channel.managers.find(&device); found != channel.managers.end()) {
      connection = found->second.get();
    }
  }
  if (connection < 0) return false;
  const ssize_t got = ::recv(connection, &notice, sizeof notice, MSG_DONTWAIT);
  if (got == sizeof notice) return true;
  if (got >= 0 || (errno != EAGAIN && errno != EINTR)) lose(channel, device);
  return false;
}

/// Takes the oldest notice of a manager; nullptr if there is none, or none for the program.
[[nodiscard]] EventObject* take_notice(ChannelObject& channel, CmDevice& device) {
  CmNotice notice;
  return read_notice(channel, device, notice) ? event_of(device, notice) : nullptr;
}

/// Makes events of all that managers have reported to a channel.
void take_notices(ChannelObject& channel, const std::vector<CmDevice*>& managers) {
  for (CmDevice* const device : managers) {
    for (CmNotice notice; read_notice(channel, *device, notice);) {
      EventObject* const event = event_of(*device, notice);
      if (event == nullptr) continue;
      const std::scoped_lock lock{shared().mutex};
      put(channel, event);
    }
  }
}

/// Takes all that an identifier has to report to another channel, which its managers report to already.
void move_reports(IdObject& id, const std::vector<CmDevice*>& managers, ChannelObject& from, ChannelObject& to) {
  // What they had reported before is on its way in the old channel.
  take_notices(from, managers);
  std::vector<IdObject*> ids = requested_of(id, from);
  for (IdObject* const passive : ids) {
    // A connection that has ended has nothing more to report.
    (void)passive->device->call({.verb = CmVerb::move, .channel = to.number, .connection = passive->connection});
    passive->channel = &to;
  }
  if (!ids.empty()) take_notices(from, managers);
  ids.push_back(&id);
  move_events(ids, from, to);
}

}  // namespace

Shared& shared() {
  static auto& only = *new Shared;
  return only;
}

int watch(ChannelObject& channel, CmDevice& device) {
  {
    const std::scoped_lock lock{shared().mutex};
    if (channel.managers.contains(&device)) return 0;
  }
  link::FileDescriptor connection = device.connect_channel(channel.number);
  if (!connection) return ENODEV;
  const std::scoped_lock lock{shared().mutex};
  if (!poll_for(channel, connection.get(), &device)) return errno;
  channel.managers[&device] = std::move(connection);
  return 0;
}

void take_reports(ChannelObject& channel) {
  std::vector<CmDevice*> managers;
  {
    const std::scoped_lock lock{shared().mutex};
    for (const auto& [device, connection] : channel.managers) managers.push_back(device);
  }
  take_notices(channel, managers);
}

void report(IdObject& id, rdma_cm_event_type type, int status, const rdma_ud_param& parameters) {
  auto event = std::make_unique<EventObject>();
  event->id = &id;
  event->event = type;
  event->status = status;
  event->param.ud = parameters;
  event->counted_at = &id;
  const std::scoped_lock lock{shared().mutex};
  ++id.unacknowledged;
  put(object_of(id.channel), event.release());
}

int complete(IdObject& id) {
  if (!id.is_synchronous) return 0;
  if (id.event != nullptr) {
    (void)rdma_ack_cm_event(id.event);
    id.event = nullptr;
  }
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(id.channel, &event) != 0 || event == nullptr) return errno;
  id.event = event;
  return event->event == RDMA_CM_EVENT_REJECTED ? ECONNREFUSED : std::abs(event->status);
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct rdma_event_channel* rdma_create_event_channel(void) {
  std::unique_ptr<ChannelObject> made;
  const int outcome = outcome_of([&] {
    if (devices().empty()) return ENODEV;
    auto channel = std::make_unique<ChannelObject>();
    channel->epoll = link::FileDescriptor{::epoll_create1(EPOLL_CLOEXEC)};
    channel->counter = link::FileDescriptor{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK | EFD_SEMAPHORE)};
    if (!channel->epoll || !channel->counter || !poll_for(*channel, channel->counter.get(), nullptr)) return errno;
    channel->fd = channel->epoll.get();
    const std::scoped_lock lock{shared().mutex};
    channel->number = ++shared().last_number;
    made = std::move(channel);
    return 0;
  });
  return outcome == 0 ? made.release() : nullptr;
}

void rdma_destroy_event_channel(struct rdma_event_channel* channel) {
  ChannelObject& object = object_of(channel);
  for (EventObject* const event : object.waiting) delete event;
  delete &object;
}

int rdma_get_cm_event(struct rdma_event_channel* channel, struct rdma_cm_event** event) {
  return outcome_of([&] {
    if (event == nullptr) return EINVAL;
    ChannelObject& object = object_of(channel);
    const int flags = ::fcntl(object.fd, F_GETFL);
    if (flags < 0) return errno;
    for (;;) {
      // These may be of identifiers that have moved, and older than what their managers report.
      if (EventObject* const moved = take_waiting(object); moved != nullptr) {
        *event = moved;
        return 0;
      }
      epoll_event ready{};
      const int count = ::epoll_wait(object.fd, &ready, 1, (flags & O_NONBLOCK) != 0 ? 0 : -1);
      if (count < 0) return errno;
      if (count == 0) return EAGAIN;
      auto* const device = static_cast<CmDevice*>(ready.data.ptr);
      EventObject* const got = device == nullptr ? take_waiting(object) : take_notice(object, *device);
      if (got == nullptr) continue;
      *event = got;
      return 0;
    }
  });
}

int rdma_ack_cm_event(struct rdma_cm_event* event) {
  return outcome_of([&] {
    if (event == nullptr) return EINVAL;
    auto* const object = static_cast<EventObject*>(event);
    const std::scoped_lock lock{shared().mutex};
    --object->counted_at->unacknowledged;
    delete object;
    shared().acknowledged.notify_all();
    return 0;
  });
}

int rdma_migrate_id(struct rdma_cm_id* id, struct rdma_event_channel* channel) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (channel == object.channel) return 0;
    rdma_event_channel* const own = channel == nullptr ? rdma_create_event_channel() : nullptr;
    rdma_event_channel* const to = channel == nullptr ? own : channel;
    if (to == nullptr) return errno;
    std::vector<CmDevice*> managers = object.listens_at;
    if (object.connection != 0) managers.push_back(object.device);
    for (CmDevice* const device : managers) {
      int error = watch(object_of(to), *device);
      const bool is_connection = object.connection != 0;
      if (error == 0) {
        error = device->call({.verb = CmVerb::move,
                              .channel = object_of(to).number,
                              .listener = is_connection ? 0 : object.number,
                              .connection = object.connection});
      }
      // A connection that has ended has nothing more to report.
      if (error == 0 || (is_connection && error == ENOTCONN)) continue;
      if (own != nullptr) rdma_destroy_event_channel(own);
      return error;
    }
    rdma_event_channel* const left = object.is_synchronous ? object.channel : nullptr;
    if (left != nullptr && object.event != nullptr) {
      (void)rdma_ack_cm_event(object.event);
      object.event = nullptr;
    }
    if (object.channel != nullptr) move_reports(object, managers, object_of(object.channel), object_of(to));
    object.channel = to;
    object.is_synchronous = channel == nullptr;
    if (left != nullptr) rdma_destroy_event_channel(left);
    return 0;
  });
}

const char* rdma_event_str(enum rdma_cm_event_type event) {
#define ROCE_NAME_OF(name) \
  case name:               \
    return #name
  switch (event) {
    ROCE_NAME_OF(RDMA_CM_EVENT_ADDR_RESOLVED);
    ROCE_NAME_OF(RDMA_CM_EVENT_ADDR_ERROR);
    ROCE_NAME_OF(RDMA_CM_EVENT_ROUTE_RESOLVED);
    ROCE_NAME_OF(RDMA_CM_EVENT_ROUTE_ERROR);
    ROCE_NAME_OF(RDMA_CM_EVENT_CONNECT_REQUEST);
    ROCE_NAME_OF(RDMA_CM_EVENT_CONNECT_RESPONSE);
    ROCE_NAME_OF(RDMA_CM_EVENT_CONNECT_ERROR);
    ROCE_NAME_OF(RDMA_CM_EVENT_UNREACHABLE);
    ROCE_NAME_OF(RDMA_CM_EVENT_REJECTED);
    ROCE_NAME_OF(RDMA_CM_EVENT_ESTABLISHED);
    ROCE_NAME_OF(RDMA_CM_EVENT_DISCONNECTED);
    ROCE_NAME_OF(RDMA_CM_EVENT_DEVICE_REMOVAL);
    ROCE_NAME_OF(RDMA_CM_EVENT_MULTICAST_JOIN);
    ROCE_NAME_OF(RDMA_CM_EVENT_MULTICAST_ERROR);
    ROCE_NAME_OF(RDMA_CM_EVENT_ADDR_CHANGE);
    ROCE_NAME_OF(RDMA_CM_EVENT_TIMEWAIT_EXIT);
    // Headers of later releases have more.
    default:
      return "UNKNOWN EVENT";
  }
#undef ROCE_NAME_OF
}
