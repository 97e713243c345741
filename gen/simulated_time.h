// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/wire/time.h"

namespace roce::gen {

/// Makes `now` return `time` from now on, until the next call.
void set_simulated_time(Time time);

}  // namespace roce::gen
