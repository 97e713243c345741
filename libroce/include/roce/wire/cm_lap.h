// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// Load alternate path, the 232 bytes after the MAD header (IBTA vol. 1, table 115).
struct CmLap {
  CommId local_comm_id{};   ///< the sender's
  CommId remote_comm_id{};  ///< the receiver's
  std::uint32_t reserved1{};
  Qpn remote_qpn{};                           ///< the receiver's
  std::uint8_t remote_cm_response_timeout{};  ///< 4.096 µs × 2^n
  std::uint8_t reserved2{};
  std::uint32_t reserved3{};
  std::uint16_t alternate_local_lid{};
  std::uint16_t alternate_remote_lid{};
  Gid alternate_local_gid{};  ///< GID of the message's sender
  Gid alternate_remote_gid{};
  std::uint32_t alternate_flow_label{};
  std::uint8_t alternate_reserved1{};
  std::uint8_t alternate_traffic_class{};
  std::uint8_t alternate_hop_limit{};
  std::uint8_t alternate_reserved2{};
  PacketRate alternate_packet_rate{};
  std::uint8_t alternate_sl{};
  bool alternate_subnet_local{};
  std::uint8_t alternate_reserved3{};
  std::uint8_t alternate_local_ack_timeout{};  ///< 4.096 µs × 2^n; 0: none
  std::uint8_t alternate_reserved4{};
  std::array<std::byte, 168> private_data{};

  friend constexpr bool operator==(const CmLap&, const CmLap&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmLap>{HeaderId::cm_lap, "cm_lap", "CM LAP", 232};
template <>
inline constexpr auto kFields<CmLap> = FieldList{
    field<&CmLap::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
    field<&CmLap::remote_comm_id, 32, 32>("remote_comm_id", FieldFormat::hex, "Remote Communication ID"),
    field<&CmLap::reserved1, 64, 32>("reserved1", FieldFormat::reserved, "Reserved"),
    field<&CmLap::remote_qpn, 96, 24>("remote_qpn", FieldFormat::hex, "Remote QPN"),
    field<&CmLap::remote_cm_response_timeout, 120, 5>("remote_cm_response_timeout", FieldFormat::decimal,
                                                      "Remote CM Response Timeout"),
    field<&CmLap::reserved2, 125, 3>("reserved2", FieldFormat::reserved, "Reserved"),
    field<&CmLap::reserved3, 128, 32>("reserved3", FieldFormat::reserved, "Reserved"),
    field<&CmLap::alternate_local_lid, 160, 16>("alternate_local_lid", FieldFormat::hex, "Alternate Local Port LID"),
    field<&CmLap::alternate_remote_lid, 176, 16>("alternate_remote_lid", FieldFormat::hex, "Alternate Remote Port LID"),
    field<&CmLap::alternate_local_gid, 192, 128>("alternate_local_gid", FieldFormat::gid, "Alternate Local Port GID"),
    field<&CmLap::alternate_remote_gid, 320, 128>("alternate_remote_gid", FieldFormat::gid,
                                                  "Alternate Remote Port GID"),
    field<&CmLap::alternate_flow_label, 448, 20>("alternate_flow_label", FieldFormat::hex, "Alternate Flow Label"),
    field<&CmLap::alternate_reserved1, 468, 4>("alternate_reserved1", FieldFormat::reserved, "Alternate Reserved"),
    field<&CmLap::alternate_traffic_class, 472, 8>("alternate_traffic_class", FieldFormat::hex,
                                                   "Alternate Traffic Class"),
    field<&CmLap::alternate_hop_limit, 480, 8>("alternate_hop_limit", FieldFormat::decimal, "Alternate Hop Limit"),
    field<&CmLap::alternate_reserved2, 488, 2>("alternate_reserved2", FieldFormat::reserved, "Alternate Reserved"),
    field<&CmLap::alternate_packet_rate, 490, 6>("alternate_packet_rate", FieldFormat::decimal, "Alternate Packet Rate",
                                                 kPacketRateNames),
    field<&CmLap::alternate_sl, 496, 4>("alternate_sl", FieldFormat::decimal, "Alternate SL"),
    field<&CmLap::alternate_subnet_local, 500, 1>("alternate_subnet_local", FieldFormat::boolean,
                                                  "Alternate Subnet Local"),
    field<&CmLap::alternate_reserved3, 501, 3>("alternate_reserved3", FieldFormat::reserved, "Alternate Reserved"),
    field<&CmLap::alternate_local_ack_timeout, 504, 5>("alternate_local_ack_timeout", FieldFormat::decimal,
                                                       "Alternate Local ACK Timeout"),
    field<&CmLap::alternate_reserved4, 509, 3>("alternate_reserved4", FieldFormat::reserved, "Alternate Reserved"),
    field<&CmLap::private_data, 512, 1344>("private_data", FieldFormat::bytes, "Private Data")};

/// Alternate path response, the 232 bytes after the MAD header (IBTA vol. 1, table 116).
struct CmApr {
  CommId local_comm_id{};      ///< the sender's
  CommId remote_comm_id{};     ///< the receiver's
  std::uint8_t info_length{};  ///< valid bytes in `info`
  CmAprStatus status{};
  std::uint16_t reserved{};
  std::array<std::byte, 72> info{};
  std::array<std::byte, 148> private_data{};

  friend constexpr bool operator==(const CmApr&, const CmApr&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmApr>{HeaderId::cm_apr, "cm_apr", "CM APR", 232};
template <>
inline constexpr auto kFields<CmApr> =
    FieldList{field<&CmApr::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
              field<&CmApr::remote_comm_id, 32, 32>("remote_comm_id", FieldFormat::hex, "Remote Communication ID"),
              field<&CmApr::info_length, 64, 8>("info_length", FieldFormat::decimal, "Additional Information Length"),
              field<&CmApr::status, 72, 8>("status", FieldFormat::decimal, "AP Status", kCmAprStatusNames),
              field<&CmApr::reserved, 80, 16>("reserved", FieldFormat::reserved, "Reserved"),
              field<&CmApr::info, 96, 576>("info", FieldFormat::bytes, "Additional Information"),
              field<&CmApr::private_data, 672, 1184>("private_data", FieldFormat::bytes, "Private Data")};

}  // namespace roce
