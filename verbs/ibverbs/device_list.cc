// SPDX-License-Identifier: BSD-2-Clause
// The devices of this process: one for each interface with an address, or one for ROCE_VERBS_ADDRESS alone.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "verbs/devices/places.h"
#include "verbs/ibverbs/device_object.h"
#include "verbs/ibverbs/kernel_functions.h"
#include "verbs/ibverbs/results.h"
#include "verbs/report/complain.h"

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

[[nodiscard]] std::optional<std::string> setting(const char* name) {
  const char* const text = std::getenv(name);
  if (text == nullptr || *text == '\0') return std::nullopt;
  return text;
}

[[nodiscard]] std::vector<Place> places_of_process() {
  auto places = find_places(setting("ROCE_VERBS_ADDRESS"));
  if (places) return *std::move(places);
  complain("ROCE_VERBS_ADDRESS: " + places.error());
  return {};
}

/// Returns the device at a place, made the first time.
[[nodiscard]] DeviceObject* device_at(const Place& place) {
  auto& devices = registry().devices;
  for (const auto& device : devices) {
    if (device->place.address == place.address && device->place.interface == place.interface &&
        device->place.path_mtu == place.path_mtu) {
      return device.get();
    }
  }
  auto device = std::make_unique<DeviceObject>();
  device->place = place;
  device->node_type = IBV_NODE_CA;
  device->transport_type = IBV_TRANSPORT_IB;
  const std::string uverbs = "uverbs" + std::to_string(devices.size());
  const std::string classes = std::string{ibv_get_sysfs_path()} + "/class/";
  copy_text(place.device_name(), device->name);
  copy_text(uverbs, device->dev_name);
  copy_text(classes + "infiniband_verbs/" + uverbs, device->dev_path);
  copy_text(classes + "infiniband/" + place.device_name(), device->ibdev_path);
  return devices.emplace_back(std::move(device)).get();
}

}  // namespace

}  // namespace roce::verbs

using namespace roce;
using namespace roce::verbs;

struct ibv_device** ibv_get_device_list(int* num_devices) {
  if (num_devices != nullptr) *num_devices = 0;
  return object_of([&]() -> OrErrno<ibv_device**> {
    const std::vector<Place> places = places_of_process();
    auto** list = static_cast<ibv_device**>(std::calloc(places.size() + 1, sizeof(ibv_device*)));
    if (list == nullptr) return refused(ENOMEM);
    const std::scoped_lock lock{registry().mutex};
    std::ranges::transform(places, list, [](const Place& place) { return device_at(place); });
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
  return object_of(device).place.guid();
}

/// The root of the tree of devices that roce-run has written, if it has.
const char* ibv_get_sysfs_path(void) {
  static const std::string path = setting("ROCE_VERBS_TREE").value_or("") + "/sys";
  return path.c_str();
}

int ibv_get_device_index(struct ibv_device* device) {
  return static_cast<int>(object_of(device).place.interface_index);
}
