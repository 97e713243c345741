// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// Transmission selection algorithm of a traffic class (IEEE 802.1Q, 8.6.8).
enum class DcbxTsa : std::uint8_t { strict_priority = 0, credit_based = 1, ets = 2, vendor = 255 };

inline constexpr std::array kDcbxTsaNames{ValueName{0, "strict priority"}, ValueName{1, "credit-based shaper"},
                                          ValueName{2, "ETS"}, ValueName{255, "vendor specific"}};

/// ETS configuration, 21 bytes behind OUI and subtype 9 (IEEE 802.1Q, D.2.9).
struct DcbxEts {
  bool willing{};
  bool cbs{};
  std::uint8_t reserved{};
  std::uint8_t max_tcs{};  ///< 0 means 8
  std::uint8_t prio0_tc{};
  std::uint8_t prio1_tc{};
  std::uint8_t prio2_tc{};
  std::uint8_t prio3_tc{};
  std::uint8_t prio4_tc{};
  std::uint8_t prio5_tc{};
  std::uint8_t prio6_tc{};
  std::uint8_t prio7_tc{};
  std::uint8_t tc0_bandwidth{};
  std::uint8_t tc1_bandwidth{};
  std::uint8_t tc2_bandwidth{};
  std::uint8_t tc3_bandwidth{};
  std::uint8_t tc4_bandwidth{};
  std::uint8_t tc5_bandwidth{};
  std::uint8_t tc6_bandwidth{};
  std::uint8_t tc7_bandwidth{};
  DcbxTsa tc0_tsa{};
  DcbxTsa tc1_tsa{};
  DcbxTsa tc2_tsa{};
  DcbxTsa tc3_tsa{};
  DcbxTsa tc4_tsa{};
  DcbxTsa tc5_tsa{};
  DcbxTsa tc6_tsa{};
  DcbxTsa tc7_tsa{};

  /// Returns the traffic class of `priority` (0…7).
  [[nodiscard]] constexpr std::uint8_t traffic_class(unsigned priority) const {
    constexpr std::array<std::uint8_t DcbxEts::*, 8> kMembers{
        &DcbxEts::prio0_tc, &DcbxEts::prio1_tc, &DcbxEts::prio2_tc, &DcbxEts::prio3_tc,
        &DcbxEts::prio4_tc, &DcbxEts::prio5_tc, &DcbxEts::prio6_tc, &DcbxEts::prio7_tc};
    return this->*kMembers[priority];
  }
  /// Returns the bandwidth of traffic class `tc` (0…7) in percent.
  [[nodiscard]] constexpr std::uint8_t bandwidth(unsigned tc) const {
    constexpr std::array<std::uint8_t DcbxEts::*, 8> kMembers{
        &DcbxEts::tc0_bandwidth, &DcbxEts::tc1_bandwidth, &DcbxEts::tc2_bandwidth, &DcbxEts::tc3_bandwidth,
        &DcbxEts::tc4_bandwidth, &DcbxEts::tc5_bandwidth, &DcbxEts::tc6_bandwidth, &DcbxEts::tc7_bandwidth};
    return this->*kMembers[tc];
  }
  /// Returns the algorithm that selects traffic class `tc` (0…7) for transmission.
  [[nodiscard]] constexpr DcbxTsa tsa(unsigned tc) const {
    constexpr std::array<DcbxTsa DcbxEts::*, 8> kMembers{&DcbxEts::tc0_tsa, &DcbxEts::tc1_tsa, &DcbxEts::tc2_tsa,
                                                         &DcbxEts::tc3_tsa, &DcbxEts::tc4_tsa, &DcbxEts::tc5_tsa,
                                                         &DcbxEts::tc6_tsa, &DcbxEts::tc7_tsa};
    return this->*kMembers[tc];
  }
  /// Puts `priority` (0…7) into traffic class `tc` (0…15).
  constexpr void set_traffic_class(unsigned priority, std::uint8_t tc) {
    constexpr std::array<std::uint8_t DcbxEts::*, 8> kMembers{
        &DcbxEts::prio0_tc, &DcbxEts::prio1_tc, &DcbxEts::prio2_tc, &DcbxEts::prio3_tc,
        &DcbxEts::prio4_tc, &DcbxEts::prio5_tc, &DcbxEts::prio6_tc, &DcbxEts::prio7_tc};
    this->*kMembers[priority] = tc;
  }
  /// Gives traffic class `tc` (0…7) a share of the bandwidth in percent.
  constexpr void set_share(unsigned tc, std::uint8_t percent) {
    constexpr std::array<std::uint8_t DcbxEts::*, 8> kBandwidths{
        &DcbxEts::tc0_bandwidth, &DcbxEts::tc1_bandwidth, &DcbxEts::tc2_bandwidth, &DcbxEts::tc3_bandwidth,
        &DcbxEts::tc4_bandwidth, &DcbxEts::tc5_bandwidth, &DcbxEts::tc6_bandwidth, &DcbxEts::tc7_bandwidth};
    constexpr std::array<DcbxTsa DcbxEts::*, 8> kSelections{&DcbxEts::tc0_tsa, &DcbxEts::tc1_tsa, &DcbxEts::tc2_tsa,
                                                            &DcbxEts::tc3_tsa, &DcbxEts::tc4_tsa, &DcbxEts::tc5_tsa,
                                                            &DcbxEts::tc6_tsa, &DcbxEts::tc7_tsa};
    this->*kBandwidths[tc] = percent;
    this->*kSelections[tc] = DcbxTsa::ets;
  }

