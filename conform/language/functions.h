// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "conform/language/expression.h"

namespace roce::conform {

/// Returns the nanoseconds of a time such as `20ms`: a whole number and ns, us, ms or s. Empty for any other text.
[[nodiscard]] std::optional<std::uint64_t> read_time(std::string_view text);

/// Returns the number of packets that carry a message, or the answer to a READ: one if it is empty.
[[nodiscard]] constexpr std::uint64_t packets_for(std::uint64_t bytes, std::uint64_t path_mtu) {
  return bytes == 0 ? 1 : (bytes - 1) / path_mtu + 1;
}

/// Returns the bytes that `bytes(seed, length)` stands for: they differ from place to place and from seed to seed.
[[nodiscard]] std::vector<std::byte> bytes_of_seed(std::uint64_t seed, std::uint64_t length);

/// Checks that a function exists and takes this number of arguments. Error: which ones there are, or what it takes.
[[nodiscard]] Evaluated<void> check_call(std::string_view function, std::size_t arguments);

/// Returns the result of a function for which `check_call` is right; `packets` takes the path MTU from `$mtu`,
/// `pause_time` the speed of the port from `$speed`.
[[nodiscard]] Evaluated<Value> apply_function(std::string_view function, std::span<const Value> arguments,
                                              const Scope& scope);

/// Returns the result of an operator. Words can only be compared for equality. Errors: no numbers, division by 0.
[[nodiscard]] Evaluated<Value> apply_operator(std::string_view name, const Value& left, const Value& right);

}  // namespace roce::conform
