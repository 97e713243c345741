// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>

#include "roce/wire/header.h"

namespace roce {

/// MAC control opcodes (IEEE 802.3, annex 31A; W-PFC-1, PFC has opcode 0x0101).
enum class MacControlOpcode : std::uint16_t { pause = 0x0001, pfc = 0x0101 };

inline constexpr std::array kMacControlOpcodeNames{ValueName{0x0001, "PAUSE"}, ValueName{0x0101, "PFC"}};

/// The opcode behind EtherType 0x8808, 2 bytes (IEEE 802.3, 31.4).
/// The parameters follow, then zeros up to the size of the smallest frame.
struct MacControl {
  MacControlOpcode opcode{};

  friend constexpr bool operator==(const MacControl&, const MacControl&) = default;
};
template <>
inline constexpr HeaderName kHeader<MacControl>{HeaderId::mac_control, "mac_control", "MAC control", 2};
template <>
inline constexpr auto kFields<MacControl> =
    FieldList{field<&MacControl::opcode, 0, 16>("opcode", FieldFormat::hex, "Opcode", kMacControlOpcodeNames)};

/// Priority-based flow control parameters, 18 bytes (IEEE 802.1Q, 36; 802.3, annex 31D). A timer is in pause quanta; 0
/// resumes. The timer of a priority that is not enabled is ignored.
struct Pfc {
  std::uint8_t reserved{};
  bool enable7{};
  bool enable6{};
  bool enable5{};
  bool enable4{};
  bool enable3{};
  bool enable2{};
  bool enable1{};
  bool enable0{};
  std::uint16_t timer0{};
  std::uint16_t timer1{};
  std::uint16_t timer2{};
  std::uint16_t timer3{};
  std::uint16_t timer4{};
  std::uint16_t timer5{};
  std::uint16_t timer6{};
  std::uint16_t timer7{};

  /// True if the timer of `priority` (0…7) is enabled.
  [[nodiscard]] constexpr bool enabled(unsigned priority) const { return this->*kEnables[priority]; }
  /// Returns the pause quanta of `priority` (0…7).
  [[nodiscard]] constexpr std::uint16_t timer(unsigned priority) const { return this->*kTimers[priority]; }
  /// Enables `priority` (0…7) with this many pause quanta; 0 resumes.
  constexpr void set(unsigned priority, std::uint16_t quanta) {
    this->*kEnables[priority] = true;
    this->*kTimers[priority] = quanta;
  }

  static constexpr std::array<bool Pfc::*, 8> kEnables{&Pfc::enable0, &Pfc::enable1, &Pfc::enable2, &Pfc::enable3,
                                                       &Pfc::enable4, &Pfc::enable5, &Pfc::enable6, &Pfc::enable7};
  static constexpr std::array<std::uint16_t Pfc::*, 8> kTimers{&Pfc::timer0, &Pfc::timer1, &Pfc::timer2, &Pfc::timer3,
                                                               &Pfc::timer4, &Pfc::timer5, &Pfc::timer6, &Pfc::timer7};

  friend constexpr bool operator==(const Pfc&, const Pfc&) = default;
};
template <>
inline constexpr HeaderName kHeader<Pfc>{HeaderId::pfc, "pfc", "PFC", 18};
template <>
inline constexpr auto kFields<Pfc> =
    FieldList{field<&Pfc::reserved, 0, 8>("reserved", FieldFormat::reserved, "Reserved"),
              field<&Pfc::enable7, 8, 1>("enable7", FieldFormat::boolean, "Priority 7 enabled"),
              field<&Pfc::enable6, 9, 1>("enable6", FieldFormat::boolean, "Priority 6 enabled"),
              field<&Pfc::enable5, 10, 1>("enable5", FieldFormat::boolean, "Priority 5 enabled"),
              field<&Pfc::enable4, 11, 1>("enable4", FieldFormat::boolean, "Priority 4 enabled"),
              field<&Pfc::enable3, 12, 1>("enable3", FieldFormat::boolean, "Priority 3 enabled"),
              field<&Pfc::enable2, 13, 1>("enable2", FieldFormat::boolean, "Priority 2 enabled"),
              field<&Pfc::enable1, 14, 1>("enable1", FieldFormat::boolean, "Priority 1 enabled"),
              field<&Pfc::enable0, 15, 1>("enable0", FieldFormat::boolean, "Priority 0 enabled"),
              field<&Pfc::timer0, 16, 16>("timer0", FieldFormat::decimal, "Priority 0 pause quanta"),
              field<&Pfc::timer1, 32, 16>("timer1", FieldFormat::decimal, "Priority 1 pause quanta"),
              field<&Pfc::timer2, 48, 16>("timer2", FieldFormat::decimal, "Priority 2 pause quanta"),
              field<&Pfc::timer3, 64, 16>("timer3", FieldFormat::decimal, "Priority 3 pause quanta"),
              field<&Pfc::timer4, 80, 16>("timer4", FieldFormat::decimal, "Priority 4 pause quanta"),
              field<&Pfc::timer5, 96, 16>("timer5", FieldFormat::decimal, "Priority 5 pause quanta"),
              field<&Pfc::timer6, 112, 16>("timer6", FieldFormat::decimal, "Priority 6 pause quanta"),
              field<&Pfc::timer7, 128, 16>("timer7", FieldFormat::decimal, "Priority 7 pause quanta")};

/// PAUSE parameter, 2 bytes (IEEE 802.3, annex 31B); 0 resumes.
struct Pause {
  std::uint16_t quanta{};

  friend constexpr bool operator==(const Pause&, const Pause&) = default;
};
template <>
inline constexpr HeaderName kHeader<Pause>{HeaderId::pause, "pause", "PAUSE", 2};
template <>
inline constexpr auto kFields<Pause> =
    FieldList{field<&Pause::quanta, 0, 16>("quanta", FieldFormat::decimal, "Pause quanta")};

/// Returns the duration, in picoseconds, of `quanta` pause quanta of 512 bit times, rounded down.
/// `bits_per_second` is the link speed, 1000 … 10^13.
[[nodiscard]] constexpr std::uint64_t pause_picoseconds(std::uint16_t quanta, std::uint64_t bits_per_second) {
  constexpr std::uint64_t million = 1'000'000;
  const std::uint64_t scaled = std::uint64_t{quanta} * 512 * million;
  // In two steps, since quanta × 512 × 10^12 has more than 64 bits.
  return scaled / bits_per_second * million + scaled % bits_per_second * million / bits_per_second;
}

}  // namespace roce