  friend constexpr bool operator==(const DcbxEts&, const DcbxEts&) = default;
};
template <>
inline constexpr HeaderName kHeader<DcbxEts>{HeaderId::dcbx_ets, "dcbx_ets", "DCBX ETS configuration", 21};
template <>
inline constexpr auto kFields<DcbxEts> =
    FieldList{field<&DcbxEts::willing, 0, 1>("willing", FieldFormat::boolean, "Willing"),
              field<&DcbxEts::cbs, 1, 1>("cbs", FieldFormat::boolean, "Credit-Based Shaper"),
              field<&DcbxEts::reserved, 2, 3>("reserved", FieldFormat::reserved, "Reserved"),
              field<&DcbxEts::max_tcs, 5, 3>("max_tcs", FieldFormat::decimal, "Maximum number of traffic classes"),
              field<&DcbxEts::prio0_tc, 8, 4>("prio0_tc", FieldFormat::decimal, "Traffic class of priority 0"),
              field<&DcbxEts::prio1_tc, 12, 4>("prio1_tc", FieldFormat::decimal, "Traffic class of priority 1"),
              field<&DcbxEts::prio2_tc, 16, 4>("prio2_tc", FieldFormat::decimal, "Traffic class of priority 2"),
              field<&DcbxEts::prio3_tc, 20, 4>("prio3_tc", FieldFormat::decimal, "Traffic class of priority 3"),
              field<&DcbxEts::prio4_tc, 24, 4>("prio4_tc", FieldFormat::decimal, "Traffic class of priority 4"),
              field<&DcbxEts::prio5_tc, 28, 4>("prio5_tc", FieldFormat::decimal, "Traffic class of priority 5"),
              field<&DcbxEts::prio6_tc, 32, 4>("prio6_tc", FieldFormat::decimal, "Traffic class of priority 6"),
              field<&DcbxEts::prio7_tc, 36, 4>("prio7_tc", FieldFormat::decimal, "Traffic class of priority 7"),
              field<&DcbxEts::tc0_bandwidth, 40, 8>("tc0_bandwidth", FieldFormat::decimal,
                                                    "Bandwidth of traffic class 0 in percent"),
              field<&DcbxEts::tc1_bandwidth, 48, 8>("tc1_bandwidth", FieldFormat::decimal,
                                                    "Bandwidth of traffic class 1 in percent"),
              field<&DcbxEts::tc2_bandwidth, 56, 8>("tc2_bandwidth", FieldFormat::decimal,
                                                    "Bandwidth of traffic class 2 in percent"),
              field<&DcbxEts::tc3_bandwidth, 64, 8>("tc3_bandwidth", FieldFormat::decimal,
                                                    "Bandwidth of traffic class 3 in percent"),
              field<&DcbxEts::tc4_bandwidth, 72, 8>("tc4_bandwidth", FieldFormat::decimal,
                                                    "Bandwidth of traffic class 4 in percent"),
              field<&DcbxEts::tc5_bandwidth, 80, 8>("tc5_bandwidth", FieldFormat::decimal,
                                                    "Bandwidth of traffic class 5 in percent"),
              field<&DcbxEts::tc6_bandwidth, 88, 8>("tc6_bandwidth", FieldFormat::decimal,
                                                    "Bandwidth of traffic class 6 in percent"),
              field<&DcbxEts::tc7_bandwidth, 96, 8>("tc7_bandwidth", FieldFormat::decimal,
                                                    "Bandwidth of traffic class 7 in percent"),
              field<&DcbxEts::tc0_tsa, 104, 8>("tc0_tsa", FieldFormat::decimal,
                                               "Transmission selection of traffic class 0", kDcbxTsaNames),
              field<&DcbxEts::tc1_tsa, 112, 8>("tc1_tsa", FieldFormat::decimal,
                                               "Transmission selection of traffic class 1", kDcbxTsaNames),
              field<&DcbxEts::tc2_tsa, 120, 8>("tc2_tsa", FieldFormat::decimal,
                                               "Transmission selection of traffic class 2", kDcbxTsaNames),
              field<&DcbxEts::tc3_tsa, 128, 8>("tc3_tsa", FieldFormat::decimal,
                                               "Transmission selection of traffic class 3", kDcbxTsaNames),
              field<&DcbxEts::tc4_tsa, 136, 8>("tc4_tsa", FieldFormat::decimal,
                                               "Transmission selection of traffic class 4", kDcbxTsaNames),
              field<&DcbxEts::tc5_tsa, 144, 8>("tc5_tsa", FieldFormat::decimal,
                                               "Transmission selection of traffic class 5", kDcbxTsaNames),
              field<&DcbxEts::tc6_tsa, 152, 8>("tc6_tsa", FieldFormat::decimal,
                                               "Transmission selection of traffic class 6", kDcbxTsaNames),
              field<&DcbxEts::tc7_tsa, 160, 8>("tc7_tsa", FieldFormat::decimal,
                                               "Transmission selection of traffic class 7", kDcbxTsaNames)};

