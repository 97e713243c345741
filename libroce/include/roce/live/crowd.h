// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace roce::live {

/// Chooses the connection that has to make room for a newcomer: from the address with the most waiting connections, the
/// one that has waited the longest. So nobody can keep others out by sheer number.
///
/// `waiting` is not empty and sorted oldest first; `address_of` returns the address that an element comes from.
template <typename Range, typename AddressOf>
[[nodiscard]] auto whom_to_displace(Range& waiting, AddressOf address_of) {
  std::map<std::string, std::size_t> numbers;
  for (const auto& one : waiting) ++numbers[address_of(one)];
  auto chosen = waiting.begin();
  std::size_t most = 0;
  for (auto it = waiting.begin(); it != waiting.end(); ++it) {
    const std::size_t number = numbers[address_of(*it)];
    if (number <= most) continue;
    most = number;
    chosen = it;
  }
  return chosen;
}

}  // namespace roce::live
