// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "runtime/rate.h"

namespace roce::gen {

/// What an exchange does over and over.
enum class ExchangeKind : std::uint8_t { send, write, read, fetch_add, compare_swap, flush, datagram };

/// Sizes of messages, taken in turn.
struct SizePlan {
  std::vector<std::uint32_t> sizes{4096};  ///< bytes

  [[nodiscard]] std::uint32_t of(std::uint64_t number) const { return sizes[number % sizes.size()]; }
  [[nodiscard]] std::uint32_t largest() const;
  [[nodiscard]] std::uint32_t mean() const;
};

/// What an exchange can be told.
struct ExchangeOptions {
  ExchangeKind kind = ExchangeKind::write;
  bool unreliable = false;  ///< UC instead of RC, for SEND and WRITE
  SizePlan sizes;
  std::uint64_t count = 1000;  ///< messages on each QP, unless `seconds` is given
  double seconds = 0;          ///< how long; 0: `count` counts
  std::uint32_t qps = 1;
  std::uint32_t depth = 16;    ///< requests under way on each QP
  std::uint32_t path_mtu = 0;  ///< bytes; 0: the largest that both sides take
  /// Of all QPs together; bits from BTH through ICRC. On READs it is the answers that are meant by `bps`, the requests
  /// by `pps`.
  runtime::Rate rate{};
  std::uint8_t timeout = 14;
  std::uint8_t traffic_class = 0;
  std::uint16_t cm_port =
      0;                    ///< RDMA port at which the queue pairs are connected by RDMA CM; 0: by the control protocol
  bool allow_loss = false;  ///< lost datagrams and UC messages are no failure
  bool live = false;        ///< one line a second on standard error
};

}  // namespace roce::gen
