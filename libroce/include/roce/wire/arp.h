// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/ethernet.h"
#include "roce/wire/header.h"

namespace roce {

/// ARP operations (RFC 826).
enum class ArpOperation : std::uint16_t { request = 1, reply = 2 };

inline constexpr std::array kArpOperationNames{ValueName{1, "request"}, ValueName{2, "reply"}};

/// Hardware type Ethernet of ARP (RFC 826, IANA).
inline constexpr std::uint16_t kArpEthernet = 1;

/// ARP packet for IPv4 over Ethernet, 28 bytes (RFC 826).
struct Arp {
  std::uint16_t hardware_type = kArpEthernet;
  EtherType protocol_type = EtherType::ipv4;
  std::uint8_t hardware_size = 6;
  std::uint8_t protocol_size = 4;
  ArpOperation operation = ArpOperation::request;
  MacAddress sender_mac{};
  Ipv4Address sender_ip{};
  MacAddress target_mac{};
  Ipv4Address target_ip{};

  /// True if the packet is about IPv4 over Ethernet, so that its addresses are where this struct has them.
  [[nodiscard]] constexpr bool is_ipv4_over_ethernet() const {
    return hardware_type == kArpEthernet && protocol_type == EtherType::ipv4 && hardware_size == 6 &&
           protocol_size == 4;
  }

  friend constexpr bool operator==(const Arp&, const Arp&) = default;
};
template <>
inline constexpr HeaderName kHeader<Arp>{HeaderId::arp, "arp", "ARP", 28};
template <>
inline constexpr auto kFields<Arp> =
    FieldList{field<&Arp::hardware_type, 0, 16>("hardware_type", FieldFormat::decimal, "Hardware type"),
              field<&Arp::protocol_type, 16, 16>("protocol_type", FieldFormat::hex, "Protocol type", kEtherTypeNames),
              field<&Arp::hardware_size, 32, 8>("hardware_size", FieldFormat::decimal, "Hardware address length"),
              field<&Arp::protocol_size, 40, 8>("protocol_size", FieldFormat::decimal, "Protocol address length"),
              field<&Arp::operation, 48, 16>("operation", FieldFormat::decimal, "Operation", kArpOperationNames),
              field<&Arp::sender_mac, 64, 48>("sender_mac", FieldFormat::mac, "Sender hardware address"),
              field<&Arp::sender_ip, 112, 32>("sender_ip", FieldFormat::ipv4, "Sender protocol address"),
              field<&Arp::target_mac, 144, 48>("target_mac", FieldFormat::mac, "Target hardware address"),
              field<&Arp::target_ip, 192, 32>("target_ip", FieldFormat::ipv4, "Target protocol address")};

}  // namespace roce
