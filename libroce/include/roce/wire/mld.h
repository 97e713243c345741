// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"
#include "roce/wire/igmp.h"

namespace roce {

/// The data behind the ICMPv6 header in a query, a version 1 report or a done message of multicast listener discovery,
/// 20 bytes (RFC 2710, 3). Queries of MLDv2 have at least 4 bytes more (RFC 3810, 5.1).
struct Mld {
  std::uint16_t max_response{};  ///< in a query: milliseconds; above 32767 in MLDv2 a floating-point code
  std::uint16_t reserved{};
  Gid group{};  ///< zeros in a general query

  friend constexpr bool operator==(const Mld&, const Mld&) = default;
};
template <>
inline constexpr HeaderName kHeader<Mld>{HeaderId::mld, "mld", "MLD", 20};
template <>
inline constexpr auto kFields<Mld> =
    FieldList{field<&Mld::max_response, 0, 16>("max_response", FieldFormat::decimal, "Maximum Response Code"),
              field<&Mld::reserved, 16, 16>("reserved", FieldFormat::reserved, "Reserved"),
              field<&Mld::group, 32, 128>("group", FieldFormat::gid, "Multicast Address")};

/// The data behind the ICMPv6 header in an MLDv2 report, without its records, 4 bytes (RFC 3810, 5.2).
struct MldReport {
  std::uint16_t reserved{};
  std::uint16_t record_count{};

  friend constexpr bool operator==(const MldReport&, const MldReport&) = default;
};
template <>
inline constexpr HeaderName kHeader<MldReport>{HeaderId::mld_report, "mld_report", "MLDv2 report", 4};
template <>
inline constexpr auto kFields<MldReport> = FieldList{
    field<&MldReport::reserved, 0, 16>("reserved", FieldFormat::reserved, "Reserved"),
    field<&MldReport::record_count, 16, 16>("record_count", FieldFormat::decimal, "Nr of Mcast Address Records")};

/// Multicast address record of MLDv2, 20 bytes (RFC 3810, 5.2.4); `source_count` addresses of sources follow.
struct MldRecord {
  GroupRecordType type{};
  std::uint8_t auxiliary_length{};  ///< 32-bit words behind the sources
  std::uint16_t source_count{};
  Gid group{};

  friend constexpr bool operator==(const MldRecord&, const MldRecord&) = default;
};
template <>
inline constexpr HeaderName kHeader<MldRecord>{HeaderId::mld_record, "mld_record", "MLDv2 record", 20};
template <>
inline constexpr auto kFields<MldRecord> =
    FieldList{field<&MldRecord::type, 0, 8>("type", FieldFormat::decimal, "Record Type", kGroupRecordTypeNames),
              field<&MldRecord::auxiliary_length, 8, 8>("auxiliary_length", FieldFormat::decimal, "Aux Data Len"),
              field<&MldRecord::source_count, 16, 16>("source_count", FieldFormat::decimal, "Number of Sources"),
              field<&MldRecord::group, 32, 128>("group", FieldFormat::gid, "Multicast Address")};

}  // namespace roce
