// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/icmp_error.h"

#include "roce/wire/icmp.h"
#include "roce/wire/icmpv6.h"
#include "roce/wire/ipv6.h"
#include "wire/ip_message.h"

namespace roce {

namespace {

/// Four bytes whose meaning the type gives are between the start of the message and the quotation: RFC 792, RFC
/// 4443, 3.
constexpr std::size_t kQuoteOffset = kSize<Icmp> + 4;
constexpr std::size_t kWord = 4;

/// The codes of "destination unreachable" of ICMP (RFC 792; RFC 1122, 3.2.2.1; RFC 1812, 5.2.7.1).
std::optional<Undelivered> reason_of_unreachable(std::uint8_t code) {
  switch (code) {
    case 0:
    case 6:
    case 11:
      return Undelivered::no_route;
    case 1:
    case 7:
    case 12:
      return Undelivered::host_unreachable;
    case 3:
      return Undelivered::port_unreachable;
    case 4:
      return Undelivered::too_big;
    case 9:
    case 10:
    case 13:
      return Undelivered::prohibited;
    default:
      return std::nullopt;
  }
}

/// The codes of "destination unreachable" of ICMPv6 (RFC 4443, 3.1).
std::optional<Undelivered> reason_of_unreachable_v6(std::uint8_t code) {
  switch (code) {
    case 0:
      return Undelivered::no_route;
    case 1:
    case 5:
    case 6:
      return Undelivered::prohibited;
    case 2:
      return Undelivered::beyond_scope;
    case 3:
      return Undelivered::host_unreachable;
    case 4:
      return Undelivered::port_unreachable;
    default:
      return std::nullopt;
  }
}

std::optional<Undelivered> reason_of(const IpMessage& ip) {
  const std::byte* message = ip.bytes.data();
  const std::uint8_t code = FieldOf<&Icmp::code>::get(message);
  if (ip.protocol == IpProtocol::icmp) {
    switch (FieldOf<&Icmp::type>::get(message)) {
      case IcmpType::destination_unreachable:
        return reason_of_unreachable(code);
      case IcmpType::time_exceeded:
        return code == 0 ? std::optional{Undelivered::expired} : std::nullopt;
      default:
        return std::nullopt;
    }
  }
  switch (FieldOf<&Icmpv6::type>::get(message)) {
    case Icmpv6Type::destination_unreachable:
      return reason_of_unreachable_v6(code);
    case Icmpv6Type::packet_too_big:
      return Undelivered::too_big;
    case Icmpv6Type::time_exceeded:
      return code == 0 ? std::optional{Undelivered::expired} : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// Returns the length of an IP packet by its header; 0 if that is not there.
std::uint32_t stated_length(Bytes ip) {
  if (const auto v4 = parse<Ipv4>(ip); v4 && v4->version == 4) return v4->total_length;
  const auto v6 = parse<Ipv6>(ip);
  return v6 && v6->version == 6 ? static_cast<std::uint32_t>(kSize<Ipv6>) + v6->payload_length : 0;
}

}  // namespace

std::string_view to_string(Undelivered why) {
  switch (why) {
    case Undelivered::no_route:
      return "network unreachable";
    case Undelivered::host_unreachable:
      return "host unreachable";
    case Undelivered::port_unreachable:
      return "port unreachable";
    case Undelivered::prohibited:
      return "administratively prohibited";
    case Undelivered::too_big:
      return "packet too big";
    case Undelivered::expired:
      return "time exceeded";
    case Undelivered::beyond_scope:
      return "beyond scope of source address";
  }
  return {};
}

std::optional<IcmpError> read_icmp_error(const Packet& packet) {
  const std::optional<IpMessage> ip = find_icmp(packet);
  if (!ip || ip->bytes.size() < kQuoteOffset) return std::nullopt;
  const std::optional<Undelivered> why = reason_of(*ip);
  if (!why) return std::nullopt;
  const std::byte* rest = ip->bytes.data() + kSize<Icmp>;
  Bytes quote = ip->bytes.subspan(kQuoteOffset);
  const std::uint32_t length = stated_length(quote);
  // RFC 4884: bytes that are not of the packet may be behind it.
  if (length < quote.size()) quote = quote.first(length);
  const Packet quoted = parse_frame(quote, LinkType::raw_ip, length);
  const std::optional<Layer> udp = quoted.find(HeaderId::udp);
  if (!udp || FieldOf<&Udp::destination_port>::get(quote.data() + udp->offset) != kRocePort) return std::nullopt;
  IcmpError error;
  error.why = *why;
  error.reporter = ip->source;
  error.size = length;
  error.udp_source_port = FieldOf<&Udp::source_port>::get(quote.data() + udp->offset);
  const std::byte* network = quote.data() + quoted.network_offset();
  if (quoted.network_header() == HeaderId::ipv4) {
    error.source = Gid::from_ipv4(FieldOf<&Ipv4::source>::get(network));
    error.destination = Gid::from_ipv4(FieldOf<&Ipv4::destination>::get(network));
  } else {
    error.source = FieldOf<&Ipv6::source>::get(network);
    error.destination = FieldOf<&Ipv6::destination>::get(network);
  }
  if (quoted.is_roce()) error.bth = quoted.bth();
  if (*why == Undelivered::too_big) {
    // RFC 1191, 4: the second half of the word; RFC 4443, 3.2: all of it.
    error.mtu = static_cast<std::uint32_t>(ip->protocol == IpProtocol::icmp ? load_big_endian<2>(rest + kWord / 2)
                                                                            : load_big_endian<4>(rest));
  }
  return error;
}

}  // namespace roce
