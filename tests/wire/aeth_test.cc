// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/aeth.h"

#include <gtest/gtest.h>

namespace roce {
namespace {

using std::chrono::microseconds;

TEST(AethSyndrome, GrantsTheCreditsOfItsCode) {
  constexpr std::array<std::uint16_t, 31> kCredits{0,    1,    2,    3,    4,    6,     8,     12,    16,   24,   32,
                                                   48,   64,   96,   128,  192,  256,   384,   512,   768,  1024, 1536,
                                                   2048, 3072, 4096, 6144, 8192, 12288, 16384, 24576, 32768};
  for (std::uint8_t code = 0; code < 31; ++code) {
    const AethSyndrome syndrome{code};
    EXPECT_EQ(syndrome.kind(), AethKind::ack);
    EXPECT_EQ(syndrome.credits(), kCredits[code]) << int{code};
    EXPECT_EQ(syndrome, AethSyndrome::ack_with_credits(code));
    EXPECT_EQ(to_string(syndrome), "ACK credits=" + std::to_string(kCredits[code]));
    EXPECT_EQ(syndrome.rnr_timer(), std::nullopt);
    EXPECT_EQ(syndrome.nak_code(), std::nullopt);
  }
  EXPECT_EQ(AethSyndrome{0x1F}.kind(), AethKind::ack);
  EXPECT_EQ(AethSyndrome{0x1F}.credits(), std::nullopt);
  EXPECT_EQ(AethSyndrome{0x1F}, AethSyndrome::ack());
  EXPECT_EQ(AethSyndrome{}, AethSyndrome::ack());
  EXPECT_EQ(to_string(AethSyndrome::ack()), "ACK");
}

TEST(AethSyndrome, TellsTheTimeToWait) {
  struct Timer {
    int microseconds;
    std::string_view text;
  };
  constexpr std::array<Timer, 32> kTimers{{
      {655'360, "655.36"}, {10, "0.01"},        {20, "0.02"},        {30, "0.03"},        {40, "0.04"},
      {60, "0.06"},        {80, "0.08"},        {120, "0.12"},       {160, "0.16"},       {240, "0.24"},
      {320, "0.32"},       {480, "0.48"},       {640, "0.64"},       {960, "0.96"},       {1'280, "1.28"},
      {1'920, "1.92"},     {2'560, "2.56"},     {3'840, "3.84"},     {5'120, "5.12"},     {7'680, "7.68"},
      {10'240, "10.24"},   {15'360, "15.36"},   {20'480, "20.48"},   {30'720, "30.72"},   {40'960, "40.96"},
      {61'440, "61.44"},   {81'920, "81.92"},   {122'880, "122.88"}, {163'840, "163.84"}, {245'760, "245.76"},
      {327'680, "327.68"}, {491'520, "491.52"},
  }};
  for (std::uint8_t code = 0; code < 32; ++code) {
    const AethSyndrome syndrome{static_cast<std::uint8_t>(0x20 | code)};
    EXPECT_EQ(syndrome.kind(), AethKind::rnr_nak);
    EXPECT_EQ(syndrome.rnr_timer(), microseconds{kTimers[code].microseconds}) << int{code};
    EXPECT_EQ(syndrome, AethSyndrome::rnr_nak(code));
    EXPECT_EQ(syndrome.credits(), std::nullopt);
    EXPECT_EQ(to_string(syndrome), "RNR NAK " + std::string{kTimers[code].text} + " ms");
  }
}

TEST(AethSyndrome, TellsWhyARequestWasRefused) {
  struct Nak {
    std::uint8_t byte;
    NakCode code;
    std::string_view text;
  };
  constexpr std::array kNaks{
      Nak{0x60, NakCode::psn_sequence_error, "NAK PSN sequence error"},
      Nak{0x61, NakCode::invalid_request, "NAK invalid request"},
      Nak{0x62, NakCode::remote_access_error, "NAK remote access error"},
      Nak{0x63, NakCode::remote_operational_error, "NAK remote operational error"},
      Nak{0x64, NakCode::invalid_rd_request, "NAK invalid RD request"},
  };
  for (const Nak& nak : kNaks) {
    EXPECT_EQ(AethSyndrome{nak.byte}.kind(), AethKind::nak);
    EXPECT_EQ(AethSyndrome{nak.byte}.nak_code(), nak.code);
    EXPECT_EQ(AethSyndrome::nak(nak.code).value(), nak.byte);
    EXPECT_EQ(to_string(AethSyndrome{nak.byte}), nak.text);
  }
  for (std::uint8_t value = 0x65; value < 0x80; ++value) {
    EXPECT_EQ(AethSyndrome{value}.kind(), AethKind::nak);
    EXPECT_EQ(AethSyndrome{value}.nak_code(), std::nullopt);
    EXPECT_EQ(to_string(AethSyndrome{value}), "NAK code " + std::to_string(value & 0x1F));
  }
}

TEST(AethSyndrome, KeepsReservedValues) {
  EXPECT_EQ(AethSyndrome{0x40}.kind(), AethKind::reserved);
  EXPECT_EQ(to_string(AethSyndrome{0x5F}), "reserved syndrome 0x5f");
  EXPECT_EQ(to_string(AethSyndrome{0x9F}), "ACK (reserved bit 7 set)");
  EXPECT_EQ(to_string(AethSyndrome{0xE0}), "NAK PSN sequence error (reserved bit 7 set)");
  EXPECT_EQ(to_string(AethSyndrome{0xA1}), "RNR NAK 0.01 ms (reserved bit 7 set)");
  for (unsigned value = 0; value < 256; ++value) {
    EXPECT_EQ(AethSyndrome{static_cast<std::uint8_t>(value)}.value(), value);
    EXPECT_FALSE(to_string(AethSyndrome{static_cast<std::uint8_t>(value)}).empty());
  }
}

}  // namespace
}  // namespace roce
