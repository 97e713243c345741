// SPDX-License-Identifier: BSD-2-Clause
// The devices of this process: one for each interface with an address, or one for ROCE_VERBS_ADDRESS alone.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "roce/live/path_mtu.h"
#include "roce/port/address_text.h"
#include "roce/port/interfaces.h"
#include "roce/transport/address.h"
#include "verbs/ibverbs/complain.h"
#include "verbs/ibverbs/device_object.h"
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

namespace {

struct Registry {
  std::mutex mutex;
  std::vector<std::unique_ptr<DeviceObject>> devices;
};

/// Never destroyed: a program may use a device in a destructor of its own.
[[nodiscard]] Registry& registry() {
  static auto& only = *new Registry;
  return only;
}

template <std::size_t N>
void copy_text(std::string_view text, char (&out)[N]) {
  const std::size_t count = std::min(text.size(), N - 1);
  std::memcpy(out, text.data(), count);
  out[count] = '\0';
}

/// True if `gid` is an address of `interface`. Linux takes all of 127.0.0.0/8 for the loopback interface's own.
[[nodiscard]] bool has_address(const port::Interface& interface, const Gid& gid) {
  constexpr std::uint8_t loopback_net = 127;
  if (interface.loopback && gid.is_ipv4_mapped() && gid.ipv4().octets[0] == loopback_net) return true;
  return std::ranges::any_of(interface.addresses, [&](const auto& address) { return address.gid == gid; });
}

[[nodiscard]] EngineOptions place_of(const port::Interface& interface, const Gid& gid) {
  return {.address = gid,
          .interface = interface.name,
          .mac = interface.mac,
          .path_mtu = live::largest_path_mtu(interface.mtu)};
}

/// Returns where `text`, the address that the user asked for, is; nothing, after a complaint, if it is nowhere.
[[nodiscard]] std::vector<std::pair<EngineOptions, unsigned>> place_named(
    const char* text, const std::vector<port::Interface>& interfaces) {
  const std::optional<Gid> gid = port::parse_ip(text);
  if (!gid) {
    complain(std::string{"ROCE_VERBS_ADDRESS is \""} + text +
             "\", which is not an IP address; give one of this machine");
    return {};
  }
  for (const port::Interface& interface : interfaces) {
    if (interface.up && has_address(interface, *gid)) return {{place_of(interface, *gid), interface.index}};
  }
  complain(std::string{"ROCE_VERBS_ADDRESS is "} + text +
           ", and no interface of this machine that is up has that address; `ip address` lists those that there are");
  return {};
}

[[nodiscard]] std::vector<std::pair<EngineOptions, unsigned>> find_places() {
  const port::Result<std::vector<port::Interface>> interfaces = port::list_interfaces();
  if (!interfaces) {
    complain(interfaces.error().message);
    return {};
  }
  if (const char* address = std::getenv("ROCE_VERBS_ADDRESS"); address != nullptr && *address != '\0') {
    return place_named(address, *interfaces);
  }
  std::vector<std::pair<EngineOptions, unsigned>> places;
  places.reserve(interfaces->size());
  for (const port::Interface& interface : *interfaces) {
    if (!interface.up || interface.addresses.empty()) continue;
    places.emplace_back(place_of(interface, interface.addresses.front().gid), interface.index);
  }
  // Most programs take the first device, and that should not be one that leads nowhere.
  const auto is_loopback = [&](const auto& place) {
    return std::ranges::any_of(*interfaces, [&](const auto& one) { return one.index == place.second && one.loopback; });
  };
  std::stable_partition(places.begin(), places.end(), [&](const auto& place) { return !is_loopback(place); });
  return places;
}

/// Returns the device at a place, made the first time.
[[nodiscard]] DeviceObject* device_at(const EngineOptions& place, unsigned interface_index) {
  auto& devices = registry().devices;
  for (const auto& device : devices) {
    if (device->place.address == place.address && device->place.interface == place.interface &&
        device->place.path_mtu == place.path_mtu) {
      return device.get();
    }
  }
  auto device = std::make_unique<DeviceObject>();
  device->place = place;
  device->interface_index = interface_index;
  device->node_type = IBV_NODE_CA;
  device->transport_type = IBV_TRANSPORT_IB;
  const std::string uverbs = "uverbs" + std::to_string(devices.size());
  const std::string name = "roce_" + place.interface;
  copy_text(name, device->name);
  copy_text(uverbs, device->dev_name);
  copy_text("/sys/class/infiniband_verbs/" + uverbs, device->dev_path);
  copy_text("/sys/class/infiniband/" + name, device->ibdev_path);
  return devices.emplace_back(std::move(device)).get();
}

}  // namespace

std::uint64_t guid_of(const EngineOptions& place) {
  const Gid gid = place.mac != MacAddress{} ? transport::link_local_gid(place.mac) : place.address;
  std::uint64_t guid = 0;
  std::memcpy(&guid, gid.octets.data() + gid.octets.size() - sizeof guid, sizeof guid);
  return guid;
}

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct ibv_device** ibv_get_device_list(int* num_devices) {
  if (num_devices != nullptr) *num_devices = 0;
  return object_of([&]() -> OrErrno<ibv_device**> {
    const auto places = find_places();
    auto** list = static_cast<ibv_device**>(std::calloc(places.size() + 1, sizeof(ibv_device*)));
    if (list == nullptr) return refused(ENOMEM);
    const std::scoped_lock lock{registry().mutex};
    std::ranges::transform(places, list, [](const auto& place) { return device_at(place.first, place.second); });
    if (num_devices != nullptr) *num_devices = static_cast<int>(places.size());
    return list;
  });
}

void ibv_free_device_list(struct ibv_device** list) {
  std::free(list);
}

const char* ibv_get_device_name(struct ibv_device* device) {
  return device->name;
}

__be64 ibv_get_device_guid(struct ibv_device* device) {
  return guid_of(object_of(device).place);
}

int ibv_get_device_index(struct ibv_device* device) {
  return static_cast<int>(object_of(device).interface_index);
}
