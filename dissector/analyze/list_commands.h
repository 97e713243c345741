// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/exit_code.h"

namespace CLI {
class App;
}

namespace roce::analyze {

// Each adds a subcommand that runs while `app` parses its command line and sets `code`, which must outlive `app`.

void add_streams(CLI::App& app, ExitCode& code);   ///< `streams`: one row a stream
void add_messages(CLI::App& app, ExitCode& code);  ///< `messages`: one row a message
void add_events(CLI::App& app, ExitCode& code);    ///< `events`: one row a verdict
void add_latency(CLI::App& app, ExitCode& code);   ///< `latency`: distributions by type of message
void add_timeline(CLI::App& app, ExitCode& code);  ///< `timeline`: rates and losses over time
void add_counters(CLI::App& app, ExitCode& code);  ///< `counters`: those of the NICs, recomputed
void add_join(CLI::App& app, ExitCode& code);      ///< `join`: what happened between two capture points
void add_rules(CLI::App& app, ExitCode& code);     ///< `rules`: what verdicts there are

}  // namespace roce::analyze
