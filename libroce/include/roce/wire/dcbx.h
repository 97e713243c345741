// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/dcbx_ets.h"
#include "roce/wire/header.h"

namespace roce {

/// PFC configuration, 2 bytes behind OUI and subtype 11 (IEEE 802.1Q, D.2.11).
struct DcbxPfc {
  bool willing{};
  bool mbc{};
  std::uint8_t reserved{};
  std::uint8_t capability{};  ///< priorities that can be enabled at once
  bool enable7{};
  bool enable6{};
  bool enable5{};
  bool enable4{};
  bool enable3{};
  bool enable2{};
  bool enable1{};
  bool enable0{};

  /// True if PFC is enabled for `priority` (0…7).
  [[nodiscard]] constexpr bool enabled(unsigned priority) const {
    constexpr std::array<bool DcbxPfc::*, 8> kMembers{&DcbxPfc::enable0, &DcbxPfc::enable1, &DcbxPfc::enable2,
                                                      &DcbxPfc::enable3, &DcbxPfc::enable4, &DcbxPfc::enable5,
                                                      &DcbxPfc::enable6, &DcbxPfc::enable7};
    return this->*kMembers[priority];
  }
  /// Returns the priorities for which PFC is enabled: bit p is priority p.
  [[nodiscard]] constexpr std::uint8_t priorities() const {
    unsigned bits = 0;
    for (unsigned priority = 0; priority < 8; ++priority) bits |= enabled(priority) ? 1U << priority : 0U;
    return static_cast<std::uint8_t>(bits);
  }
  /// Enables or disables PFC for `priority` (0…7).
  constexpr void set(unsigned priority, bool enable) {
    constexpr std::array<bool DcbxPfc::*, 8> kMembers{&DcbxPfc::enable0, &DcbxPfc::enable1, &DcbxPfc::enable2,
                                                      &DcbxPfc::enable3, &DcbxPfc::enable4, &DcbxPfc::enable5,
                                                      &DcbxPfc::enable6, &DcbxPfc::enable7};
    this->*kMembers[priority] = enable;
  }

  friend constexpr bool operator==(const DcbxPfc&, const DcbxPfc&) = default;
};
template <>
inline constexpr HeaderName kHeader<DcbxPfc>{HeaderId::dcbx_pfc, "dcbx_pfc", "DCBX PFC configuration", 2};
template <>
inline constexpr auto kFields<DcbxPfc> =
    FieldList{field<&DcbxPfc::willing, 0, 1>("willing", FieldFormat::boolean, "Willing"),
              field<&DcbxPfc::mbc, 1, 1>("mbc", FieldFormat::boolean, "MACsec Bypass Capability"),
              field<&DcbxPfc::reserved, 2, 2>("reserved", FieldFormat::reserved, "Reserved"),
              field<&DcbxPfc::capability, 4, 4>("capability", FieldFormat::decimal, "PFC capability"),
              field<&DcbxPfc::enable7, 8, 1>("enable7", FieldFormat::boolean, "PFC enabled for priority 7"),
              field<&DcbxPfc::enable6, 9, 1>("enable6", FieldFormat::boolean, "PFC enabled for priority 6"),
              field<&DcbxPfc::enable5, 10, 1>("enable5", FieldFormat::boolean, "PFC enabled for priority 5"),
              field<&DcbxPfc::enable4, 11, 1>("enable4", FieldFormat::boolean, "PFC enabled for priority 4"),
              field<&DcbxPfc::enable3, 12, 1>("enable3", FieldFormat::boolean, "PFC enabled for priority 3"),
              field<&DcbxPfc::enable2, 13, 1>("enable2", FieldFormat::boolean, "PFC enabled for priority 2"),
              field<&DcbxPfc::enable1, 14, 1>("enable1", FieldFormat::boolean, "PFC enabled for priority 1"),
              field<&DcbxPfc::enable0, 15, 1>("enable0", FieldFormat::boolean, "PFC enabled for priority 0")};

/// The start of an application priority TLV, 1 byte behind OUI and subtype 12; any number of `DcbxAppEntry` follow
/// (IEEE 802.1Q, D.2.12).
struct DcbxApp {
  std::uint8_t reserved{};

  friend constexpr bool operator==(const DcbxApp&, const DcbxApp&) = default;
};
template <>
inline constexpr HeaderName kHeader<DcbxApp>{HeaderId::dcbx_app, "dcbx_app", "DCBX application priorities", 1};
template <>
inline constexpr auto kFields<DcbxApp> =
    FieldList{field<&DcbxApp::reserved, 0, 8>("reserved", FieldFormat::reserved, "Reserved")};

/// The kind of number in the protocol field of a `DcbxAppEntry` (IEEE 802.1Q, D.2.12).
enum class DcbxSelector : std::uint8_t { ether_type = 1, tcp_port = 2, udp_port = 3, tcp_or_udp_port = 4, dscp = 5 };

inline constexpr std::array kDcbxSelectorNames{ValueName{1, "EtherType"}, ValueName{2, "TCP port"},
                                               ValueName{3, "UDP port"}, ValueName{4, "TCP or UDP port"},
                                               ValueName{5, "DSCP"}};

/// One application priority, 3 bytes. RoCE v1 is EtherType 0x8915, RoCE v2 UDP port 4791.
struct DcbxAppEntry {
  std::uint8_t priority{};
  std::uint8_t reserved{};
  DcbxSelector selector{};
  std::uint16_t protocol{};

  friend constexpr bool operator==(const DcbxAppEntry&, const DcbxAppEntry&) = default;
};
template <>
inline constexpr HeaderName kHeader<DcbxAppEntry>{HeaderId::dcbx_app_entry, "dcbx_app_entry",
                                                  "DCBX application priority", 3};
template <>
inline constexpr auto kFields<DcbxAppEntry> =
    FieldList{field<&DcbxAppEntry::priority, 0, 3>("priority", FieldFormat::decimal, "Priority"),
              field<&DcbxAppEntry::reserved, 3, 2>("reserved", FieldFormat::reserved, "Reserved"),
              field<&DcbxAppEntry::selector, 5, 3>("selector", FieldFormat::decimal, "Selector", kDcbxSelectorNames),
              field<&DcbxAppEntry::protocol, 8, 16>("protocol", FieldFormat::decimal, "Protocol ID")};

}  // namespace roce
