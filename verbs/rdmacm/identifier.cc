// SPDX-License-Identifier: BSD-2-Clause
// Identifiers, and how they get an address, a device and a route.
#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "roce/live/random.h"
#include "verbs/rdmacm/address.h"
#include "verbs/rdmacm/objects.h"
#include "verbs/rdmacm/outcome.h"

namespace roce::verbs {

namespace {

[[nodiscard]] live::Random& random_numbers() {
  thread_local live::Random random;
  return random;
}

/// Returns the device from which `destination` is to be reached: that of the address which the kernel would send from,
/// or else the first of the same family.
[[nodiscard]] CmDevice* device_towards(const sockaddr& destination) {
  if (const std::optional<Gid> source = source_for(destination)) {
    if (CmDevice* const device = device_at(*source)) return device;
  }
  const bool is_ipv4 = destination.sa_family == AF_INET;
  const auto found = std::ranges::find_if(
      devices(), [is_ipv4](const CmDevice* device) { return device->address.is_ipv4_mapped() == is_ipv4; });
  return found != devices().end() ? *found : nullptr;
}

void remember(const sockaddr& address, sockaddr_storage& out) {
  out = {};
  std::memcpy(&out, &address, size_of(address));
}

void describe_path(IdObject& id) {
  id.path = {};
  std::memcpy(id.path.sgid.raw, id.device->address.octets.data(), sizeof id.path.sgid.raw);
  const std::optional<Gid> destination = gid_of(id.route.addr.dst_addr);
  if (destination) std::memcpy(id.path.dgid.raw, destination->octets.data(), sizeof id.path.dgid.raw);
  id.path.hop_limit = 64;
  id.path.traffic_class = id.traffic_class;
  id.path.reversible = 1;
  id.path.numb_path = 1;
  id.path.pkey = 0xFFFF;
  id.path.mtu_selector = 2;  // exactly
  ibv_port_attr port{};
  if (ibv_query_port(id.verbs, 1, &port) == 0) id.path.mtu = static_cast<std::uint8_t>(port.active_mtu);
  id.route.path_rec = &id.path;
  id.route.num_paths = 1;
}

/// Takes the events out of a channel that the program has not got of an identifier.
void drop_events(IdObject& id) {
  ChannelObject& channel = object_of(id.channel);
  std::erase_if(channel.waiting, [&](EventObject* event) {
    if (event->counted_at != &id) return false;
    std::uint64_t one = 0;
    (void)::read(channel.counter.get(), &one, sizeof one);
    --id.unacknowledged;
    delete event;
    return true;
  });
}

}  // namespace

std::uint16_t random_port() {
  constexpr std::uint64_t kFirst = 32768;
  constexpr std::uint64_t kLast = 60999;
  return static_cast<std::uint16_t>(kFirst + random_numbers().number() % (kLast - kFirst + 1));
}

std::uint32_t random_psn() {
  return random_numbers().psn().value();
}

IdObject* make_id(rdma_event_channel* channel, void* context, rdma_port_space space, ibv_qp_type type) {
  rdma_event_channel* const own = channel == nullptr ? rdma_create_event_channel() : nullptr;
  if (channel == nullptr && own == nullptr) return nullptr;
  auto id = std::make_unique<IdObject>();
  id->channel = channel == nullptr ? own : channel;
  id->is_synchronous = channel == nullptr;
  id->context = context;
  id->ps = space;
  id->qp_type = type;
  const std::scoped_lock lock{shared().mutex};
  id->number = ++shared().last_number;
  return id.release();
}

void set_device(IdObject& id, CmDevice& device) {
  id.device = &device;
  id.verbs = device.context;
  id.port_num = 1;
  id.pd = device.default_pd();
}

int bind(IdObject& id, const sockaddr& address) {
  const std::optional<Gid> gid = gid_of(address);
  if (!gid) return EAFNOSUPPORT;
  CmDevice* const device = is_wildcard(*gid) ? nullptr : device_at(*gid);
  if (device == nullptr && !means_all(*gid)) return is_of_this_machine(address) ? ENODEV : EADDRNOTAVAIL;
  remember(address, id.route.addr.src_storage);
  if (device != nullptr) set_device(id, *device);
  id.takes_any_port = port_of(address) == 0;
  if (id.takes_any_port) set_port(id.route.addr.src_addr, random_port());
  return 0;
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

int rdma_create_id(struct rdma_event_channel* channel, struct rdma_cm_id** id, void* context, enum rdma_port_space ps) {
  return outcome_of([&] {
    if (id == nullptr) return EINVAL;
    // The others are of InfiniBand.
    if (ps != RDMA_PS_TCP && ps != RDMA_PS_UDP) return EPROTONOSUPPORT;
    IdObject* const made = make_id(channel, context, ps, ps == RDMA_PS_UDP ? IBV_QPT_UD : IBV_QPT_RC);
    if (made == nullptr) return errno;
    *id = made;
    return 0;
  });
}

int rdma_destroy_id(struct rdma_cm_id* id) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    stop_listening(object);
    abandon(object);
    // A thread that has seen the channel readable still gets what made it so.
    take_reports(object_of(object.channel));
    forget(object);
    detach_from_groups(object);
    if (object.event != nullptr) (void)rdma_ack_cm_event(object.event);
    {
      std::unique_lock lock{shared().mutex};
      drop_events(object);
      shared().acknowledged.wait(lock, [&] { return object.unacknowledged == 0; });
    }
    if (object.is_synchronous) rdma_destroy_event_channel(object.channel);
    delete &object;
    return 0;
  });
}

