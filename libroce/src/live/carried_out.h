// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fmt/format.h>

#include <string_view>
#include <type_traits>
#include <utility>

#include "roce/live/control_request.h"
#include "roce/transport/verb_error.h"

namespace roce::live {

/// Returns the value of a verb. Throws a Refusal that begins with `what` if the device did not carry it out.
template <typename T>
T carried_out(transport::VerbResult<T> result, std::string_view what) {
  if (!result) throw Refusal(fmt::format("{}: {}", what, to_string(result.error())));
  if constexpr (!std::is_void_v<T>) return std::move(*result);
}

}  // namespace roce::live
