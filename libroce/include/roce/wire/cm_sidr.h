// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "roce/wire/cm_types.h"
#include "roce/wire/header.h"

namespace roce {

/// Service ID resolution request, the 232 bytes after the MAD header (IBTA vol. 1, table 119). With an RDMA IP CM
/// service ID the private data starts with a `Cma`.
struct CmSidrReq {
  std::uint32_t request_id{};
  PKey p_key = kDefaultPKey;
  std::uint16_t reserved{};
  ServiceId service_id{};
  std::array<std::byte, 216> private_data{};

  friend constexpr bool operator==(const CmSidrReq&, const CmSidrReq&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmSidrReq>{HeaderId::cm_sidr_req, "cm_sidr_req", "CM SIDR_REQ", 232};
template <>
inline constexpr auto kFields<CmSidrReq> =
    FieldList{field<&CmSidrReq::request_id, 0, 32>("request_id", FieldFormat::hex, "Request ID"),
              field<&CmSidrReq::p_key, 32, 16>("p_key", FieldFormat::hex, "Partition Key"),
              field<&CmSidrReq::reserved, 48, 16>("reserved", FieldFormat::reserved, "Reserved"),
              field<&CmSidrReq::service_id, 64, 64>("service_id", FieldFormat::hex, "Service ID"),
              field<&CmSidrReq::private_data, 128, 1728>("private_data", FieldFormat::bytes, "Private Data")};

/// Service ID resolution response, the 232 bytes after the MAD header (IBTA vol. 1, table 120).
struct CmSidrRep {
  std::uint32_t request_id{};
  CmSidrStatus status{};
  std::uint8_t info_length{};  ///< valid bytes in `info`
  std::uint16_t vendor_id_high{};
  Qpn qpn{};
  std::uint8_t vendor_id_low{};
  ServiceId service_id{};
  QKey q_key{};
  std::array<std::byte, 72> info{};
  std::array<std::byte, 136> private_data{};

  friend constexpr bool operator==(const CmSidrRep&, const CmSidrRep&) = default;
};
template <>
inline constexpr HeaderName kHeader<CmSidrRep>{HeaderId::cm_sidr_rep, "cm_sidr_rep", "CM SIDR_REP", 232};
template <>
inline constexpr auto kFields<CmSidrRep> = FieldList{
    field<&CmSidrRep::request_id, 0, 32>("request_id", FieldFormat::hex, "Request ID"),
    field<&CmSidrRep::status, 32, 8>("status", FieldFormat::decimal, "Status", kCmSidrStatusNames),
    field<&CmSidrRep::info_length, 40, 8>("info_length", FieldFormat::decimal, "Additional Information Length"),
    field<&CmSidrRep::vendor_id_high, 48, 16>("vendor_id_high", FieldFormat::hex, "Vendor ID, bits 23 to 8"),
    field<&CmSidrRep::qpn, 64, 24>("qpn", FieldFormat::hex, "QPN"),
    field<&CmSidrRep::vendor_id_low, 88, 8>("vendor_id_low", FieldFormat::hex, "Vendor ID, bits 7 to 0"),
    field<&CmSidrRep::service_id, 96, 64>("service_id", FieldFormat::hex, "Service ID"),
    field<&CmSidrRep::q_key, 160, 32>("q_key", FieldFormat::hex, "Q_Key"),
    field<&CmSidrRep::info, 192, 576>("info", FieldFormat::bytes, "Additional Information"),
    field<&CmSidrRep::private_data, 768, 1088>("private_data", FieldFormat::bytes, "Private Data")};

}  // namespace roce
