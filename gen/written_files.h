// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "files/file_use.h"
#include "gen/endpoint_options.h"

namespace roce::gen {

/// Returns the files that the options of an endpoint name for writing.
[[nodiscard]] inline std::vector<files::FileUse> written_files(const EndpointOptions& options) {
  return {{"--pcap", options.pcap}, {"--metrics-file", options.metrics.file}};
}

}  // namespace roce::gen
