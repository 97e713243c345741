// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>

namespace roce::test {

// Functions of one file, not macros of each: a test's object file is the same wherever the source tree lies, and a
// compiler cache keeps one for all of its checkouts.

/// The absolute path of the source tree, without a slash at its end.
std::string source_folder();

/// The absolute path of the folder of committed captures, without a slash at its end.
std::string captures_folder();

}  // namespace roce::test
