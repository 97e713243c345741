// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cerrno>

#include "roce/transport/verb_error.h"

namespace roce::verbs {

/// Returns the number of errno.h with which a kernel refuses such a verb.
[[nodiscard]] inline int errno_of(const transport::VerbError& error) {
  switch (error.code) {
    case transport::VerbErrorCode::in_use:
      return EADDRINUSE;
    case transport::VerbErrorCode::no_resources:
      return ENOMEM;
    default:
      return EINVAL;
  }
}

template <typename T>
[[nodiscard]] int errno_of(const transport::VerbResult<T>& result) {
  return result ? 0 : errno_of(result.error());
}

}  // namespace roce::verbs
