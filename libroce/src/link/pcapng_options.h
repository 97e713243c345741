// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "link/byte_order.h"
#include "link/capture_format.h"

namespace roce::link::detail {

using Bytes = std::span<const std::byte>;

[[nodiscard]] inline std::string_view as_text(Bytes value) {
  const std::string_view text(reinterpret_cast<const char*>(value.data()), value.size());
  // Some writers count a terminating NUL in the length.
  return text.substr(0, text.find('\0'));
}

/// Calls visit(code, value) for each option; false if the last one runs over the end of `options`.
template <typename Visit>
bool for_each_option(Bytes options, bool swapped, Visit visit) {
  while (options.size() >= 4) {
    const auto code = load<std::uint16_t>(options.data(), swapped);
    const auto length = load<std::uint16_t>(options.data() + 2, swapped);
    if (code == kOptEnd) return true;
    options = options.subspan(4);
    if (length > options.size()) return false;
    visit(code, options.first(length));
    options = options.subspan(padded(length) <= options.size() ? padded(length) : options.size());
  }
  return options.empty();
}

}  // namespace roce::link::detail
