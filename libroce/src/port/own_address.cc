// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/own_address.h"

#include <algorithm>
#include <chrono>

#include "port/own_address_parts.h"
#include "roce/transport/address.h"
#include "roce/wire/icmpv6.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;

// Shorter than the seconds of RFC 5227, because a program waits; all probes together last as long as in RFC 4862.
constexpr Duration kProbeInterval = 333ms;
constexpr unsigned kAnnouncements = 2;
constexpr Duration kAnnounceInterval = 2s;
constexpr transport::GidPrefix kLoopback4{{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 127}}, 104};
constexpr Gid kLoopback6{{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}};
constexpr Gid kBroadcast4 = Gid::from_ipv4({{255, 255, 255, 255}});

/// True if all bits after the prefix are `ones`: the address of the network itself, or its broadcast address.
bool rest_is(const transport::GidPrefix& network, const Gid& ip, bool ones) {
  for (unsigned bit = network.bits; bit < 128; ++bit) {
    if ((ip.octets[bit / 8] >> (7 - bit % 8) & 1) != (ones ? 1 : 0)) return false;
  }
  return true;
}

/// True for the IPv4 address of all hosts or of the network, which networks of one or two hosts do not have (RFC 3021).
bool is_for_all(const transport::GidPrefix& network, const Gid& ip, bool ones) {
  return ip.is_ipv4_mapped() && network.bits < 127 && network.contains(ip) && rest_is(network, ip, ones);
}

std::string name_of(const OwnAddressConfig& config) {
  return to_string(config.ip) + "/" + std::to_string(config.prefix_bits);
}

}  // namespace

Gid solicited_node_group(const Gid& ip) {
  Gid group{{0xFF, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xFF}};
  std::copy(ip.octets.begin() + 13, ip.octets.end(), group.octets.begin() + 13);
  return group;
}

void OwnAddress::Parts::send_solicitation(const Gid& source, const Gid& target, const std::optional<MacAddress>& mac) {
  const Gid group = solicited_node_group(target);
  std::vector<std::byte> message =
      joined(Icmpv6{.type = Icmpv6Type::neighbour_solicitation}, NeighbourSolicitation{.target = target});
  // A host without an address must not give its link-layer address.
  if (source != Gid{}) {
    const std::vector<std::byte> option = joined(NdLinkLayer{.type = NdOption::source_link_layer, .mac = sender.mac});
    message.insert(message.end(), option.begin(), option.end());
  }
  send(ipv6_frame(sender, mac.value_or(transport::multicast_mac(group)),
                  {.hop_limit = kNdHopLimit, .source = source, .destination = mac ? target : group},
                  std::move(message)));
}

void OwnAddress::Parts::send_probe() {
  if (!is_ipv4()) return send_solicitation(Gid{}, config.ip, std::nullopt);
  // The sender's IP address stays 0, so that no host takes it over.
  send(arp_frame(sender, kBroadcastMac, {.sender_mac = sender.mac, .target_ip = config.ip.ipv4()}));
}

void OwnAddress::Parts::announce() {
  if (!is_ipv4()) return send_advertisement(transport::multicast_mac(kAllNodes), kAllNodes, false);
  const Ipv4Address ip = config.ip.ipv4();
  send(arp_frame(sender, kBroadcastMac, {.sender_mac = sender.mac, .sender_ip = ip, .target_ip = ip}));
}

void OwnAddress::Parts::ask(const NeighbourSearch::Question& question) {
  if (!is_ipv4()) return send_solicitation(config.ip, question.ip, question.mac);
  send(arp_frame(sender, question.mac.value_or(kBroadcastMac),
                 {.sender_mac = sender.mac, .sender_ip = config.ip.ipv4(), .target_ip = question.ip.ipv4()}));
}

// NET-19 (other networks are reached through the gateway)
std::optional<Gid> OwnAddress::Parts::next_hop(const Gid& ip) const {
  if (ip.is_ipv4_mapped() != is_ipv4()) return std::nullopt;
  if (network.contains(ip) || (!is_ipv4() && kLinkLocal.contains(ip))) return ip;
  return config.gateway;
}

Result<std::unique_ptr<OwnAddress>> OwnAddress::make(const OwnAddressConfig& config, Time now) {
  const auto refuse = [&](const std::string& why) {
    return tl::unexpected(link::LinkError{"cannot take the address " + name_of(config) + ": " + why});
  };
  const Gid& ip = config.ip;
  if (config.prefix_bits > (ip.is_ipv4_mapped() ? 32 : 128)) {
    return refuse("a prefix of " + std::string{ip.is_ipv4_mapped() ? "IPv4 has 32" : "IPv6 has 128"} + " bits at most");
  }
  const transport::GidPrefix network = Parts::network_of(config);
  const bool is_one_host = ip != Gid{} && ip != kNoIpv4 && ip != kLoopback6 && ip != kBroadcast4 &&
                           !kLoopback4.contains(ip) && !transport::is_multicast(ip) &&
                           !is_for_all(network, ip, false) && !is_for_all(network, ip, true);
  if (!is_one_host) return refuse("it is not the address of a single host; give another one of the network");
  if (config.gateway) {
    const Gid& gateway = *config.gateway;
    const bool is_near =
        network.contains(gateway) || (kLinkLocal.contains(gateway) && !ip.is_ipv4_mapped() && gateway != Gid{});
    if (!is_near || gateway == ip || gateway.is_ipv4_mapped() != ip.is_ipv4_mapped()) {
      return refuse("the gateway " + to_string(gateway) + " is no other host of that network; give one that is");
    }
  }
  auto parts = std::make_unique<Parts>(config);
  parts->next_step = now;
  if (!parts->is_ipv4()) parts->groups.join(solicited_node_group(ip), now);
  return std::unique_ptr<OwnAddress>{new OwnAddress{std::move(parts)}};
}

