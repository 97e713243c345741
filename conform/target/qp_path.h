// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "conform/target/target.h"

namespace roce::conform {

/// Returns the changes that take a new QP from RESET to the state of its setup, one for each state on the way. A
/// connection sends to the address `tester`.
[[nodiscard]] std::vector<transport::QpChange> path_of(const QpSetup& setup, const transport::AddressVector& tester);

}  // namespace roce::conform