int rdma_bind_addr(struct rdma_cm_id* id, struct sockaddr* addr) {
  return outcome_of([&] {
    if (addr == nullptr) return EINVAL;
    const int error = bind(object_of(id), *addr);
    if (error == 0) announce(object_of(id));
    return error;
  });
}

int rdma_resolve_addr(struct rdma_cm_id* id, struct sockaddr* src_addr, struct sockaddr* dst_addr, int /*timeout_ms*/) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (dst_addr == nullptr) return EINVAL;
    const std::optional<Gid> destination = gid_of(*dst_addr);
    if (!destination) return EAFNOSUPPORT;
    if (src_addr != nullptr) {
      if (const int error = bind(object, *src_addr); error != 0) return error;
    }
    remember(*dst_addr, object.route.addr.dst_storage);
    if (object.device == nullptr) {
      CmDevice* const device = device_towards(*dst_addr);
      if (device == nullptr) return ENODEV;
      const std::uint16_t bound = port_of(object.route.addr.src_addr);
      set_device(object, *device);
      write_address(device->address, bound != 0 ? bound : random_port(), object.route.addr.src_storage);
    }
    report(object, RDMA_CM_EVENT_ADDR_RESOLVED);
    return complete(object);
  });
}

int rdma_resolve_route(struct rdma_cm_id* id, int /*timeout_ms*/) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (object.device == nullptr) return EINVAL;
    describe_path(object);
    report(object, RDMA_CM_EVENT_ROUTE_RESOLVED);
    return complete(object);
  });
}

__be16 rdma_get_src_port(struct rdma_cm_id* id) {
  return __builtin_bswap16(port_of(id->route.addr.src_addr));
}

__be16 rdma_get_dst_port(struct rdma_cm_id* id) {
  return __builtin_bswap16(port_of(id->route.addr.dst_addr));
}

int rdma_set_option(struct rdma_cm_id* id, int level, int optname, void* optval, size_t optlen) {
  return outcome_of([&] {
    IdObject& object = object_of(id);
    if (level != RDMA_OPTION_ID || optval == nullptr) return ENOSYS;
    const bool is_byte = optname == RDMA_OPTION_ID_TOS || optname == RDMA_OPTION_ID_ACK_TIMEOUT;
    if (optlen != (is_byte ? sizeof(std::uint8_t) : sizeof(int))) return EINVAL;
    switch (optname) {
      case RDMA_OPTION_ID_TOS:
        object.traffic_class = *static_cast<const std::uint8_t*>(optval);
        return 0;
      case RDMA_OPTION_ID_ACK_TIMEOUT:
        if (*static_cast<const std::uint8_t*>(optval) > 31) return EINVAL;
        object.ack_timeout = *static_cast<const std::uint8_t*>(optval);
        return 0;
      // An address is bound when a program listens, and a wildcard is of both families only for IPv6.
      case RDMA_OPTION_ID_REUSEADDR:
      case RDMA_OPTION_ID_AFONLY:
        return 0;
      default:
        return ENOSYS;
    }
  });
}

struct ibv_context** rdma_get_devices(int* num_devices) {
  ibv_context** list = nullptr;
  const int outcome = outcome_of([&] {
    list = static_cast<ibv_context**>(std::calloc(devices().size() + 1, sizeof(ibv_context*)));
    if (list == nullptr) return ENOMEM;
    std::ranges::transform(devices(), list, &CmDevice::context);
    if (num_devices != nullptr) *num_devices = static_cast<int>(devices().size());
    return 0;
  });
  return outcome == 0 ? list : nullptr;
}

void rdma_free_devices(struct ibv_context** list) {
  std::free(list);
}
