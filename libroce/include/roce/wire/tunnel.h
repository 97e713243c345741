// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/ethernet.h"

namespace roce {

/// VXLAN header, 8 bytes (RFC 7348); an Ethernet frame follows.
struct Vxlan {
  std::uint8_t flags = 0x08;
  std::uint32_t reserved1{};
  std::uint32_t vni{};  ///< 24 bits
  std::uint8_t reserved2{};

  friend constexpr bool operator==(const Vxlan&, const Vxlan&) = default;
};
template <>
inline constexpr HeaderName kHeader<Vxlan>{HeaderId::vxlan, "vxlan", "VXLAN", 8};
template <>
inline constexpr auto kFields<Vxlan> =
    FieldList{field<&Vxlan::flags, 0, 8>("flags", FieldFormat::hex, "Flags"),
              field<&Vxlan::reserved1, 8, 24>("reserved1", FieldFormat::reserved, "Reserved"),
              field<&Vxlan::vni, 32, 24>("vni", FieldFormat::decimal, "VXLAN Network Identifier"),
              field<&Vxlan::reserved2, 56, 8>("reserved2", FieldFormat::reserved, "Reserved")};

/// GENEVE base header, 8 bytes (RFC 8926); `option_length` words of 4 bytes of options follow.
struct Geneve {
  std::uint8_t version{};
  std::uint8_t option_length{};  ///< in words of 4 bytes
  bool control{};
  bool critical{};
  std::uint8_t reserved1{};
  EtherType protocol = EtherType::transparent_ethernet;
  std::uint32_t vni{};  ///< 24 bits
  std::uint8_t reserved2{};

  friend constexpr bool operator==(const Geneve&, const Geneve&) = default;
};
template <>
inline constexpr HeaderName kHeader<Geneve>{HeaderId::geneve, "geneve", "GENEVE", 8};
template <>
inline constexpr auto kFields<Geneve> =
    FieldList{field<&Geneve::version, 0, 2>("version", FieldFormat::decimal, "Version"),
              field<&Geneve::option_length, 2, 6>("option_length", FieldFormat::decimal, "Options Length in words"),
              field<&Geneve::control, 8, 1>("control", FieldFormat::boolean, "Control packet"),
              field<&Geneve::critical, 9, 1>("critical", FieldFormat::boolean, "Critical options"),
              field<&Geneve::reserved1, 10, 6>("reserved1", FieldFormat::reserved, "Reserved"),
              field<&Geneve::protocol, 16, 16>("protocol", FieldFormat::hex, "Protocol Type", kEtherTypeNames),
              field<&Geneve::vni, 32, 24>("vni", FieldFormat::decimal, "Virtual Network Identifier"),
              field<&Geneve::reserved2, 56, 8>("reserved2", FieldFormat::reserved, "Reserved")};

/// GRE base header, 4 bytes (RFC 2784, RFC 2890); each of checksum, key and sequence adds 4 bytes behind it.
struct Gre {
  bool has_checksum{};
  bool has_routing{};
  bool has_key{};
  bool has_sequence{};
  std::uint16_t reserved{};
  std::uint8_t version{};
  EtherType protocol{};

  friend constexpr bool operator==(const Gre&, const Gre&) = default;
};
template <>
inline constexpr HeaderName kHeader<Gre>{HeaderId::gre, "gre", "GRE", 4};
template <>
inline constexpr auto kFields<Gre> =
    FieldList{field<&Gre::has_checksum, 0, 1>("checksum_present", FieldFormat::boolean, "Checksum Present"),
              field<&Gre::has_routing, 1, 1>("routing_present", FieldFormat::boolean, "Routing Present"),
              field<&Gre::has_key, 2, 1>("key_present", FieldFormat::boolean, "Key Present"),
              field<&Gre::has_sequence, 3, 1>("sequence_present", FieldFormat::boolean, "Sequence Present"),
              field<&Gre::reserved, 4, 9>("reserved", FieldFormat::reserved, "Reserved"),
              field<&Gre::version, 13, 3>("version", FieldFormat::decimal, "Version"),
              field<&Gre::protocol, 16, 16>("protocol", FieldFormat::hex, "Protocol Type", kEtherTypeNames)};

/// ERSPAN type II header, 8 bytes, behind a GRE header with a sequence number (draft-foschiano-erspan); an Ethernet
/// frame follows.
struct Erspan2 {
  std::uint8_t version = 1;
  std::uint16_t vlan{};
  std::uint8_t cos{};
  std::uint8_t encapsulation{};
  bool truncated{};
  std::uint16_t session_id{};
  std::uint16_t reserved{};
  std::uint32_t index{};

