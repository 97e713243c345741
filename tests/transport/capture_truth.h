// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "captured_connection.h"
#include "roce/transport/verbs.h"

namespace roce::test {

/// A receive that completed.
struct Receipt {
  transport::CompletionStatus status{};
  bool by_write = false;  ///< WRITE with immediate
  std::uint32_t length = 0;
  std::optional<std::uint32_t> immediate{};

  friend bool operator==(const Receipt&, const Receipt&) = default;
};

/// Returns a text such as `status 0 receive length 100 immediate 0x7`.
[[nodiscard]] std::string describe(const Receipt& receipt);

/// The set-up of the real responder's QP and the receives that completed, from the truth file next to the capture; the
/// defaults, for values that the file does not have, are those of the stock programs.
struct ResponderTruth {
  bool qp_exists = true;  ///< false: the requester was told a wrong QPN
  std::uint32_t mtu = 1024;
  std::uint32_t receive_length = 1U << 20;  ///< bytes
  bool later_receives_have_bad_key = false;
  std::uint8_t min_rnr_timer = 12;
  /// All that completed with success or an error of their own; `nullopt` if the program did not report them.
  std::optional<std::vector<Receipt>> receipts{};
};

/// Returns the truth about a connection; throws if the capture's truth file cannot be read.
[[nodiscard]] ResponderTruth truth_of(const CapturedConnection& connection);

}  // namespace roce::test
