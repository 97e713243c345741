// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

#include "roce/wire/header.h"
#include "roce/wire/opcode.h"

namespace roce {

/// Base Transport Header, 12 bytes (IBTA vol. 1, 9.2; FECN and BECN: annex A17; W-BTH-1, reserved bits are kept).
struct Bth {
  Opcode opcode{};
  bool solicited{};          ///< SE
  bool mig_req{};            ///< M; RNICs send 1 (migrated), Soft-RoCE 0
  std::uint8_t pad_count{};  ///< 0…3 bytes between payload and ICRC
  std::uint8_t version{};    ///< TVer, 0
  PKey p_key = kDefaultPKey;
  bool fecn{};
  bool becn{};
  std::uint8_t reserved1{};  ///< the low six bits of resv8a, not covered by the ICRC
  Qpn dest_qp{};
  bool ack_req{};            ///< A
  std::uint8_t reserved2{};  ///< seven bits, covered by the ICRC
  Psn psn{};

  friend constexpr bool operator==(const Bth&, const Bth&) = default;
};
template <>
inline constexpr HeaderName kHeader<Bth>{HeaderId::bth, "bth", "BTH", 12};
template <>
inline constexpr auto kFields<Bth> =
    FieldList{field<&Bth::opcode, 0, 8>("opcode", FieldFormat::hex, "Opcode", kOpcodeNames),
              field<&Bth::solicited, 8, 1>("se", FieldFormat::boolean, "Solicited Event"),
              field<&Bth::mig_req, 9, 1>("mig_req", FieldFormat::boolean, "MigReq"),
              field<&Bth::pad_count, 10, 2>("pad_count", FieldFormat::decimal, "Pad Count"),
              field<&Bth::version, 12, 4>("tver", FieldFormat::decimal, "Transport Header Version"),
              field<&Bth::p_key, 16, 16>("p_key", FieldFormat::hex, "Partition Key"),
              field<&Bth::fecn, 32, 1>("fecn", FieldFormat::boolean, "FECN"),
              field<&Bth::becn, 33, 1>("becn", FieldFormat::boolean, "BECN"),
              field<&Bth::reserved1, 34, 6>("reserved1", FieldFormat::reserved, "Reserved"),
              field<&Bth::dest_qp, 40, 24>("dest_qp", FieldFormat::hex, "Destination QP"),
              field<&Bth::ack_req, 64, 1>("ack_req", FieldFormat::boolean, "Acknowledge Request"),
              field<&Bth::reserved2, 65, 7>("reserved2", FieldFormat::reserved, "Reserved"),
              field<&Bth::psn, 72, 24>("psn", FieldFormat::decimal, "Packet Sequence Number")};

}  // namespace roce
