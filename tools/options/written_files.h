// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "files/file_use.h"
#include "options/program_options.h"

namespace roce::options {

/// Returns the files that the options of an endpoint name for writing.
[[nodiscard]] inline std::vector<files::FileUse> written_files(const ProgramOptions& options) {
  return {{"--pcap", options.pcap}, {"--metrics-file", options.metrics.file}};
}

}  // namespace roce::options
