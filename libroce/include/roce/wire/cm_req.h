// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// Request for communication, the 232 bytes after the MAD header (IBTA vol. 1, table 106). With an RDMA IP CM service
/// ID the private data starts with a `Cma`. There is an alternate path when its local LID is not 0.
struct CmReq {
  CommId local_comm_id{};  ///< the sender's
  std::uint8_t reserved1{};
  std::uint32_t vendor_id{};  ///< for Enhanced Connection Establishment, else 0
  ServiceId service_id{};
  std::uint64_t local_ca_guid{};
  std::uint32_t reserved2{};
  QKey local_q_key{};  ///< 0 for RC
  Qpn local_qpn{};
  std::uint8_t responder_resources{};
  Eecn local_eecn{};
  std::uint8_t initiator_depth{};
  Eecn remote_eecn{};
  std::uint8_t remote_cm_response_timeout{};  ///< 4.096 µs × 2^n
  CmTransportService transport_service{};
  bool flow_control{};
  Psn starting_psn{};                        ///< the first PSN the sender expects to receive
  std::uint8_t local_cm_response_timeout{};  ///< 4.096 µs × 2^n
  std::uint8_t retry_count{};
  PKey p_key = kDefaultPKey;
  PathMtu path_mtu{};
  bool rdc_exists{};
  std::uint8_t rnr_retry_count{};
  std::uint8_t max_cm_retries{};
  bool srq{};
  CmExtendedTransport extended_transport{};  ///< valid if `transport_service` is `extended`
  std::uint16_t primary_local_lid{};
  std::uint16_t primary_remote_lid{};
  Gid primary_local_gid{};  ///< GID of the message's sender
  Gid primary_remote_gid{};
  std::uint32_t primary_flow_label{};
  std::uint8_t primary_reserved1{};
  PacketRate primary_packet_rate{};
  std::uint8_t primary_traffic_class{};
  std::uint8_t primary_hop_limit{};
  std::uint8_t primary_sl{};
  bool primary_subnet_local{};
  std::uint8_t primary_reserved2{};
  std::uint8_t primary_local_ack_timeout{};  ///< 4.096 µs × 2^n; 0: none
  std::uint8_t primary_reserved3{};
  std::uint16_t alternate_local_lid{};
  std::uint16_t alternate_remote_lid{};
  Gid alternate_local_gid{};  ///< GID of the message's sender
  Gid alternate_remote_gid{};
  std::uint32_t alternate_flow_label{};
  std::uint8_t alternate_reserved1{};
  PacketRate alternate_packet_rate{};
  std::uint8_t alternate_traffic_class{};
  std::uint8_t alternate_hop_limit{};
  std::uint8_t alternate_sl{};
  bool alternate_subnet_local{};
  std::uint8_t alternate_reserved2{};
  std::uint8_t alternate_local_ack_timeout{};  ///< 4.096 µs × 2^n; 0: none
  bool alternate_sap_supported{};
  std::uint8_t alternate_reserved3{};
  std::array<std::byte, 92> private_data{};

