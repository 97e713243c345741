// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

#include "conform/fuzz/finding.h"

namespace roce::conform::fuzz {

/// Returns the name of a finding's case: `fuzz-` and digits that are the same for all findings of one place.
[[nodiscard]] std::string case_name(const ProgramResult& failed);

/// Returns a whole conformance case that sends what the program sent, and expects what the specification says: it fails
/// on a device with the fault, and passes on one without. The finding has its turns.
[[nodiscard]] std::string case_text(const Finding& finding);

}  // namespace roce::conform::fuzz
