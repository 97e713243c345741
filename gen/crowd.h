// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>

namespace roce::gen {

/// Which of those who wait at a door has to go so that a newcomer has a place: of the address that has most of them,
/// the one that waits the longest. So nobody can keep others out by being many.
///
/// `waiting` is not empty, oldest first; `address_of` says where one comes from.
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

}  // namespace roce::gen
