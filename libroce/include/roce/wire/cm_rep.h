// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// Reply to a request for communication, the 232 bytes after the MAD header (IBTA vol. 1, table 110). The vendor ID of
/// Enhanced Connection Establishment is spread over three bytes.
struct CmRep {
  CommId local_comm_id{};   ///< the sender's
  CommId remote_comm_id{};  ///< the receiver's
  QKey local_q_key{};       ///< 0 for RC
  Qpn local_qpn{};
  std::uint8_t vendor_id_high{};
  Eecn local_eecn{};  ///< for XRC the target QPN
  std::uint8_t vendor_id_middle{};
  Psn starting_psn{};  ///< the first PSN the sender expects to receive
  std::uint8_t vendor_id_low{};
  std::uint8_t responder_resources{};
  std::uint8_t initiator_depth{};
  std::uint8_t target_ack_delay{};  ///< 4.096 µs × 2^n
  CmFailover failover_accepted{};
  bool flow_control{};
  std::uint8_t rnr_retry_count{};
  bool srq{};
  std::uint8_t reserved{};
  std::uint64_t local_ca_guid{};
  std::array<std::byte, 196> private_data{};

  friend constexpr bool operator==(const CmRep&, const CmRep&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmRep>{HeaderId::cm_rep, "cm_rep", "CM REP", 232};
template <>
inline constexpr auto kFields<CmRep> = FieldList{
    field<&CmRep::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
    field<&CmRep::remote_comm_id, 32, 32>("remote_comm_id", FieldFormat::hex, "Remote Communication ID"),
    field<&CmRep::local_q_key, 64, 32>("local_q_key", FieldFormat::hex, "Local Q_Key"),
    field<&CmRep::local_qpn, 96, 24>("local_qpn", FieldFormat::hex, "Local QPN"),
    field<&CmRep::vendor_id_high, 120, 8>("vendor_id_high", FieldFormat::hex, "Vendor ID, bits 23 to 16"),
    field<&CmRep::local_eecn, 128, 24>("local_eecn", FieldFormat::hex, "Local EE Context Number"),
    field<&CmRep::vendor_id_middle, 152, 8>("vendor_id_middle", FieldFormat::hex, "Vendor ID, bits 15 to 8"),
    field<&CmRep::starting_psn, 160, 24>("starting_psn", FieldFormat::decimal, "Starting PSN"),
    field<&CmRep::vendor_id_low, 184, 8>("vendor_id_low", FieldFormat::hex, "Vendor ID, bits 7 to 0"),
    field<&CmRep::responder_resources, 192, 8>("responder_resources", FieldFormat::decimal, "Responder Resources"),
    field<&CmRep::initiator_depth, 200, 8>("initiator_depth", FieldFormat::decimal, "Initiator Depth"),
    field<&CmRep::target_ack_delay, 208, 5>("target_ack_delay", FieldFormat::decimal, "Target ACK Delay"),
    field<&CmRep::failover_accepted, 213, 2>("failover_accepted", FieldFormat::decimal, "Failover Accepted",
                                             kCmFailoverNames),
    field<&CmRep::flow_control, 215, 1>("flow_control", FieldFormat::boolean, "End-to-End Flow Control"),
    field<&CmRep::rnr_retry_count, 216, 3>("rnr_retry_count", FieldFormat::decimal, "RNR Retry Count"),
    field<&CmRep::srq, 219, 1>("srq", FieldFormat::boolean, "SRQ"),
    field<&CmRep::reserved, 220, 4>("reserved", FieldFormat::reserved, "Reserved"),
    field<&CmRep::local_ca_guid, 224, 64>("local_ca_guid", FieldFormat::hex, "Local CA GUID"),
    field<&CmRep::private_data, 288, 1568>("private_data", FieldFormat::bytes, "Private Data")};

}  // namespace roce
