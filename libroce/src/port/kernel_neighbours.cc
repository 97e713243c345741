// SPDX-License-Identifier: BSD-2-Clause
#include <linux/rtnetlink.h>

#include <algorithm>
#include <cerrno>
#include <chrono>

#include "port/netlink.h"
#include "port/route.h"
#include "roce/port/neighbours.h"
#include "roce/transport/address.h"

namespace roce::port {
namespace {

constexpr Duration kAskInterval = std::chrono::seconds{1};
constexpr MacAddress kBroadcast{{0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}};

class KernelNeighbours final : public Neighbours {
 public:
  KernelNeighbours(Interface interface, NetlinkSocket questions, NetlinkSocket events)
      : interface_(std::move(interface)), questions_(std::move(questions)), events_(std::move(events)) {}

  std::optional<MacAddress> find(const Gid& ip, std::optional<std::uint16_t> vlan_id, Time now) override;
  std::vector<Answer> poll(Time now) override;
  int fd() const override { return events_.fd(); }
  Time next_timeout() const override { return next_timeout_; }
  std::string why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) override;

 private:
  using Key = std::pair<Gid, std::optional<std::uint16_t>>;

  /// An address that `find` was called with.
  struct Search {
    std::uint32_t interface_index = 0;  ///< 0: there is no VLAN device for it
    Gid next_hop{};
    std::optional<MacAddress> mac{};  ///< as reported last
    Time next_try = Time::min();      ///< the next question about it on the wire is not asked earlier
  };

  /// Returns the interface by which frames with this tag leave; 0 if there is none.
  std::uint32_t interface_index_of(std::optional<std::uint16_t> vlan_id);
  std::optional<MacAddress> look_up(const Key& key, Search& search, Time now);
  void ask(const Search& search);
  /// Takes over a MAC address; true if it is new.
  static bool learn(Search& search, const std::optional<MacAddress>& mac);

