// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "conform/report/run_result.h"

namespace roce::conform {

/// The numbers of instances of one group, or of all, by their results.
struct Tally {
  std::size_t passed = 0;
  std::size_t failed = 0;      ///< of level must
  std::size_t deviating = 0;   ///< failed, of level should or info
  std::size_t known = 0;       ///< failed as the device is known to
  std::size_t surprising = 0;  ///< passed although the device is known to fail
  std::size_t skipped = 0;
  std::size_t wrong = 0;         ///< the case itself is wrong
  std::size_t inconclusive = 0;  ///< their tries did not agree
  std::size_t lost = 0;          ///< the device died in them or before
  std::size_t passed_later = 0;  ///< of those that passed, the ones that failed in a try
  std::size_t open = 0;          ///< of those that are inconclusive, the ones of level must

  void add(const InstanceRecord& instance);
  [[nodiscard]] std::size_t total() const {
    return passed + failed + deviating + known + surprising + skipped + wrong + inconclusive + lost;
  }
};

/// Returns the numbers of all instances.
[[nodiscard]] Tally count_all(const RunResult& result);
/// Returns the numbers of each group.
[[nodiscard]] std::map<std::string, Tally> count_groups(const RunResult& result);

}  // namespace roce::conform
