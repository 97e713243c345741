// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace roce::test {

// These are functions of one file, not macros in each: so a test's object file does not depend on where the source tree
// lies, and a compiler cache needs only one for all checkouts.

/// Returns the absolute path of the source tree, without a slash at its end.
std::string source_folder();

/// Returns the absolute path of the folder of committed captures, without a slash at its end.
std::string captures_folder();

}  // namespace roce::test
