// SPDX-License-Identifier: BSD-2-Clause
// How received frames are handled.
#include <chrono>

#include "port/own_address_parts.h"
#include "roce/wire/icmp.h"
#include "roce/wire/icmpv6.h"
#include "roce/wire/neighbour_message.h"

namespace roce::port {
namespace {

using namespace std::chrono_literals;

constexpr Duration kDefendInterval = 10s;

}  // namespace

bool OwnAddress::receive(Bytes frame, Time now) {
  Parts& own = *parts_;
  const std::optional<ReceivedEthernet> ethernet = read_ethernet(own.sender, frame);
  if (!ethernet || own.state == State::duplicate) return false;
  if (ethernet->type == EtherType::arp) return own.on_arp(ethernet->payload, now);
  const std::optional<ReceivedMessage> message = read_message(*ethernet);
  if (!message || own.is_ipv4() == (message->protocol == IpProtocol::icmpv6)) return false;
  switch (message->protocol) {
    case IpProtocol::icmp:
      return own.on_icmp(*message);
    case IpProtocol::icmpv6:
      return own.on_icmpv6(*message, now);
    default:
      return own.groups.receive(*message, now);
  }
}

// NET-17 (another host that has the address keeps it; later it is defended at most every 10 s)
void OwnAddress::Parts::conflict(const MacAddress& mac, Time now) {
  other = mac;
  if (state == State::probing) {
    state = State::duplicate;
    output.clear();
  } else if (state == State::owned && now >= may_defend) {
    may_defend = now + kDefendInterval;
    announce();
  }
}

// NET-18 (ARP requests for the own address are answered)
bool OwnAddress::Parts::on_arp(Bytes packet, Time now) {
  const auto arp = parse<Arp>(packet);
  if (!arp || !arp->is_ipv4_over_ethernet() || arp->sender_mac == sender.mac || !is_ipv4()) return false;
  const bool is_request = arp->operation == ArpOperation::request;
  if (!is_request && arp->operation != ArpOperation::reply) return false;
  const Ipv4Address ip = config.ip.ipv4();
  const bool is_probe = is_request && arp->sender_ip == Ipv4Address{};
  if (arp->sender_ip == ip || (state == State::probing && is_probe && arp->target_ip == ip)) {
    conflict(arp->sender_mac, now);
    return true;
  }
  const bool is_to_us = arp->target_ip == ip;
  if (!is_probe) search.learn(Gid::from_ipv4(arp->sender_ip), arp->sender_mac, !is_request && is_to_us, now);
  if (is_request && is_to_us && state == State::owned) {
    send(arp_frame(sender, arp->sender_mac,
                   {.operation = ArpOperation::reply,
                    .sender_mac = sender.mac,
                    .sender_ip = ip,
                    .target_mac = arp->sender_mac,
                    .target_ip = arp->sender_ip}));
  }
  return is_to_us;
}

bool OwnAddress::Parts::on_icmp(const ReceivedMessage& received) {
  const auto icmp = parse<Icmp>(received.message);
  if (!icmp || icmp->type != IcmpType::echo_request || icmp->code != 0 || state != State::owned ||
      received.message.size() < kSize<Icmp> + kSize<IcmpEcho> || received.destination != config.ip ||
      received.source == kNoIpv4 || transport::is_multicast(received.source)) {
    return false;
  }
  send_echo_reply(received);
  return true;
}

bool OwnAddress::Parts::on_icmpv6(const ReceivedMessage& received, Time now) {
  const auto icmp = parse<Icmpv6>(received.message);
  if (!icmp || icmp->code != 0) return false;
  const Bytes body = received.message.subspan(kSize<Icmpv6>);
  switch (icmp->type) {
    case Icmpv6Type::neighbour_solicitation:
      return on_solicitation(received, body, now);
    case Icmpv6Type::neighbour_advertisement:
      return on_advertisement(received, body, now);
    case Icmpv6Type::listener_query:
      return groups.receive(received, now);
    case Icmpv6Type::echo_request:
      if (state != State::owned || body.size() < kSize<IcmpEcho> || received.destination != config.ip ||
          received.source == Gid{} || transport::is_multicast(received.source)) {
        return false;
      }
      send_echo_reply(received);
      return true;
    default:
      return false;
  }
}

// NET-18 (neighbour solicitations for the own address are answered; discovery counts only with hop limit 255)
bool OwnAddress::Parts::on_solicitation(const ReceivedMessage& received, Bytes body, Time now) {
  const auto solicitation = parse<NeighbourSolicitation>(body);
  if (!solicitation || solicitation->target != config.ip || received.hop_limit != kNdHopLimit) return false;
  const NdLinkLayerAddress from =
      read_nd_options(body.subspan(kSize<NeighbourSolicitation>), NdOption::source_link_layer);
  const bool is_probe = received.source == Gid{};
  // Rules for valid solicitations: RFC 4861, 7.1.1.
  if (!from.ok || (is_probe && (from.mac || received.destination != solicited_node_group(config.ip)))) return false;
  if (is_probe && state == State::probing) {
    conflict(received.source_mac, now);
  } else if (is_probe && state == State::owned) {
    send_advertisement(transport::multicast_mac(kAllNodes), kAllNodes, false);
  } else if (state == State::owned) {
    const MacAddress mac = from.mac.value_or(received.source_mac);
    if (from.mac) search.learn(received.source, mac, false, now);
    send_advertisement(mac, received.source, true);
  }
  return true;
}

bool OwnAddress::Parts::on_advertisement(const ReceivedMessage& received, Bytes body, Time now) {
  const auto advertisement = parse<NeighbourAdvertisement>(body);
  if (!advertisement || received.hop_limit != kNdHopLimit) return false;
  const Gid& target = advertisement->target;
  const NdLinkLayerAddress at =
      read_nd_options(body.subspan(kSize<NeighbourAdvertisement>), NdOption::target_link_layer);
  // Rules for valid advertisements: RFC 4861, 7.1.2.
  const bool is_to_group = transport::is_multicast(received.destination);
  if (!at.ok || transport::is_multicast(target) || (advertisement->solicited && is_to_group)) return false;
  if (target == config.ip) {
    conflict(at.mac.value_or(received.source_mac), now);
    return true;
  }
  const std::optional<MacAddress> known = search.mac_of(target);
  const std::optional<MacAddress> mac = at.mac ? at.mac : known;
  // Without the override flag it may come from a proxy; the address that the host itself gave is kept then.
  const bool keeps_known = known && mac != known && !advertisement->overrides;
  if (mac && !keeps_known) search.learn(target, *mac, advertisement->solicited, now);
  return received.destination == config.ip;
}

void OwnAddress::Parts::send_advertisement(const MacAddress& destination_mac, const Gid& destination, bool solicited) {
  send(ipv6_frame(sender, destination_mac, {.hop_limit = kNdHopLimit, .source = config.ip, .destination = destination},
                  joined(Icmpv6{.type = Icmpv6Type::neighbour_advertisement},
                         NeighbourAdvertisement{.solicited = solicited, .overrides = true, .target = config.ip},
                         NdLinkLayer{.type = NdOption::target_link_layer, .mac = sender.mac})));
}

// NET-20 (echo requests to the own address are answered with their data)
void OwnAddress::Parts::send_echo_reply(const ReceivedMessage& request) {
  std::vector<std::byte> message(request.message.begin(), request.message.end());
  // The reply goes back by the way that the request came, without asking for the neighbour.
  if (request.protocol == IpProtocol::icmp) {
    FieldOf<&Icmp::type>::set(message.data(), IcmpType::echo_reply);
    FieldOf<&Icmp::checksum>::set(message.data(), 0);
    send(ipv4_frame(sender, request.source_mac,
                    {.protocol = IpProtocol::icmp, .source = config.ip.ipv4(), .destination = request.source.ipv4()},
                    std::move(message)));
  } else {
    FieldOf<&Icmpv6::type>::set(message.data(), Icmpv6Type::echo_reply);
    FieldOf<&Icmpv6::checksum>::set(message.data(), 0);
    send(ipv6_frame(sender, request.source_mac, {.source = config.ip, .destination = request.source},
                    std::move(message)));
  }
}

}  // namespace roce::port
