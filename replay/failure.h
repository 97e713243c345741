// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/outcome.h"
#include "replay/exit_code.h"

namespace roce::replay {

using command_line::cannot;
using command_line::failed;
using command_line::Failure;
using command_line::Outcome;

}  // namespace roce::replay
