// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/exit_code.h"

namespace CLI {
class App;
}

namespace roce::gen {

/// Adds `roce-gen send`; `code` is what it ended with. `app` and `code` have to outlive the parsing.
void add_send(CLI::App& app, ExitCode& code);

}  // namespace roce::gen
