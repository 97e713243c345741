// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "command_line/outcome.h"

namespace roce::replay {

using command_line::ExitCode;

}  // namespace roce::replay
