// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cerrno>

namespace roce::verbs {

/// Returns 0 if `body` does, and otherwise -1 after it has set errno to what `body` returned.
template <typename Body>
int outcome_of(Body&& body) noexcept {
  int error = ENOMEM;
  try {
    error = body();
  } catch (...) {
    // No exception may reach a program that is written in C; those that can come here tell that memory is short.
    error = ENOMEM;
  }
  if (error == 0) return 0;
  errno = error;
  return -1;
}

}  // namespace roce::verbs
