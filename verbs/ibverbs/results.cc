// SPDX-License-Identifier: BSD-2-Clause
#include "verbs/ibverbs/results.h"

namespace roce::verbs {

int errno_of(const transport::VerbError& error) {
  switch (error.code) {
    case transport::VerbErrorCode::no_resources:
      return ENOMEM;
    case transport::VerbErrorCode::in_use:
      return EBUSY;
    case transport::VerbErrorCode::unknown_handle:
      return ENOENT;
    default:
      return EINVAL;
  }
}

}  // namespace roce::verbs
