// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>

namespace roce::fabric {

/// The reason why a fabric cannot be as it was asked for.
struct Error {
  std::string where;  ///< the parameter at fault, such as `switches.pfc.headroom` or `flows[3].to`
  std::string what;   ///< what is wrong with it: expected, found
};

/// Returns `switches.pfc.headroom: …`.
[[nodiscard]] inline std::string to_string(const Error& error) {
  return error.where + ": " + error.what;
}

template <typename T>
using Result = tl::expected<T, Error>;

}  // namespace roce::fabric
