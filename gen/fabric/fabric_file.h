// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "roce/fabric/config.h"
#include "roce/fabric/fabric.h"
#include "roce/fabric/topology.h"
#include "roce/fabric/workload.h"

namespace roce::gen {

/// The content of a file about a fabric. `Flow::group` is an index into `workloads`.
struct FabricFile {
  fabric::Topology topology;
  fabric::Config config;
  std::vector<fabric::Flow> flows;
  std::vector<std::string> workloads;  ///< names
  Duration duration{0};
};

/// Reads a fabric from the YAML `text` of the file `name`, and checks all of it. `seed` replaces that of the file.
/// A failure is one line with the place: `NAME, line 4, column 9: switches.red.kmax: …`; its exit code is 2.
[[nodiscard]] Outcome<FabricFile> read_fabric(const std::string& name, const std::string& text,
                                              std::optional<std::uint64_t> seed);

}  // namespace roce::gen
