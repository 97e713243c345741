// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/exit_code.h"

namespace CLI {
class App;
}

namespace roce::analyze {

// Each adds a subcommand that runs while `app` parses its command line and sets `code`, which must outlive `app`.

void add_extract(CLI::App& app, ExitCode& code);   ///< `extract`: the packets worth looking at, as a capture
void add_annotate(CLI::App& app, ExitCode& code);  ///< `annotate`: a capture with the verdicts as packet comments

}  // namespace roce::analyze
