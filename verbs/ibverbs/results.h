// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cerrno>
#include <tl/expected.hpp>

#include "roce/transport/verb_error.h"

namespace roce::verbs {

/// A value, or a number of errno.h.
template <typename T>
using OrErrno = tl::expected<T, int>;

/// Returns the number of errno.h with which a kernel refuses such a verb.
[[nodiscard]] int errno_of(const transport::VerbError& error);
template <typename T>
[[nodiscard]] int errno_of(const transport::VerbResult<T>& result) {
  return result ? 0 : errno_of(result.error());
}
[[nodiscard]] inline tl::unexpected<int> refused(int error) {
  return tl::unexpected(error);
}

/// Returns what `body` does, 0 or a number of errno.h, and sets errno to that number unless it is 0.
template <typename Body>
int status_of(Body&& body) noexcept {
  int error = ENOMEM;
  try {
    error = body();
  } catch (...) {
    // No exception may reach a program that is written in C; those that can come here tell that memory is short.
    error = ENOMEM;
  }
  if (error != 0) errno = error;
  return error;
}

/// Returns the object that `body` makes, an `OrErrno<T*>`, or nullptr with errno set.
template <typename Body>
auto object_of(Body&& body) noexcept -> typename decltype(body())::value_type {
  int error = ENOMEM;
  try {
    auto made = body();
    if (made) return *made;
    error = made.error();
  } catch (...) {
    error = ENOMEM;
  }
  errno = error;
  return nullptr;
}

}  // namespace roce::verbs
