// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "gen/fabric/fabric_report.h"
#include "page/pyramid.h"
#include "roce/fabric/fabric.h"

namespace roce::gen {

/// The series of a run over time that its page shows, in bounded memory.
class FabricSeries {
 public:
  FabricSeries();

  /// Adds what has happened since the last sample.
  void sample(const fabric::Fabric& fabric);
  [[nodiscard]] page::Pyramid& pyramid() { return pyramid_; }

 private:
  struct Sums {
    std::uint64_t delivered = 0;
    std::uint64_t marked = 0;
    std::uint64_t cnps = 0;
    std::uint64_t dropped = 0;  ///< by switches, links and the watchdog
    std::uint64_t resent = 0;
  };
  [[nodiscard]] static Sums sums_of(const fabric::Fabric& fabric);
  void add_delivered(std::int64_t from_ns, std::int64_t to_ns, std::uint64_t bytes);
  [[nodiscard]] std::uint64_t count_paused(const fabric::Fabric& fabric);

  page::Pyramid pyramid_;
  Sums last_;
  std::int64_t last_ns_ = 0;
  std::vector<Duration> paused_;  ///< by port, of all priorities, at the last sample
};

/// Returns the page of a run: one HTML file (see page::make_page). The same run gives the same bytes.
[[nodiscard]] std::string fabric_page(const fabric::Fabric& fabric, const FabricRunFacts& facts, FabricSeries& series);

}  // namespace roce::gen