  friend constexpr bool operator==(const CmReq&, const CmReq&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmReq>{HeaderId::cm_req, "cm_req", "CM REQ", 232};
template <>
inline constexpr auto kFields<CmReq> = FieldList{
    field<&CmReq::local_comm_id, 0, 32>("local_comm_id", FieldFormat::hex, "Local Communication ID"),
    field<&CmReq::reserved1, 32, 8>("reserved1", FieldFormat::reserved, "Reserved"),
    field<&CmReq::vendor_id, 40, 24>("vendor_id", FieldFormat::hex, "Vendor ID"),
    field<&CmReq::service_id, 64, 64>("service_id", FieldFormat::hex, "Service ID"),
    field<&CmReq::local_ca_guid, 128, 64>("local_ca_guid", FieldFormat::hex, "Local CA GUID"),
    field<&CmReq::reserved2, 192, 32>("reserved2", FieldFormat::reserved, "Reserved"),
    field<&CmReq::local_q_key, 224, 32>("local_q_key", FieldFormat::hex, "Local Q_Key"),
    field<&CmReq::local_qpn, 256, 24>("local_qpn", FieldFormat::hex, "Local QPN"),
    field<&CmReq::responder_resources, 280, 8>("responder_resources", FieldFormat::decimal, "Responder Resources"),
    field<&CmReq::local_eecn, 288, 24>("local_eecn", FieldFormat::hex, "Local EECN"),
    field<&CmReq::initiator_depth, 312, 8>("initiator_depth", FieldFormat::decimal, "Initiator Depth"),
    field<&CmReq::remote_eecn, 320, 24>("remote_eecn", FieldFormat::hex, "Remote EECN"),
    field<&CmReq::remote_cm_response_timeout, 344, 5>("remote_cm_response_timeout", FieldFormat::decimal,
                                                      "Remote CM Response Timeout"),
    field<&CmReq::transport_service, 349, 2>("transport_service", FieldFormat::decimal, "Transport Service Type",
                                             kCmTransportServiceNames),
    field<&CmReq::flow_control, 351, 1>("flow_control", FieldFormat::boolean, "End-to-End Flow Control"),
    field<&CmReq::starting_psn, 352, 24>("starting_psn", FieldFormat::decimal, "Starting PSN"),
    field<&CmReq::local_cm_response_timeout, 376, 5>("local_cm_response_timeout", FieldFormat::decimal,
                                                     "Local CM Response Timeout"),
    field<&CmReq::retry_count, 381, 3>("retry_count", FieldFormat::decimal, "Retry Count"),
    field<&CmReq::p_key, 384, 16>("p_key", FieldFormat::hex, "Partition Key"),
    field<&CmReq::path_mtu, 400, 4>("path_mtu", FieldFormat::decimal, "Path Packet Payload MTU", kPathMtuNames),
    field<&CmReq::rdc_exists, 404, 1>("rdc_exists", FieldFormat::boolean, "RDC Exists"),
    field<&CmReq::rnr_retry_count, 405, 3>("rnr_retry_count", FieldFormat::decimal, "RNR Retry Count"),
    field<&CmReq::max_cm_retries, 408, 4>("max_cm_retries", FieldFormat::decimal, "Max CM Retries"),
    field<&CmReq::srq, 412, 1>("srq", FieldFormat::boolean, "SRQ"),
    field<&CmReq::extended_transport, 413, 3>("extended_transport", FieldFormat::decimal, "Extended Transport Type",
                                              kCmExtendedTransportNames),
    field<&CmReq::primary_local_lid, 416, 16>("primary_local_lid", FieldFormat::hex, "Primary Local Port LID"),
    field<&CmReq::primary_remote_lid, 432, 16>("primary_remote_lid", FieldFormat::hex, "Primary Remote Port LID"),
    field<&CmReq::primary_local_gid, 448, 128>("primary_local_gid", FieldFormat::gid, "Primary Local Port GID"),
    field<&CmReq::primary_remote_gid, 576, 128>("primary_remote_gid", FieldFormat::gid, "Primary Remote Port GID"),
    field<&CmReq::primary_flow_label, 704, 20>("primary_flow_label", FieldFormat::hex, "Primary Flow Label"),
    field<&CmReq::primary_reserved1, 724, 6>("primary_reserved1", FieldFormat::reserved, "Primary Reserved"),
    field<&CmReq::primary_packet_rate, 730, 6>("primary_packet_rate", FieldFormat::decimal, "Primary Packet Rate",
                                               kPacketRateNames),
    field<&CmReq::primary_traffic_class, 736, 8>("primary_traffic_class", FieldFormat::hex, "Primary Traffic Class"),
    field<&CmReq::primary_hop_limit, 744, 8>("primary_hop_limit", FieldFormat::decimal, "Primary Hop Limit"),
    field<&CmReq::primary_sl, 752, 4>("primary_sl", FieldFormat::decimal, "Primary SL"),
    field<&CmReq::primary_subnet_local, 756, 1>("primary_subnet_local", FieldFormat::boolean, "Primary Subnet Local"),
    field<&CmReq::primary_reserved2, 757, 3>("primary_reserved2", FieldFormat::reserved, "Primary Reserved"),
    field<&CmReq::primary_local_ack_timeout, 760, 5>("primary_local_ack_timeout", FieldFormat::decimal,
                                                     "Primary Local ACK Timeout"),
    field<&CmReq::primary_reserved3, 765, 3>("primary_reserved3", FieldFormat::reserved, "Primary Reserved"),
    field<&CmReq::alternate_local_lid, 768, 16>("alternate_local_lid", FieldFormat::hex, "Alternate Local Port LID"),
    field<&CmReq::alternate_remote_lid, 784, 16>("alternate_remote_lid", FieldFormat::hex, "Alternate Remote Port LID"),
    field<&CmReq::alternate_local_gid, 800, 128>("alternate_local_gid", FieldFormat::gid, "Alternate Local Port GID"),
    field<&CmReq::alternate_remote_gid, 928, 128>("alternate_remote_gid", FieldFormat::gid,
                                                  "Alternate Remote Port GID"),
    field<&CmReq::alternate_flow_label, 1056, 20>("alternate_flow_label", FieldFormat::hex, "Alternate Flow Label"),
    field<&CmReq::alternate_reserved1, 1076, 6>("alternate_reserved1", FieldFormat::reserved, "Alternate Reserved"),
    field<&CmReq::alternate_packet_rate, 1082, 6>("alternate_packet_rate", FieldFormat::decimal,
                                                  "Alternate Packet Rate", kPacketRateNames),
    field<&CmReq::alternate_traffic_class, 1088, 8>("alternate_traffic_class", FieldFormat::hex,
                                                    "Alternate Traffic Class"),
    field<&CmReq::alternate_hop_limit, 1096, 8>("alternate_hop_limit", FieldFormat::decimal, "Alternate Hop Limit"),
    field<&CmReq::alternate_sl, 1104, 4>("alternate_sl", FieldFormat::decimal, "Alternate SL"),
    field<&CmReq::alternate_subnet_local, 1108, 1>("alternate_subnet_local", FieldFormat::boolean,
                                                   "Alternate Subnet Local"),
    field<&CmReq::alternate_reserved2, 1109, 3>("alternate_reserved2", FieldFormat::reserved, "Alternate Reserved"),
    field<&CmReq::alternate_local_ack_timeout, 1112, 5>("alternate_local_ack_timeout", FieldFormat::decimal,
                                                        "Alternate Local ACK Timeout"),
    field<&CmReq::alternate_sap_supported, 1117, 1>("alternate_sap_supported", FieldFormat::boolean,
                                                    "Alternate SAP Supported"),
    field<&CmReq::alternate_reserved3, 1118, 2>("alternate_reserved3", FieldFormat::reserved, "Alternate Reserved"),
    field<&CmReq::private_data, 1120, 736>("private_data", FieldFormat::bytes, "Private Data")};

}  // namespace roce
