// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "roce/port/interfaces.h"
#include "roce/port/result.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::port {

/// Resolves IP addresses, to answer a device's `neighbour_wanted` events. No call waits. One thread at a time.
class Neighbours {
 public:
  /// The MAC address that frames to `ip` go to.
  struct Answer {
    Gid ip{};
    std::optional<std::uint16_t> vlan_id{};
    MacAddress mac{};

    friend bool operator==(const Answer&, const Answer&) = default;
  };

  Neighbours() = default;
  Neighbours(const Neighbours&) = delete;
  Neighbours& operator=(const Neighbours&) = delete;
  virtual ~Neighbours() = default;

  /// Returns the MAC address that frames to `ip` in VLAN `vlan_id` go to, if it is known. If not, begins a search,
  /// whose result `poll` returns; until then the search goes on, even if the host comes up only later.
  [[nodiscard]] virtual std::optional<MacAddress> find(const Gid& ip, std::optional<std::uint16_t> vlan_id,
                                                       Time now) = 0;
  /// Returns the addresses asked for with `find` that have become known or have changed since.
  /// Call it when `fd` is readable and at `next_timeout`.
  [[nodiscard]] virtual std::vector<Answer> poll(Time now) = 0;
  /// Returns a descriptor to wait for until it is readable; -1 if there is nothing to wait for.
  [[nodiscard]] virtual int fd() const = 0;
  /// Returns the latest time for the next call of `poll`; `kNever` if nothing is searched for.
  [[nodiscard]] virtual Time next_timeout() const = 0;
  /// Returns why `find` does not know the address now: a sentence with what to do.
  [[nodiscard]] virtual std::string why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) = 0;
};

/// Addresses from a configuration.
class StaticNeighbours final : public Neighbours {
 public:
  StaticNeighbours() = default;
  /// `everybody` is the MAC address of all addresses without an entry: a gateway, or the only peer.
  explicit StaticNeighbours(const MacAddress& everybody) : everybody_(everybody) {}

  /// Adds or replaces an entry.
  void set(const Gid& ip, std::optional<std::uint16_t> vlan_id, const MacAddress& mac);

  [[nodiscard]] std::optional<MacAddress> find(const Gid& ip, std::optional<std::uint16_t> vlan_id, Time now) override;
  [[nodiscard]] std::vector<Answer> poll(Time now) override;
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] Time next_timeout() const override { return kNever; }
  [[nodiscard]] std::string why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) override;

 private:
  using Key = std::pair<Gid, std::optional<std::uint16_t>>;

  std::map<Key, MacAddress> entries_;
  std::optional<MacAddress> everybody_;
  std::set<Key> asked_;
  std::vector<Answer> answers_;  ///< not yet returned by `poll`
};

/// Opens the kernel's routes and neighbour table, as seen from `interface`, for an endpoint that shares
/// the host's address. The kernel resolves an address without a usable entry, at most once a second: on a request
/// for exactly that if the program has CAP_NET_ADMIN, else for an empty UDP datagram to its port 9 (discard).
/// Addresses beyond a router get the router's MAC address; the host's own addresses get that of `interface`;
/// multicast groups get theirs. VLANs are resolved through the VLAN device on `interface` that has the tag.
[[nodiscard]] Result<std::unique_ptr<Neighbours>> open_kernel_neighbours(const Interface& interface);

}  // namespace roce::port
