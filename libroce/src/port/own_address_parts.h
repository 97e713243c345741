// SPDX-License-Identifier: BSD-2-Clause
// The parts of an OwnAddress.
#pragma once

#include <deque>
#include <optional>

#include "port/address_frames.h"
#include "port/group_membership.h"
#include "port/neighbour_search.h"
#include "roce/port/own_address.h"
#include "roce/transport/address.h"

namespace roce::port {

inline constexpr unsigned kProbes = 3;
inline constexpr std::uint8_t kNdHopLimit = 255;  // RFC 4861: it cannot come from another network
inline constexpr Gid kAllNodes{{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
inline constexpr transport::GidPrefix kLinkLocal{{{0xFE, 0x80}}, 10};
inline constexpr Gid kNoIpv4 = Gid::from_ipv4({});

struct OwnAddress::Parts {
  explicit Parts(const OwnAddressConfig& with)
      : config(with), network(network_of(with)), sender{with.mac, with.vlan_id}, groups(sender, with.ip) {}

  [[nodiscard]] static transport::GidPrefix network_of(const OwnAddressConfig& config) {
    constexpr unsigned kMappedBits = 96;
    const unsigned bits = config.prefix_bits + (config.ip.is_ipv4_mapped() ? kMappedBits : 0);
    return {config.ip, static_cast<std::uint8_t>(bits)};
  }
  [[nodiscard]] bool is_ipv4() const { return config.ip.is_ipv4_mapped(); }
  void send(Frame frame) {
    constexpr std::size_t kMaxOutput = 1024;
    if (output.size() == kMaxOutput) output.pop_front();
    output.push_back(std::move(frame));
  }

  void send_probe();
  void announce();
  void ask(const NeighbourSearch::Question& question);
  void send_solicitation(const Gid& source, const Gid& target, const std::optional<MacAddress>& mac);
  void send_advertisement(const MacAddress& destination_mac, const Gid& destination, bool solicited);
  void send_echo_reply(const ReceivedMessage& request);

  /// Reacts to another host that uses the address.
  void conflict(const MacAddress& mac, Time now);
  bool on_arp(Bytes packet, Time now);
  bool on_icmp(const ReceivedMessage& received);
  bool on_icmpv6(const ReceivedMessage& received, Time now);
  bool on_solicitation(const ReceivedMessage& received, Bytes body, Time now);
  bool on_advertisement(const ReceivedMessage& received, Bytes body, Time now);

  /// Returns the neighbour by which `ip` is reached; nullopt if there is none.
  [[nodiscard]] std::optional<Gid> next_hop(const Gid& ip) const;

  OwnAddressConfig config;
  transport::GidPrefix network;
  Sender sender;
  State state = State::probing;
  unsigned probes_left = kProbes;
  unsigned announcements_left = 0;
  Time next_step{};  ///< time of the next probe, later of the next announcement
  std::optional<MacAddress> other{};
  Time may_defend = Time::min();
  NeighbourSearch search;
  GroupMembership groups;
  std::deque<Frame> output;
};

}  // namespace roce::port
