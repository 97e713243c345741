// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>

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

/// A number of a tally, each instance being in one of them.
struct TallyPart {
  std::string_view name;  ///< as `counts` of a result has it
  std::size_t Tally::*number;
};
inline constexpr std::array<TallyPart, 9> kTallyParts{{{"pass", &Tally::passed},
                                                       {"fail", &Tally::failed},
                                                       {"deviates", &Tally::deviating},
                                                       {"known", &Tally::known},
                                                       {"xpass", &Tally::surprising},
                                                       {"skip", &Tally::skipped},
                                                       {"wrong_case", &Tally::wrong},
                                                       {"inconclusive", &Tally::inconclusive},
                                                       {"dead", &Tally::lost}}};

/// Returns the name of the number that an instance is part of.
[[nodiscard]] std::string_view part_of(const InstanceRecord& instance);
/// Returns the numbers of all instances.
[[nodiscard]] Tally count_all(const RunResult& result);
/// Returns the numbers of each group.
[[nodiscard]] std::map<std::string, Tally> count_groups(const RunResult& result);

}  // namespace roce::conform