/// ETS recommendation, 21 bytes behind OUI and subtype 10 (IEEE 802.1Q, D.2.10).
struct DcbxEtsRecommendation {
  std::uint8_t reserved{};
  std::uint8_t prio0_tc{};
  std::uint8_t prio1_tc{};
  std::uint8_t prio2_tc{};
  std::uint8_t prio3_tc{};
  std::uint8_t prio4_tc{};
  std::uint8_t prio5_tc{};
  std::uint8_t prio6_tc{};
  std::uint8_t prio7_tc{};
  std::uint8_t tc0_bandwidth{};
  std::uint8_t tc1_bandwidth{};
  std::uint8_t tc2_bandwidth{};
  std::uint8_t tc3_bandwidth{};
  std::uint8_t tc4_bandwidth{};
  std::uint8_t tc5_bandwidth{};
  std::uint8_t tc6_bandwidth{};
  std::uint8_t tc7_bandwidth{};
  DcbxTsa tc0_tsa{};
  DcbxTsa tc1_tsa{};
  DcbxTsa tc2_tsa{};
  DcbxTsa tc3_tsa{};
  DcbxTsa tc4_tsa{};
  DcbxTsa tc5_tsa{};
  DcbxTsa tc6_tsa{};
  DcbxTsa tc7_tsa{};