  friend constexpr bool operator==(const Erspan2&, const Erspan2&) = default;
};
template <>
inline constexpr HeaderName kHeader<Erspan2>{HeaderId::erspan2, "erspan2", "ERSPAN II", 8};
template <>
inline constexpr auto kFields<Erspan2> =
    FieldList{field<&Erspan2::version, 0, 4>("version", FieldFormat::decimal, "Version"),
              field<&Erspan2::vlan, 4, 12>("vlan", FieldFormat::decimal, "VLAN"),
              field<&Erspan2::cos, 16, 3>("cos", FieldFormat::decimal, "Class of Service"),
              field<&Erspan2::encapsulation, 19, 2>("encapsulation", FieldFormat::decimal, "Encapsulation"),
              field<&Erspan2::truncated, 21, 1>("truncated", FieldFormat::boolean, "Truncated"),
              field<&Erspan2::session_id, 22, 10>("session_id", FieldFormat::decimal, "Session ID"),
              field<&Erspan2::reserved, 32, 12>("reserved", FieldFormat::reserved, "Reserved"),
              field<&Erspan2::index, 44, 20>("index", FieldFormat::decimal, "Index")};

/// ERSPAN type III header, 12 bytes (draft-foschiano-erspan); with `has_subheader` 8 more bytes follow, then the frame.
struct Erspan3 {
  std::uint8_t version = 2;
  std::uint16_t vlan{};
  std::uint8_t cos{};
  std::uint8_t bad_short_oversized{};
  bool truncated{};
  std::uint16_t session_id{};
  std::uint32_t timestamp{};
  std::uint16_t security_group{};
  bool is_ethernet{};
  std::uint8_t frame_type{};
  std::uint8_t hardware_id{};
  bool egress{};
  std::uint8_t granularity{};
  bool has_subheader{};

  friend constexpr bool operator==(const Erspan3&, const Erspan3&) = default;
};
template <>
inline constexpr HeaderName kHeader<Erspan3>{HeaderId::erspan3, "erspan3", "ERSPAN III", 12};
template <>
inline constexpr auto kFields<Erspan3> = FieldList{
    field<&Erspan3::version, 0, 4>("version", FieldFormat::decimal, "Version"),
    field<&Erspan3::vlan, 4, 12>("vlan", FieldFormat::decimal, "VLAN"),
    field<&Erspan3::cos, 16, 3>("cos", FieldFormat::decimal, "Class of Service"),
    field<&Erspan3::bad_short_oversized, 19, 2>("bso", FieldFormat::decimal, "Bad, Short or Oversized"),
    field<&Erspan3::truncated, 21, 1>("truncated", FieldFormat::boolean, "Truncated"),
    field<&Erspan3::session_id, 22, 10>("session_id", FieldFormat::decimal, "Session ID"),
    field<&Erspan3::timestamp, 32, 32>("timestamp", FieldFormat::decimal, "Timestamp"),
    field<&Erspan3::security_group, 64, 16>("sgt", FieldFormat::decimal, "Security Group Tag"),
    field<&Erspan3::is_ethernet, 80, 1>("p", FieldFormat::boolean, "Ethernet frame follows"),
    field<&Erspan3::frame_type, 81, 5>("frame_type", FieldFormat::decimal, "Frame Type"),
    field<&Erspan3::hardware_id, 86, 6>("hw_id", FieldFormat::decimal, "Hardware ID"),
    field<&Erspan3::egress, 92, 1>("egress", FieldFormat::boolean, "Egress"),
    field<&Erspan3::granularity, 93, 2>("granularity", FieldFormat::decimal, "Timestamp Granularity"),
    field<&Erspan3::has_subheader, 95, 1>("subheader_present", FieldFormat::boolean, "Platform Subheader Present")};

/// One MPLS label stack entry, 4 bytes (RFC 3032).
struct MplsLabel {
  std::uint32_t label{};  ///< 20 bits
  std::uint8_t traffic_class{};
  bool bottom{};  ///< the last label of the stack
  std::uint8_t ttl{};

  friend constexpr bool operator==(const MplsLabel&, const MplsLabel&) = default;
};
template <>
inline constexpr HeaderName kHeader<MplsLabel>{HeaderId::mpls, "mpls", "MPLS", 4};
template <>
inline constexpr auto kFields<MplsLabel> =
    FieldList{field<&MplsLabel::label, 0, 20>("label", FieldFormat::decimal, "Label"),
              field<&MplsLabel::traffic_class, 20, 3>("tc", FieldFormat::decimal, "Traffic Class"),
              field<&MplsLabel::bottom, 23, 1>("bottom", FieldFormat::boolean, "Bottom of Stack"),
              field<&MplsLabel::ttl, 24, 8>("ttl", FieldFormat::decimal, "Time to Live")};

}  // namespace roce
