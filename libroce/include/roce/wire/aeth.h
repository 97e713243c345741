// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "roce/wire/header.h"

namespace roce {

/// The kind of an AETH: bits 6 and 5 of the syndrome (IBTA vol. 1, 9.7.5.2.1). Bit 7 is reserved.
enum class AethKind : std::uint8_t { ack = 0, rnr_nak = 1, reserved = 2, nak = 3 };

/// The reason why a request was refused (IBTA vol. 1, 9.7.5.2.8).
enum class NakCode : std::uint8_t {
  psn_sequence_error = 0,
  invalid_request = 1,
  remote_access_error = 2,
  remote_operational_error = 3,
  invalid_rd_request = 4,
};

namespace detail {

/// End-to-end credits of the credit codes 0…30 (IBTA vol. 1, table 47).
inline constexpr std::array<std::uint16_t, 31> kCreditCounts{
    0,   1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,  192,
    256, 384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};

/// RNR NAK timer codes in units of 10 microseconds (IBTA vol. 1, table 45).
inline constexpr std::array<std::uint32_t, 32> kRnrTimers{
    65536, 1,   2,   3,   4,    6,    8,    12,   16,   24,   32,   48,    64,    96,    128,   192,
    256,   384, 512, 768, 1024, 1536, 2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768, 49152};

}  // namespace detail

/// The syndrome byte of an AETH (W-AETH-1: credit codes, RNR timers, NAK codes). Every byte value is kept as received.
class AethSyndrome {
 public:
  using rep = std::uint8_t;

  constexpr AethSyndrome() = default;
  constexpr explicit AethSyndrome(std::uint8_t value) : value_(value) {}

  /// Makes an ACK without end-to-end credits, 0x1F.
  [[nodiscard]] static constexpr AethSyndrome ack() { return AethSyndrome{0x1F}; }
  /// Makes an ACK with a credit code of 0…30.
  [[nodiscard]] static constexpr AethSyndrome ack_with_credits(std::uint8_t code) {
    return AethSyndrome{static_cast<std::uint8_t>(code & 0x1F)};
  }
  /// Makes an RNR NAK with a timer code of 0…31.
  [[nodiscard]] static constexpr AethSyndrome rnr_nak(std::uint8_t timer_code) {
    return AethSyndrome{static_cast<std::uint8_t>(0x20 | (timer_code & 0x1F))};
  }
  [[nodiscard]] static constexpr AethSyndrome nak(NakCode code) {
    return AethSyndrome{static_cast<std::uint8_t>(0x60 | static_cast<std::uint8_t>(code))};
  }

  [[nodiscard]] constexpr std::uint8_t value() const { return value_; }
  [[nodiscard]] constexpr AethKind kind() const { return static_cast<AethKind>(value_ >> 5 & 3); }
  [[nodiscard]] constexpr std::uint8_t code() const { return value_ & 0x1F; }

  /// Returns the end-to-end credits granted by an ACK; empty if it grants no count (code 31) or is not an ACK.
  [[nodiscard]] constexpr std::optional<std::uint16_t> credits() const {
    if (kind() != AethKind::ack || code() == 31) return std::nullopt;
    return detail::kCreditCounts[code()];
  }
  /// Returns the least time that the requester has to wait; empty if this is not an RNR NAK.
  [[nodiscard]] constexpr std::optional<std::chrono::microseconds> rnr_timer() const {
    if (kind() != AethKind::rnr_nak) return std::nullopt;
    return std::chrono::microseconds{detail::kRnrTimers[code()] * 10};
  }
  /// Returns the NAK code; empty if this is not a NAK or the code is reserved.
  [[nodiscard]] constexpr std::optional<NakCode> nak_code() const {
    if (kind() != AethKind::nak || code() > 4) return std::nullopt;
    return static_cast<NakCode>(code());
  }

  friend constexpr bool operator==(AethSyndrome, AethSyndrome) = default;

 private:
  std::uint8_t value_ = 0x1F;
};

/// Returns a text: `ACK`, `ACK credits=8`, `RNR NAK 0.64 ms`, `NAK PSN sequence error`.
[[nodiscard]] std::string to_string(AethSyndrome syndrome);

inline constexpr std::array kSyndromeNames{ValueName{0x1F, "ACK"},
                                           ValueName{0x60, "NAK PSN sequence error"},
                                           ValueName{0x61, "NAK invalid request"},
                                           ValueName{0x62, "NAK remote access error"},
                                           ValueName{0x63, "NAK remote operational error"},
                                           ValueName{0x64, "NAK invalid RD request"}};

/// ACK Extended Transport Header, 4 bytes (IBTA vol. 1, 9.3.5).
struct Aeth {
  AethSyndrome syndrome{};
  Msn msn{};

  friend constexpr bool operator==(const Aeth&, const Aeth&) = default;
};
template <>
inline constexpr HeaderName kHeader<Aeth>{HeaderId::aeth, "aeth", "AETH", 4};
template <>
inline constexpr auto kFields<Aeth> =
    FieldList{field<&Aeth::syndrome, 0, 8>("syndrome", FieldFormat::hex, "Syndrome", kSyndromeNames),
              field<&Aeth::msn, 8, 24>("msn", FieldFormat::decimal, "Message Sequence Number")};

}  // namespace roce
