// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/exit_code.h"

namespace CLI {
class App;
}

namespace roce::analyze {

/// Adds the subcommand `decode`, which runs while `app` parses its command line and sets `code`. `code` must outlive
/// `app`.
void add_decode(CLI::App& app, ExitCode& code);

}  // namespace roce::analyze
