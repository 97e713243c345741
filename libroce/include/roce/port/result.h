// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/link/link.h"

namespace roce::port {

/// A value, or a message for display: what was tried, on what, why it failed, and what to do.
template <typename T>
using Result = link::LinkResult<T>;

}  // namespace roce::port
