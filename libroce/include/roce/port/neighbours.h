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

/// Who has an IP address: the answers to a device's `neighbour_wanted` events. No call waits. One thread at a time.
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

  /// The MAC address that frames to `ip` in VLAN `vlan_id` go to, if it is known. If not, the search for it begins, and
  /// `poll` tells the outcome; until then it goes on, also when the host comes up only later.
  [[nodiscard]] virtual std::optional<MacAddress> find(const Gid& ip, std::optional<std::uint16_t> vlan_id,
                                                       Time now) = 0;
  /// What was asked for with `find` and has become known or has changed since. Call it when `fd` is readable and when
  /// `next_timeout` has come.
  [[nodiscard]] virtual std::vector<Answer> poll(Time now) = 0;
  /// To wait for until it is readable; -1 if there is nothing to wait for.
  [[nodiscard]] virtual int fd() const = 0;
  /// When `poll` has to be called at the latest; `kNever` if nothing is searched for.
  [[nodiscard]] virtual Time next_timeout() const = 0;
  /// Why `find` does not know the address now: a sentence with what to do.
  [[nodiscard]] virtual std::string why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) = 0;
};

/// Addresses that somebody wrote down.
class StaticNeighbours final : public Neighbours {
 public:
  StaticNeighbours() = default;
  /// `everybody` is the MAC address of all that have no entry: a gateway, or the only peer there is.
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
  std::vector<Answer> answers_;  ///< not fetched yet
};

/// The kernel's routes and neighbour table, as seen from `interface`, for an endpoint that shares the host's address.
/// An address without a usable entry is resolved by the kernel, at most once a second: by a request for just that where
/// the program has CAP_NET_ADMIN, else by an empty UDP datagram to its port 9 (discard). Addresses behind a router get
/// the router's MAC address; the host's own addresses that of `interface`; multicast groups theirs. VLANs are resolved
/// through the VLAN device on `interface` that has the tag.
[[nodiscard]] Result<std::unique_ptr<Neighbours>> open_kernel_neighbours(const Interface& interface);

}  // namespace roce::port
