// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "command_line/outcome.h"
#include "replay/rewrite/rewrite_report.h"
#include "replay/rules/rewrite_rules.h"
#include "roce/impair/rule.h"

namespace roce::replay {

/// The task of one `rewrite`.
struct RewriteJob {
  std::string in;   ///< as `link::CaptureReader::open` takes it
  std::string out;  ///< unused in a dry run
  RewriteRules rules;
  impair::RuleSet faults;
  std::vector<std::string> fields;  ///< texts of `rules.fields`
  bool dry_run = false;
  bool progress = false;  ///< shows a line on standard error, for files of 64 MiB and more
};

/// Reads, rewrites and writes a capture file. Failure: a file that cannot be read or written, an unknown link type, no
/// RoCE packet, or a packet that the rules leave open; there is no output file then.
[[nodiscard]] Outcome<RewriteReport> run_rewrite(const RewriteJob& job);

}  // namespace roce::replay
