// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/wire/types.h"

namespace roce::gen {

/// What the two ends of a perftest program tell each other of a QP. The same message is their barrier.
struct PerftestKeys {
  /// Bytes of the message, the final NUL included.
  static constexpr std::size_t kSize = 108;

  std::uint16_t lid = 0;        ///< 0 on Ethernet
  std::uint16_t out_reads = 1;  ///< READs and atomics that the sender of the message accepts at a time
  Qpn qpn{};
  Psn psn{};  ///< of the sender's first request
  RKey r_key{};
  std::uint64_t address = 0;  ///< of the memory that the receiver of the message may reach
  Gid gid{};
  std::uint32_t srqn = 0;

  friend bool operator==(const PerftestKeys&, const PerftestKeys&) = default;
};

/// `LLLL:OOOO:QQQQQQ:PPPPPP:KKKKKKKK:AAAAAAAAAAAAAAAA:`, 16 times `GG:`, `SSSSSSSS:` and a NUL; hexadecimal.
[[nodiscard]] std::string to_text(const PerftestKeys& keys);
/// Takes exactly what `to_text` makes, in either case of letters. Error: what is wrong, as the end of a sentence that
/// begins with "the message".
[[nodiscard]] tl::expected<PerftestKeys, std::string> parse_perftest_keys(std::string_view text);

}  // namespace roce::gen