  Interface interface_;
  NetlinkSocket questions_;
  NetlinkSocket events_;
  std::map<std::uint16_t, std::uint32_t> vlan_interfaces_;
  std::map<Key, Search> searches_;
  Time next_timeout_ = kNever;
  bool may_request_ = true;
};

std::uint32_t KernelNeighbours::interface_index_of(std::optional<std::uint16_t> vlan_id) {
  if (!vlan_id) return interface_.index;
  const auto known = vlan_interfaces_.find(*vlan_id);
  if (known != vlan_interfaces_.end()) return known->second;
  const Result<std::vector<Interface>> interfaces = list_interfaces();
  if (!interfaces) return 0;
  for (const Interface& upper : *interfaces) {
    if (upper.vlan_id == vlan_id && upper.parent_index == interface_.index) {
      return vlan_interfaces_[*vlan_id] = upper.index;
    }
  }
  return 0;
}

void KernelNeighbours::ask(const Search& search) {
  if (may_request_) {
    may_request_ = resolve_by_request(questions_, search.next_hop, search.interface_index) != EPERM;
  }
  // An error is not reported here: if the address stays unknown, `why_unknown` finds the reason.
  if (!may_request_) static_cast<void>(resolve_by_datagram(search.next_hop, search.interface_index));
}

std::optional<MacAddress> KernelNeighbours::look_up(const Key& key, Search& search, Time now) {
  const auto& [ip, vlan_id] = key;
  const bool may_ask = now >= search.next_try;
  if (may_ask) search.next_try = now + kAskInterval;
  search.interface_index = interface_index_of(vlan_id);
  if (search.interface_index == 0) return std::nullopt;
  const Route route = find_route(questions_, ip, search.interface_index);
  search.next_hop = route.next_hop;
  if (route.kind == Route::Kind::none) return std::nullopt;
  if (route.kind == Route::Kind::local) return interface_.mac;
  if (route.kind == Route::Kind::broadcast) return kBroadcast;
  const NeighbourEntry entry = find_neighbour(questions_, search.next_hop, search.interface_index);
  const std::optional<MacAddress> mac = entry.usable_mac();
  // Our packets bypass the kernel, so that it does not confirm a stale entry, and the host may have moved.
  const bool is_open = mac ? entry.is_stale() : !entry.is_in_search();
  if (is_open && may_ask) ask(search);
  return mac;
}

bool KernelNeighbours::learn(Search& search, const std::optional<MacAddress>& mac) {
  if (!mac || search.mac == mac) return false;
  search.mac = mac;
  return true;
}

std::optional<MacAddress> KernelNeighbours::find(const Gid& ip, std::optional<std::uint16_t> vlan_id, Time now) {
  if (transport::is_multicast(ip)) return transport::multicast_mac(ip);
  const Key key{ip, vlan_id};
  Search& search = searches_[key];
  search.mac = look_up(key, search, now);
  if (!search.mac) next_timeout_ = std::min(next_timeout_, search.next_try);
  return search.mac;
}

std::vector<Neighbours::Answer> KernelNeighbours::poll(Time now) {
  std::vector<Answer> answers;
  const bool is_complete = events_.receive([&](const NetlinkMessage& message) {
    const auto entry = message.type == RTM_NEWNEIGH ? read_neighbour(message.body) : std::nullopt;
    if (!entry) return;
    for (auto& [key, search] : searches_) {
      if (search.next_hop != entry->ip || search.interface_index != entry->interface_index) continue;
      if (learn(search, entry->usable_mac())) answers.push_back({key.first, key.second, *search.mac});
    }
  });
  next_timeout_ = kNever;
  for (auto& [key, search] : searches_) {
    const bool is_due = !search.mac && now >= search.next_try;
    if ((is_due || !is_complete) && learn(search, look_up(key, search, now))) {
      answers.push_back({key.first, key.second, *search.mac});
    }
    if (!search.mac) next_timeout_ = std::min(next_timeout_, search.next_try);
  }
  return answers;
}

std::string KernelNeighbours::why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) {
  const std::string host = to_string(ip);
  const Result<std::vector<Interface>> interfaces = list_interfaces();
  if (!interfaces) return interfaces.error().message;
  const std::uint32_t index = interface_index_of(vlan_id);
  if (index == 0) {
    const std::string id = std::to_string(*vlan_id);
    return "cannot find the MAC address of " + host + ": " + interface_.name + " has no device for VLAN " + id +
           "; make one (ip link add link " + interface_.name + " name " + interface_.name + "." + id +
           " type vlan id " + id + "), or give the MAC address";
  }
  const auto device = std::find_if(interfaces->begin(), interfaces->end(),
                                   [&](const Interface& interface) { return interface.index == index; });
  if (device == interfaces->end()) {
    return "cannot find the MAC address of " + host + ": the interface " + interface_.name + " is gone";
  }
  if (!device->up) {
    return "cannot find the MAC address of " + host + ": " + device->name + " is down; set it up (ip link set " +
           device->name + " up)";
  }
  const Route route = find_route(questions_, ip, index);
  if (route.kind == Route::Kind::none) {
    return "cannot find the MAC address of " + host + ": there is no route to it through " + device->name + "; give " +
           device->name + " an address in its network, or a route to it, or give the MAC address";
  }
  const std::string who = route.next_hop == ip ? host : to_string(route.next_hop) + ", the router to " + host + ",";
  return who + " does not answer on " + device->name + (ip.is_ipv4_mapped() ? " (ARP)" : " (neighbour discovery)") +
         "; check that it is up and that this is its network, or give the MAC address";
}

}  // namespace

Result<std::unique_ptr<Neighbours>> open_kernel_neighbours(const Interface& interface) {
  Result<NetlinkSocket> questions = NetlinkSocket::open();
  if (!questions) return tl::unexpected(questions.error());
  Result<NetlinkSocket> events = NetlinkSocket::open(RTMGRP_NEIGH);
  if (!events) return tl::unexpected(events.error());
  return std::make_unique<KernelNeighbours>(interface, std::move(*questions), std::move(*events));
}

}  // namespace roce::port
