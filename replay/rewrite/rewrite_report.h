// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/rewrite/rewriter.h"
#include "replay/segment/segmenter.h"
#include "roce/impair/engine.h"

namespace roce::replay {

/// The outcome of cutting the messages of a capture anew.
struct SegmentReport {
  std::uint32_t path_mtu = 0;
  std::uint64_t connections = 0;  ///< connections that were cut anew
  std::vector<LeftConnection> left;
  SegmentCounts counts;
};

/// The outcome of a run of `rewrite`.
struct RewriteReport {
  std::string in;
  std::string out;  ///< empty for a dry run
  RewriteCounts counts;
  std::optional<SegmentReport> segments;
  std::uint64_t written = 0;  ///< frames
  std::optional<impair::Stats> faults;
  bool keeps_bad_icrc = false;
  bool keeps_bad_checksums = false;
  std::vector<std::string> fields;    ///< the --set options, as they were given
  std::vector<std::string> warnings;  ///< warnings of the reader about the file
};

/// Prints a few lines for people on standard error.
void print_text(const RewriteReport& report);
/// Prints one JSON object on standard output.
void print_json(const RewriteReport& report);

}  // namespace roce::replay
