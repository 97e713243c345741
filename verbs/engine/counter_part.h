// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>

#include "roce/transport/counters.h"
#include "verbs/counters/counter_page.h"

namespace roce::verbs {

/// The part of a device's counters that a process writes for all to see, on top of what others have counted in it.
class CounterPart {
 public:
  CounterPart() = default;
  /// Maps the file. Without it, or if it is not one, nothing is written.
  CounterPart(const std::string& file, std::uint8_t part);
  CounterPart(const CounterPart&) = delete;
  CounterPart& operator=(const CounterPart&) = delete;
  ~CounterPart();

  /// Writes what this process has counted so far.
  void publish(const transport::Counters& counters);

 private:
  CounterPage* page_ = nullptr;
  CounterPage::Part* part_ = nullptr;
  CounterPage::Part published_{};
};

}  // namespace roce::verbs
