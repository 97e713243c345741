// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "roce/wire/types.h"

namespace roce {

/// The data of a QP that the two ends of a perftest program exchange. The same message is their barrier.
struct PerftestKeys {
  /// Bytes of the message, the final NUL included.
  static constexpr std::size_t kSize = 108;
  /// Bytes of the binary message, which is sent over an RDMA CM connection; perftest of 2026 has the longer one.
  static constexpr std::size_t kBinarySize = 56;
  static constexpr std::size_t kLongBinarySize = 64;

  std::uint16_t lid = 0;        ///< 0 on Ethernet
  std::uint16_t out_reads = 1;  ///< READs and atomics that the sender of the message accepts at a time
  Qpn qpn{};
  Psn psn{};  ///< PSN of the sender's first request
  RKey r_key{};
  std::uint64_t address = 0;  ///< address of the memory that the receiver of the message may access
  Gid gid{};
  std::uint32_t srqn = 0;

  friend bool operator==(const PerftestKeys&, const PerftestKeys&) = default;
};

/// Returns `LLLL:OOOO:QQQQQQ:PPPPPP:KKKKKKKK:AAAAAAAAAAAAAAAA:`, 16 times `GG:`, `SSSSSSSS:` and a NUL; hexadecimal.
[[nodiscard]] std::string to_text(const PerftestKeys& keys);
/// Parses exactly what `to_text` returns, with letters of either case. Error: what is wrong, as the end of a sentence
/// that begins with "the message".
[[nodiscard]] tl::expected<PerftestKeys, std::string> parse_perftest_keys(std::string_view text);

/// Returns, in big-endian order: LID 4, outstanding READs 4, QPN 4, PSN 4, R_Key 4, unused 4, address 8, in the long
/// form another address 8 (here 0), GID 16, SRQN 4, GID index 4 (here 0) bytes. `size` is that of one of the two forms.
[[nodiscard]] std::string to_binary(const PerftestKeys& keys, std::size_t size = PerftestKeys::kBinarySize);
/// Parses either form, and all zeros, which is a barrier before there are queue pairs. Error: as for the text.
[[nodiscard]] tl::expected<PerftestKeys, std::string> parse_binary_perftest_keys(std::string_view bytes);

}  // namespace roce
