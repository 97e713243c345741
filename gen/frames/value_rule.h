// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "roce/wire/packet_spec.h"

namespace roce::gen {

/// The rule by which a value changes from packet to packet, as the text after `NAME=` describes it:
///
///     VALUE              always this
///     A/B/C              one after the other, and again from the first
///     LO..HI, LO..HI+N   from LO to HI in steps of N (1 without it), and again from LO
///     START+N, +N        from START (else the field's value) on in steps of N, or -N, within the bits of the field
///     rand, rand:LO..HI  a random number of the field's bits, or from LO to HI, both included
///
/// A text that is a value of the field as it stands is taken as that value.
struct ValueRule {
  enum class Kind : std::uint8_t { constant, list, count, random };
  Kind kind = Kind::constant;
  /// The values of `constant` and `list`, as `PacketSpec::set` takes them.
  std::vector<std::string> texts{};
  // For `count` and `random`: numbers of a field, or of the last eight bytes of a field of octets.
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  std::uint64_t step = 1;
  /// The value with which a packet that has a `count` or `random` begins,
  /// as `PacketSpec::set` takes it; empty: the one that the packet has.
  std::string start{};
  /// True if a `count` stays within first … last; else it wraps around at the end of the field's bits.
  bool bounded = true;

  /// Parses a rule for a value of `spec` by name. Error: what was expected and found, or that of `PacketSpec::set`.
  [[nodiscard]] static SpecResult<ValueRule> read(const PacketSpec& spec, const std::string& name,
                                                  std::string_view text);
};

/// The values of a `count` or `random` rule in their order.
class NumberSequence {
 public:
  /// The same `seed` gives the same random numbers on every machine.
  NumberSequence(const ValueRule& rule, std::uint64_t seed);
  /// Returns the next value; for an unbounded count, only as many low bits are valid as the field has.
  [[nodiscard]] std::uint64_t next();

 private:
  ValueRule::Kind kind_;
  std::uint64_t first_;
  std::uint64_t span_;  ///< number of values from first to last, less one
  std::uint64_t step_;
  bool bounded_;
  std::uint64_t offset_ = 0;  ///< distance from the first value of a count to its next one
  std::mt19937_64 random_;
};

}  // namespace roce::gen
