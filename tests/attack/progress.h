// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

namespace roce::attack {

/// Reports the progress of an attack to the program that started it: lines of JSON on stdout, which network.py reads.
class Progress {
 public:
  /// Reports on an attack of `steps` steps.
  explicit Progress(std::uint64_t steps) : steps_(steps) {}

  /// Reports an event by its name.
  static void tell(std::string_view event);
  /// Notes that `done` steps are done. A hundred times in an attack it reports `sample`: sample the peer's memory now.
  void reached(std::uint64_t done);

 private:
  std::uint64_t steps_;
  std::uint64_t next_sample_ = 0;
};

}  // namespace roce::attack
