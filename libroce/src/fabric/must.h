// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <stdexcept>
#include <type_traits>
#include <utility>

#include "roce/transport/verb_error.h"

namespace roce::fabric::detail {

/// Returns the value of a verb that cannot be refused here: the fabric made the objects and keeps their limits.
/// Throws std::logic_error if it is.
template <typename T>
T must(transport::VerbResult<T> result) {
  if (!result) throw std::logic_error("roce::fabric: " + to_string(result.error()));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace roce::fabric::detail