OwnAddress::OwnAddress(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}

OwnAddress::~OwnAddress() = default;

OwnAddress::State OwnAddress::state() const {
  return parts_->state;
}

std::string OwnAddress::duplicate_text() const {
  if (!parts_->other) return {};
  return "the address " + to_string(parts_->config.ip) + " is in use by another host, " + to_string(*parts_->other) +
         "; choose another address, or take it away from that host";
}

Bytes OwnAddress::output() const {
  return parts_->output.empty() ? Bytes{} : Bytes{parts_->output.front()};
}

void OwnAddress::pop_output() {
  if (!parts_->output.empty()) parts_->output.pop_front();
}

bool OwnAddress::join(const Gid& group, Time now) {
  if (!transport::is_multicast(group) || group.is_ipv4_mapped() != parts_->is_ipv4()) return false;
  parts_->groups.join(group, now);
  return true;
}

bool OwnAddress::leave(const Gid& group, Time now) {
  if (!transport::is_multicast(group) || group.is_ipv4_mapped() != parts_->is_ipv4()) return false;
  parts_->groups.leave(group, now);
  return true;
}

std::optional<MacAddress> OwnAddress::find(const Gid& ip, std::optional<std::uint16_t> vlan_id, Time now) {
  Parts& own = *parts_;
  if (transport::is_multicast(ip)) return transport::multicast_mac(ip);
  if (vlan_id != own.config.vlan_id || own.state == State::duplicate) return std::nullopt;
  if (ip == own.config.ip) return own.config.mac;
  if (ip == kBroadcast4 || is_for_all(own.network, ip, true)) return kBroadcastMac;
  const std::optional<Gid> next_hop = own.next_hop(ip);
  return next_hop ? own.search.find(ip, *next_hop, now) : std::nullopt;
}

// NET-17 (the address is asked for three times before it is used)
std::vector<Neighbours::Answer> OwnAddress::poll(Time now) {
  Parts& own = *parts_;
  if (own.state == State::duplicate) return {};
  if (own.state == State::probing && own.next_step <= now && own.probes_left == 0) {
    own.state = State::owned;
    own.announcements_left = kAnnouncements;
  }
  for (Frame& report : own.groups.due(now, own.state == State::owned)) own.send(std::move(report));
  if (own.state == State::probing) {
    if (own.next_step <= now) {
      own.send_probe();
      --own.probes_left;
      own.next_step = now + kProbeInterval;
    }
    return {};
  }
  if (own.next_step <= now) {
    own.announce();
    --own.announcements_left;
    own.next_step = own.announcements_left != 0 ? now + kAnnounceInterval : kNever;
  }
  for (const NeighbourSearch::Question& question : own.search.due(now)) own.ask(question);
  std::vector<Answer> answers;
  for (const NeighbourSearch::Found& found : own.search.take_found()) {
    answers.push_back({found.ip, own.config.vlan_id, found.mac});
  }
  return answers;
}

Time OwnAddress::next_timeout() const {
  const Parts& own = *parts_;
  if (own.state == State::duplicate) return kNever;
  const Time next = std::min(own.next_step, own.groups.next_timeout());
  if (own.state == State::probing) return next;
  return own.search.has_found() ? Time{} : std::min(next, own.search.next_timeout());
}

std::string OwnAddress::why_unknown(const Gid& ip, std::optional<std::uint16_t> vlan_id) {
  const Parts& own = *parts_;
  const std::string host = to_string(ip);
  const std::string cannot = "cannot find the MAC address of " + host + ": ";
  const auto vlan_name = [](std::optional<std::uint16_t> id) {
    return id ? "in VLAN " + std::to_string(*id) : std::string{"without a VLAN tag"};
  };
  if (own.state == State::duplicate) return duplicate_text();
  if (vlan_id != own.config.vlan_id) {
    return cannot + "it was looked for " + vlan_name(vlan_id) + ", and our address is one " +
           vlan_name(own.config.vlan_id) + "; take the same for both";
  }
  if (ip.is_ipv4_mapped() != own.is_ipv4()) {
    return cannot + "our address " + to_string(own.config.ip) + " is of the other IP version; take the same for both";
  }
  const std::optional<Gid> next_hop = own.next_hop(ip);
  if (!next_hop) {
    return cannot + "it is not in our network " + name_of(own.config) + "; give a gateway, or take a shorter prefix";
  }
  const std::string who = *next_hop == ip ? host : to_string(*next_hop) + ", the gateway to " + host + ",";
  return who + " does not answer" + (own.is_ipv4() ? " (ARP)" : " (neighbour discovery)") +
         "; check that it is up and that this is its network";
}

}  // namespace roce::port