  /// Returns the traffic class of `priority` (0…7).
  [[nodiscard]] constexpr std::uint8_t traffic_class(unsigned priority) const {
    constexpr std::array<std::uint8_t DcbxEtsRecommendation::*, 8> kMembers{
        &DcbxEtsRecommendation::prio0_tc, &DcbxEtsRecommendation::prio1_tc, &DcbxEtsRecommendation::prio2_tc,
        &DcbxEtsRecommendation::prio3_tc, &DcbxEtsRecommendation::prio4_tc, &DcbxEtsRecommendation::prio5_tc,
        &DcbxEtsRecommendation::prio6_tc, &DcbxEtsRecommendation::prio7_tc};
    return this->*kMembers[priority];
  }
  /// Returns the bandwidth of traffic class `tc` (0…7) in percent.
  [[nodiscard]] constexpr std::uint8_t bandwidth(unsigned tc) const {
    constexpr std::array<std::uint8_t DcbxEtsRecommendation::*, 8> kMembers{
        &DcbxEtsRecommendation::tc0_bandwidth, &DcbxEtsRecommendation::tc1_bandwidth,
        &DcbxEtsRecommendation::tc2_bandwidth, &DcbxEtsRecommendation::tc3_bandwidth,
        &DcbxEtsRecommendation::tc4_bandwidth, &DcbxEtsRecommendation::tc5_bandwidth,
        &DcbxEtsRecommendation::tc6_bandwidth, &DcbxEtsRecommendation::tc7_bandwidth};
    return this->*kMembers[tc];
  }
  /// Returns the algorithm that selects traffic class `tc` (0…7) for transmission.
  [[nodiscard]] constexpr DcbxTsa tsa(unsigned tc) const {
    constexpr std::array<DcbxTsa DcbxEtsRecommendation::*, 8> kMembers{
        &DcbxEtsRecommendation::tc0_tsa, &DcbxEtsRecommendation::tc1_tsa, &DcbxEtsRecommendation::tc2_tsa,
        &DcbxEtsRecommendation::tc3_tsa, &DcbxEtsRecommendation::tc4_tsa, &DcbxEtsRecommendation::tc5_tsa,
        &DcbxEtsRecommendation::tc6_tsa, &DcbxEtsRecommendation::tc7_tsa};
    return this->*kMembers[tc];
  }

  friend constexpr bool operator==(const DcbxEtsRecommendation&, const DcbxEtsRecommendation&) = default;
};
template <>
inline constexpr HeaderName kHeader<DcbxEtsRecommendation>{HeaderId::dcbx_ets_recommendation, "dcbx_ets_recommendation",
                                                           "DCBX ETS recommendation", 21};
