// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command_line/outcome.h"
#include "conform/agent/destroy.h"
#include "roce/wire/types.h"

namespace roce::conform {

/// The port of a device, and the GID of it, that an agent serves.
struct DevicePlace {
  std::string device;                      ///< its name: rxe0, mlx5_0
  std::uint8_t port = 1;                   ///< from 1 on
  std::optional<std::uint32_t> gid_index;  ///< none: the first of RoCE v2, IPv4 before IPv6
};

/// An RDMA device as verbs show it, one port of it, and one GID.
class VerbsDevice {
 public:
  /// Finds the device and asks it what it can do. Failures, all of the environment: there is no such device, port or
  /// GID, the port is no Ethernet, or the user may not open it.
  [[nodiscard]] static Outcome<VerbsDevice> open(const DevicePlace& place);

  /// Opens the device once more, so that events and objects are apart from those of others. Empty with errno if that
  /// fails.
  [[nodiscard]] Context open_again() const;
  [[nodiscard]] std::uint8_t port() const { return place_.port; }
  [[nodiscard]] std::uint8_t gid_index() const { return static_cast<std::uint8_t>(*place_.gid_index); }
  [[nodiscard]] const Gid& gid() const { return gid_; }
  [[nodiscard]] const ibv_device_attr& attributes() const { return attributes_; }
  /// Returns the path MTU that the port has now, in bytes.
  [[nodiscard]] std::uint32_t max_path_mtu() const;
  /// Returns the names of docs/control.md of what the device and this program can do.
  [[nodiscard]] const std::vector<std::string_view>& features() const { return features_; }
  [[nodiscard]] bool has(std::string_view feature) const;
  /// Returns the port's counters by the names of their files.
  [[nodiscard]] std::map<std::string, std::uint64_t> counters() const;
  /// Returns a line for people: the device, its port and its address.
  [[nodiscard]] std::string description() const;

 private:
  VerbsDevice(DevicePlace place, Context context) : place_(std::move(place)), context_(std::move(context)) {}

  [[nodiscard]] Outcome<void> take_port();
  [[nodiscard]] Outcome<void> choose_gid();
  void find_features();
  [[nodiscard]] bool can_create(ibv_pd& pd, ibv_cq& cq, ibv_qp_type type) const;
  [[nodiscard]] static bool can_share_receives(ibv_pd& pd);

  DevicePlace place_;
  Context context_;
  Gid gid_{};
  ibv_device_attr attributes_{};
  std::vector<std::string_view> features_;
};

}  // namespace roce::conform
