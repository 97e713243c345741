// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// IGMP message types this codec knows (RFC 2236, 3376).
enum class IgmpType : std::uint8_t { query = 0x11, report_v2 = 0x16, leave = 0x17, report_v3 = 0x22 };

inline constexpr std::array kIgmpTypeNames{ValueName{0x11, "membership query"}, ValueName{0x12, "report v1"},
                                           ValueName{0x16, "report v2"}, ValueName{0x17, "leave group"},
                                           ValueName{0x22, "report v3"}};

/// IGMPv2 message, 8 bytes (RFC 2236, 2).
/// Queries of IGMPv3 begin with the same fields, and have at least 4 bytes more (RFC 3376, 4.1).
struct Igmp {
  IgmpType type{};
  std::uint8_t max_response{};  ///< in a query: tenths of a second; above 127 in IGMPv3 a floating-point code
  std::uint16_t checksum{};     ///< over the whole message: `internet_checksum`
  Ipv4Address group{};          ///< zeros in a general query

  friend constexpr bool operator==(const Igmp&, const Igmp&) = default;
};
template <>
inline constexpr HeaderName kHeader<Igmp>{HeaderId::igmp, "igmp", "IGMP", 8};
template <>
inline constexpr auto kFields<Igmp> =
    FieldList{field<&Igmp::type, 0, 8>("type", FieldFormat::hex, "Type", kIgmpTypeNames),
              field<&Igmp::max_response, 8, 8>("max_response", FieldFormat::decimal, "Max Resp Code"),
              field<&Igmp::checksum, 16, 16>("checksum", FieldFormat::hex, "Checksum"),
              field<&Igmp::group, 32, 32>("group", FieldFormat::ipv4, "Group Address")};

/// IGMPv3 report without its group records, 8 bytes (RFC 3376, 4.2).
struct IgmpReport {
  IgmpType type = IgmpType::report_v3;
  std::uint8_t reserved1{};
  std::uint16_t checksum{};
  std::uint16_t reserved2{};
  std::uint16_t record_count{};

  friend constexpr bool operator==(const IgmpReport&, const IgmpReport&) = default;
};
template <>
inline constexpr HeaderName kHeader<IgmpReport>{HeaderId::igmp_report, "igmp_report", "IGMPv3 report", 8};
template <>
inline constexpr auto kFields<IgmpReport> = FieldList{
    field<&IgmpReport::type, 0, 8>("type", FieldFormat::hex, "Type", kIgmpTypeNames),
    field<&IgmpReport::reserved1, 8, 8>("reserved1", FieldFormat::reserved, "Reserved"),
    field<&IgmpReport::checksum, 16, 16>("checksum", FieldFormat::hex, "Checksum"),
    field<&IgmpReport::reserved2, 32, 16>("reserved2", FieldFormat::reserved, "Reserved"),
    field<&IgmpReport::record_count, 48, 16>("record_count", FieldFormat::decimal, "Number of Group Records")};

/// Types of group records in reports of IGMPv3 and MLDv2 (RFC 3376, 4.2.12; RFC 3810, 5.2.12).
enum class GroupRecordType : std::uint8_t {
  is_include = 1,
  is_exclude = 2,  ///< member, for all sources except those listed
  to_include = 3,  ///< without sources: the group was left
  to_exclude = 4,  ///< without sources: the group was joined
};

inline constexpr std::array kGroupRecordTypeNames{ValueName{1, "is include"}, ValueName{2, "is exclude"},
                                                  ValueName{3, "change to include"}, ValueName{4, "change to exclude"}};

/// Group record of IGMPv3, 8 bytes (RFC 3376, 4.2.4); `source_count` addresses of sources follow.
struct IgmpRecord {
  GroupRecordType type{};
  std::uint8_t auxiliary_length{};  ///< 32-bit words behind the sources
  std::uint16_t source_count{};
  Ipv4Address group{};

  friend constexpr bool operator==(const IgmpRecord&, const IgmpRecord&) = default;
};
template <>
inline constexpr HeaderName kHeader<IgmpRecord>{HeaderId::igmp_record, "igmp_record", "IGMPv3 group record", 8};
template <>
inline constexpr auto kFields<IgmpRecord> =
    FieldList{field<&IgmpRecord::type, 0, 8>("type", FieldFormat::decimal, "Record Type", kGroupRecordTypeNames),
              field<&IgmpRecord::auxiliary_length, 8, 8>("auxiliary_length", FieldFormat::decimal, "Aux Data Len"),
              field<&IgmpRecord::source_count, 16, 16>("source_count", FieldFormat::decimal, "Number of Sources"),
              field<&IgmpRecord::group, 32, 32>("group", FieldFormat::ipv4, "Multicast Address")};

}  // namespace roce
