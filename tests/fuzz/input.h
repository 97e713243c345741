// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "roce/wire/types.h"

namespace roce::test {

/// The unused bytes of a fuzzer's input; zeros after its end.
class Input {
 public:
  explicit Input(Bytes bytes) : bytes_(bytes) {}
  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const auto value = std::to_integer<std::uint8_t>(bytes_[0]);
    bytes_ = bytes_.subspan(1);
    return value;
  }
  std::uint32_t word() { return std::uint32_t{byte()} << 8U | byte(); }
  /// Takes at most `size` bytes.
  Bytes take(std::size_t size) {
    const Bytes taken = bytes_.first(std::min(size, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  Bytes bytes_;
};

}  // namespace roce::test
