// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::files {

/// What a program does before all else about the files that it will write: where a standard stream is closed, none of
/// them gets its number; SIGINT, SIGTERM, SIGHUP and SIGPIPE, unless they are ignored or handled, remove what is not
/// whole before they end it; a limit of file sizes (SIGXFSZ) is an error of the write.
void begin_program();

/// What it does last: `code`, unless that is 0 and standard output could not be written. Then a line on standard error
/// says why, and it is `failed`.
[[nodiscard]] int end_program(const char* program, int code, int failed);

}  // namespace roce::files
