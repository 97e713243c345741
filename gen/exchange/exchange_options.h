// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <vector>

#include "roce/transport/verbs.h"
#include "runtime/rate.h"

namespace roce::gen {

/// The operation that an exchange repeats.
enum class ExchangeKind : std::uint8_t { send, write, read, fetch_add, compare_swap, flush, datagram };

/// Sizes of messages, taken in turn.
struct SizePlan {
  std::vector<std::uint32_t> sizes{4096};  ///< bytes

  [[nodiscard]] std::uint32_t of(std::uint64_t number) const { return sizes[number % sizes.size()]; }
  [[nodiscard]] std::uint32_t largest() const;
  [[nodiscard]] std::uint32_t mean() const;
};

/// The options of an exchange.
struct ExchangeOptions {
  ExchangeKind kind = ExchangeKind::write;
  bool unreliable = false;  ///< UC instead of RC, for SEND and WRITE
  SizePlan sizes;
  std::uint64_t count = 1000;  ///< messages on each QP, unless `seconds` is given
  double seconds = 0;          ///< time to run; 0: until `count`
  std::uint32_t qps = 1;
  std::uint32_t depth = 16;    ///< requests outstanding on each QP
  std::uint32_t path_mtu = 0;  ///< bytes; 0: the largest that both sides take
  /// Limit of all QPs together; bits count from BTH through ICRC.
  /// For READs, `bps` limits the responses and `pps` the requests.
  runtime::Rate rate{};
  std::uint8_t timeout = 14;
  std::uint8_t traffic_class = 0;
  std::uint16_t cm_port =
      0;                    ///< RDMA port at which the queue pairs are connected by RDMA CM; 0: by the control protocol
  bool allow_loss = false;  ///< lost datagrams and UC messages are not a failure
  bool live = false;        ///< one line a second on standard error

  [[nodiscard]] bool is_atomic() const { return kind == ExchangeKind::fetch_add || kind == ExchangeKind::compare_swap; }
  /// Whether messages arrive in the peer's receives.
  [[nodiscard]] bool is_sent() const { return kind == ExchangeKind::send || kind == ExchangeKind::datagram; }
  /// Whether messages arrive in memory that we named.
  [[nodiscard]] bool is_written() const { return kind == ExchangeKind::write || kind == ExchangeKind::flush; }
  [[nodiscard]] transport::QpType qp_type() const;
  /// Bytes of a message.
  [[nodiscard]] std::uint32_t size_of(std::uint64_t number) const;
};

}  // namespace roce::gen