template <>
inline constexpr auto kFields<DcbxEtsRecommendation> = FieldList{
    field<&DcbxEtsRecommendation::reserved, 0, 8>("reserved", FieldFormat::reserved, "Reserved"),
    field<&DcbxEtsRecommendation::prio0_tc, 8, 4>("prio0_tc", FieldFormat::decimal, "Traffic class of priority 0"),
    field<&DcbxEtsRecommendation::prio1_tc, 12, 4>("prio1_tc", FieldFormat::decimal, "Traffic class of priority 1"),
    field<&DcbxEtsRecommendation::prio2_tc, 16, 4>("prio2_tc", FieldFormat::decimal, "Traffic class of priority 2"),
    field<&DcbxEtsRecommendation::prio3_tc, 20, 4>("prio3_tc", FieldFormat::decimal, "Traffic class of priority 3"),
    field<&DcbxEtsRecommendation::prio4_tc, 24, 4>("prio4_tc", FieldFormat::decimal, "Traffic class of priority 4"),
    field<&DcbxEtsRecommendation::prio5_tc, 28, 4>("prio5_tc", FieldFormat::decimal, "Traffic class of priority 5"),
    field<&DcbxEtsRecommendation::prio6_tc, 32, 4>("prio6_tc", FieldFormat::decimal, "Traffic class of priority 6"),
    field<&DcbxEtsRecommendation::prio7_tc, 36, 4>("prio7_tc", FieldFormat::decimal, "Traffic class of priority 7"),
    field<&DcbxEtsRecommendation::tc0_bandwidth, 40, 8>("tc0_bandwidth", FieldFormat::decimal,
                                                        "Bandwidth of traffic class 0 in percent"),
    field<&DcbxEtsRecommendation::tc1_bandwidth, 48, 8>("tc1_bandwidth", FieldFormat::decimal,
                                                        "Bandwidth of traffic class 1 in percent"),
    field<&DcbxEtsRecommendation::tc2_bandwidth, 56, 8>("tc2_bandwidth", FieldFormat::decimal,
                                                        "Bandwidth of traffic class 2 in percent"),
    field<&DcbxEtsRecommendation::tc3_bandwidth, 64, 8>("tc3_bandwidth", FieldFormat::decimal,
                                                        "Bandwidth of traffic class 3 in percent"),
    field<&DcbxEtsRecommendation::tc4_bandwidth, 72, 8>("tc4_bandwidth", FieldFormat::decimal,
                                                        "Bandwidth of traffic class 4 in percent"),
    field<&DcbxEtsRecommendation::tc5_bandwidth, 80, 8>("tc5_bandwidth", FieldFormat::decimal,
                                                        "Bandwidth of traffic class 5 in percent"),
    field<&DcbxEtsRecommendation::tc6_bandwidth, 88, 8>("tc6_bandwidth", FieldFormat::decimal,
                                                        "Bandwidth of traffic class 6 in percent"),
    field<&DcbxEtsRecommendation::tc7_bandwidth, 96, 8>("tc7_bandwidth", FieldFormat::decimal,
                                                        "Bandwidth of traffic class 7 in percent"),
    field<&DcbxEtsRecommendation::tc0_tsa, 104, 8>("tc0_tsa", FieldFormat::decimal,
                                                   "Transmission selection of traffic class 0", kDcbxTsaNames),
    field<&DcbxEtsRecommendation::tc1_tsa, 112, 8>("tc1_tsa", FieldFormat::decimal,
                                                   "Transmission selection of traffic class 1", kDcbxTsaNames),
    field<&DcbxEtsRecommendation::tc2_tsa, 120, 8>("tc2_tsa", FieldFormat::decimal,
                                                   "Transmission selection of traffic class 2", kDcbxTsaNames),
    field<&DcbxEtsRecommendation::tc3_tsa, 128, 8>("tc3_tsa", FieldFormat::decimal,
                                                   "Transmission selection of traffic class 3", kDcbxTsaNames),
    field<&DcbxEtsRecommendation::tc4_tsa, 136, 8>("tc4_tsa", FieldFormat::decimal,
                                                   "Transmission selection of traffic class 4", kDcbxTsaNames),
    field<&DcbxEtsRecommendation::tc5_tsa, 144, 8>("tc5_tsa", FieldFormat::decimal,
                                                   "Transmission selection of traffic class 5", kDcbxTsaNames),
    field<&DcbxEtsRecommendation::tc6_tsa, 152, 8>("tc6_tsa", FieldFormat::decimal,
                                                   "Transmission selection of traffic class 6", kDcbxTsaNames),
    field<&DcbxEtsRecommendation::tc7_tsa, 160, 8>("tc7_tsa", FieldFormat::decimal,
                                                   "Transmission selection of traffic class 7", kDcbxTsaNames)};

}  // namespace roce
