// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <stdexcept>
#include <string>

#include "roce/transport/device.h"
#include "sim/network.h"

namespace roce::sim {

/// Returns the value of a verb that cannot fail here; throws its error if it does.
template <typename T>
T must(transport::VerbResult<T> result) {
  if (!result) throw std::runtime_error(to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

/// The choice among a host's addresses that a connection uses.
struct Path {
  RoceVersion version = RoceVersion::v2_ipv4;
  bool vlan = false;  ///< with VLAN tag `kVlan`
};

inline constexpr std::uint16_t kVlan = 100;

/// A device in a network, with six addresses: RoCE v1, IPv4 and IPv6, each without and with a VLAN.
class Host {
 public:
  struct Options {
    transport::Profile profile = transport::hardware_like_profile();
    std::uint32_t port_mtu = 4096;
    transport::TxCaps caps{};
    transport::CongestionFactory congestion{};
    std::function<void(transport::DeviceConfig&)> adjust{};  ///< the rest of the configuration
  };

  explicit Host(SimNetwork& network) : Host(network, Options{}) {}
  Host(SimNetwork& network, const Options& options);

  [[nodiscard]] SimNetwork& network() const { return *network_; }
  [[nodiscard]] NodeId node() const { return node_; }
  [[nodiscard]] transport::Device& device() const { return network_->device(node_); }
  [[nodiscard]] transport::Device* operator->() const { return &device(); }

  [[nodiscard]] static std::uint16_t gid_index(Path path);
  [[nodiscard]] Gid gid(Path path = {}) const;
  [[nodiscard]] MacAddress mac() const { return device().config().mac; }
  [[nodiscard]] std::vector<transport::Event>& events() const { return network_->events(node_); }
  /// Returns how many events of a type have come so far.
  [[nodiscard]] std::size_t count_events(transport::EventType type) const;

 private:
  SimNetwork* network_;
  NodeId node_;
};

}  // namespace roce::sim
