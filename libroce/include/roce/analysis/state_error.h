// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace roce::analysis {

/// The reason why an analysis cannot continue from a saved state.
struct StateError {
  enum class Reason : std::uint8_t {
    foreign,     ///< it is not a saved state of this kind
    version,     ///< it was saved by another version: `found` instead of `expected`
    damaged,     ///< its checksum is wrong, or it ends early: bytes `found` instead of `expected`
    impossible,  ///< no analysis could have left such a state
  };

  Reason reason{};
  std::size_t offset = 0;  ///< byte offset of the error in the state
  std::uint64_t expected = 0;
  std::uint64_t found = 0;

  friend bool operator==(const StateError&, const StateError&) = default;
};

/// Returns a sentence without its full stop: what is wrong, where, and what was expected.
[[nodiscard]] std::string to_string(const StateError& error);

}  // namespace roce::analysis
