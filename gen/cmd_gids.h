// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/exit_code.h"

namespace CLI {
class App;
}

namespace roce::gen {

/// Adds the subcommand `gids`, which runs while `app` parses its command line and sets `code`. `code` must outlive
/// `app`.
void add_gids(CLI::App& app, ExitCode& code);

}  // namespace roce::gen
