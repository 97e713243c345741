// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>

#include "roce/wire/ethernet.h"
#include "roce/wire/header.h"

namespace roce {

/// Congestion notification tag without its own EtherType 0x22E9: the flow and the EtherType behind it, 4 bytes (IEEE
/// 802.1Q, 33.2).
struct CnTag {
  std::uint16_t flow_id{};
  EtherType ether_type{};  ///< type of the data that follows

  friend constexpr bool operator==(const CnTag&, const CnTag&) = default;
};
template <>
inline constexpr HeaderName kHeader<CnTag>{HeaderId::cn_tag, "cn_tag", "CN-TAG", 4};
template <>
inline constexpr auto kFields<CnTag> =
    FieldList{field<&CnTag::flow_id, 0, 16>("flow_id", FieldFormat::hex, "Flow ID"),
              field<&CnTag::ether_type, 16, 16>("type", FieldFormat::hex, "EtherType", kEtherTypeNames)};

/// The most bytes of the sampled frame that a CNM carries (IEEE 802.1Q, 33.4).
inline constexpr std::size_t kCnmMaxMsdu = 64;

/// Congestion notification message, the 24 bytes behind EtherType 0x22E7 (IEEE 802.1Q, 33.4); `msdu_length` bytes of
/// the sampled frame, at most 64, follow (W-QCN-1).
struct Cnm {
  std::uint8_t version{};
  std::uint8_t reserved1{};
  std::uint8_t quantized_feedback{};
  std::uint64_t cpid{};
  std::int16_t q_offset{};
  std::int16_t q_delta{};
  std::uint8_t encapsulated_priority{};
  std::uint16_t reserved2{};
  MacAddress encapsulated_destination{};
  std::uint16_t msdu_length{};

  friend constexpr bool operator==(const Cnm&, const Cnm&) = default;
};
template <>
inline constexpr HeaderName kHeader<Cnm>{HeaderId::cnm, "cnm", "CNM", 24};
template <>
inline constexpr auto kFields<Cnm> = FieldList{
    field<&Cnm::version, 0, 4>("version", FieldFormat::decimal, "Version"),
    field<&Cnm::reserved1, 4, 6>("reserved1", FieldFormat::reserved, "Reserved"),
    field<&Cnm::quantized_feedback, 10, 6>("quantized_feedback", FieldFormat::decimal, "Quantized Feedback"),
    field<&Cnm::cpid, 16, 64>("cpid", FieldFormat::hex, "Congestion Point Identifier"),
    field<&Cnm::q_offset, 80, 16>("q_offset", FieldFormat::signed_decimal, "cnmQOffset"),
    field<&Cnm::q_delta, 96, 16>("q_delta", FieldFormat::signed_decimal, "cnmQDelta"),
    field<&Cnm::encapsulated_priority, 112, 3>("encapsulated_priority", FieldFormat::decimal, "Encapsulated priority"),
    field<&Cnm::reserved2, 115, 13>("reserved2", FieldFormat::reserved, "Reserved"),
    field<&Cnm::encapsulated_destination, 128, 48>("encapsulated_destination", FieldFormat::mac,
                                                   "Encapsulated destination MAC address"),
    field<&Cnm::msdu_length, 176, 16>("msdu_length", FieldFormat::decimal, "Encapsulated MSDU length")};

/// Returns the bytes of the sampled frame behind the CNM at the start of `pdu`; the span lives as long as `pdu`.
/// Errors: `truncated` if `pdu` ends inside the CNM or those bytes, `bad_length` if `msdu_length` is above 64.
[[nodiscard]] constexpr Result<Bytes> encapsulated_msdu(Bytes pdu) {
  return parse<Cnm>(pdu).and_then([&](const Cnm& cnm) -> Result<Bytes> {
    const std::size_t left = pdu.size() - kSize<Cnm>;
    const auto error = [&](ParseReason reason, std::size_t needed, std::size_t available) {
      return tl::unexpected(ParseError{reason, HeaderId::cnm, static_cast<std::uint32_t>(kSize<Cnm>),
                                       static_cast<std::uint32_t>(needed), static_cast<std::uint32_t>(available)});
    };
    if (cnm.msdu_length > kCnmMaxMsdu) return error(ParseReason::bad_length, kCnmMaxMsdu, cnm.msdu_length);
    if (cnm.msdu_length > left) return error(ParseReason::truncated, cnm.msdu_length, left);
    return pdu.subspan(kSize<Cnm>, cnm.msdu_length);
  });
}

}  // namespace roce
