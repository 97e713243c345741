// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>

namespace roce::link::detail {

/// Turns the 64-bit timestamps of one pcapng interface into nanoseconds since the Unix epoch.
class TimestampScale {
 public:
  /// `resolution` is if_tsresol, `offset_s` if_tsoffset in seconds.
  explicit TimestampScale(std::uint8_t resolution = 6, std::int64_t offset_s = 0) {
    const unsigned exponent = resolution & 0x7FU;
    if ((resolution & 0x80U) != 0) {
      multiplier_ = 1'000'000'000;
      // The product has fewer than 94 bits.
      shift_ = exponent < 94 ? exponent : 94;
    } else {
      for (unsigned n = exponent; n < 9; ++n) multiplier_ *= 10;
      // 10^19 is the largest power of ten in 64 bits; in a finer unit 64 bits do not reach one nanosecond.
      constexpr unsigned kFinest = 9 + 19;
      for (unsigned n = 9; n < exponent && n < kFinest; ++n) divisor_ *= 10;
      if (exponent > kFinest) multiplier_ = 0;
    }
    plain_ = shift_ == 0 && divisor_ == 1 && offset_s == 0;
    offset_ns_ = static_cast<Wide>(offset_s) * 1'000'000'000;
  }

  /// Converts to nanoseconds. A time more than 146 years from the epoch becomes the nearest one that is not, so that 64
  /// signed bits of nanoseconds hold the difference of any two.
  [[nodiscard]] std::int64_t to_ns(std::uint64_t units) const {
    std::uint64_t quick = 0;
    if (plain_ && !__builtin_mul_overflow(units, multiplier_, &quick) && quick <= kMax) [[likely]] {
      return static_cast<std::int64_t>(quick);
    }
    const UnsignedWide since_offset = (static_cast<UnsignedWide>(units) * multiplier_ / divisor_) >> shift_;
    const Wide total = static_cast<Wide>(since_offset) + offset_ns_;
    if (total > static_cast<Wide>(kMax)) return static_cast<std::int64_t>(kMax);
    if (total < -static_cast<Wide>(kMax)) return -static_cast<std::int64_t>(kMax);
    return static_cast<std::int64_t>(total);
  }

 private:
  __extension__ using Wide = __int128;
  __extension__ using UnsignedWide = unsigned __int128;
  static constexpr std::uint64_t kMax = (std::uint64_t{1} << 62) - 1;

  std::uint64_t multiplier_ = 1;
  std::uint64_t divisor_ = 1;
  unsigned shift_ = 0;
  bool plain_ = true;
  Wide offset_ns_ = 0;
};

}  // namespace roce::link::detail
