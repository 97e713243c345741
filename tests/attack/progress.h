// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace roce::attack {

/// Tells who started an attack how far it has come: lines of JSON on standard output, which network.py reads.
class Progress {
 public:
  /// Of an attack that consists of so many steps.
  explicit Progress(std::uint64_t steps) : steps_(steps) {}

  /// Tells of an event by its name.
  static void tell(std::string_view event);
  /// Says that so many steps are done. A hundred times in an attack it tells to `sample` the peer's memory.
  void reached(std::uint64_t done);

 private:
  std::uint64_t steps_;
  std::uint64_t next_sample_ = 0;
};

}  // namespace roce::attack
