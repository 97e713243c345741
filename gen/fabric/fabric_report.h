// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "gen/fabric/fabric_file.h"
#include "roce/fabric/fabric.h"

namespace roce::gen {

/// The files and workloads of a run, for reports.
struct FabricRunFacts {
  std::string file;
  std::uint64_t seed = 1;
  std::vector<std::string> workloads;
};

/// Returns what has happened in a run, as lines for people.
[[nodiscard]] std::string fabric_text(const fabric::Fabric& fabric, const FabricRunFacts& facts);
/// Returns it as one JSON object with a line end. The same run gives the same bytes.
[[nodiscard]] std::string fabric_json(const fabric::Fabric& fabric, const FabricRunFacts& facts);

}  // namespace roce::gen
