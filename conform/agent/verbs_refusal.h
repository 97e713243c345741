// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

namespace roce::conform {

/// Throws the live::Refusal of an operation whose verb failed with `error`, an errno: `OPERATION: VERB: reason`, and
/// `advice` after that.
[[noreturn]] void refuse(std::string_view operation, std::string_view verb, int error, std::string_view advice = {});

/// Does the same if `error` is not 0.
inline void check(std::string_view operation, std::string_view verb, int error, std::string_view advice = {}) {
  if (error != 0) refuse(operation, verb, error, advice);
}

}  // namespace roce::conform
