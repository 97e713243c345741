// SPDX-License-Identifier: BSD-2-Clause
#pragma once

namespace roce::files {

/// Prepares a program, before all else, for the files that it will write: if a standard stream is closed, none of them
/// gets its number; SIGINT, SIGTERM, SIGHUP and SIGPIPE, unless they are ignored or handled, remove unfinished files
/// before they end the program; exceeding a limit of file sizes (SIGXFSZ) is an error of the write.
void begin_program();

/// Ends a program, as its last call. Returns `code`, unless that is 0 and standard output could not be written: then a
/// line on standard error gives the reason, and the result is `failed`.
[[nodiscard]] int end_program(const char* program, int code, int failed);

}  // namespace roce::files
