// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/ethernet.h"

namespace roce {

/// Header of LINKTYPE_LINUX_SLL, which Linux uses for the "any" device, 16 bytes (tcpdump.org link-type registry).
struct LinuxSll {
  std::uint16_t packet_type{};
  std::uint16_t arphrd_type{};
  std::uint16_t address_length{};
  std::array<std::byte, 8> address{};
  EtherType ether_type{};

  friend constexpr bool operator==(const LinuxSll&, const LinuxSll&) = default;
};
template <>
inline constexpr HeaderName kHeader<LinuxSll>{HeaderId::sll, "sll", "Linux cooked v1", 16};
template <>
inline constexpr auto kFields<LinuxSll> =
    FieldList{field<&LinuxSll::packet_type, 0, 16>("packet_type", FieldFormat::decimal, "Packet Type"),
              field<&LinuxSll::arphrd_type, 16, 16>("arphrd_type", FieldFormat::decimal, "ARPHRD Type"),
              field<&LinuxSll::address_length, 32, 16>("address_length", FieldFormat::decimal, "Address Length"),
              field<&LinuxSll::address, 48, 64>("address", FieldFormat::bytes, "Address"),
              field<&LinuxSll::ether_type, 112, 16>("type", FieldFormat::hex, "Protocol", kEtherTypeNames)};

/// Header of LINKTYPE_LINUX_SLL2, 20 bytes (tcpdump.org link-type registry).
struct LinuxSll2 {
  EtherType ether_type{};
  std::uint16_t reserved{};
  std::uint32_t interface_index{};
  std::uint16_t arphrd_type{};
  std::uint8_t packet_type{};
  std::uint8_t address_length{};
  std::array<std::byte, 8> address{};

  friend constexpr bool operator==(const LinuxSll2&, const LinuxSll2&) = default;
};
template <>
inline constexpr HeaderName kHeader<LinuxSll2>{HeaderId::sll2, "sll2", "Linux cooked v2", 20};
template <>
inline constexpr auto kFields<LinuxSll2> =
    FieldList{field<&LinuxSll2::ether_type, 0, 16>("type", FieldFormat::hex, "Protocol", kEtherTypeNames),
              field<&LinuxSll2::reserved, 16, 16>("reserved", FieldFormat::reserved, "Reserved"),
              field<&LinuxSll2::interface_index, 32, 32>("interface_index", FieldFormat::decimal, "Interface Index"),
              field<&LinuxSll2::arphrd_type, 64, 16>("arphrd_type", FieldFormat::decimal, "ARPHRD Type"),
              field<&LinuxSll2::packet_type, 80, 8>("packet_type", FieldFormat::decimal, "Packet Type"),
              field<&LinuxSll2::address_length, 88, 8>("address_length", FieldFormat::decimal, "Address Length"),
              field<&LinuxSll2::address, 96, 64>("address", FieldFormat::bytes, "Address")};

}  // namespace roce
