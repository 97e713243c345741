// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>

#include "verbs/devices/places.h"
#include "verbs/ibverbs/verbs_api.h"

namespace roce::verbs {

class Adapter;

/// A device as programs see it. It lives as long as the process: programs keep pointers to devices of lists that they
/// have freed.
struct DeviceObject : ibv_device {
  /// Vendor libraries (mlx5dv_is_supported, efadv_query_device) look behind an `ibv_device` for the table of functions
  /// of their own driver. They find zeros, which are none.
  std::array<std::byte, 256> behind{};
  Place place;

  std::mutex opening;
  std::weak_ptr<Adapter> adapter;  // while a context is open
};

[[nodiscard]] inline DeviceObject& object_of(ibv_device* device) {
  return *static_cast<DeviceObject*>(device);
}
[[nodiscard]] inline const DeviceObject& object_of(const ibv_device* device) {
  return *static_cast<const DeviceObject*>(device);
}

}  // namespace roce::verbs
