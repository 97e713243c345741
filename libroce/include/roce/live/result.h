// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace roce::live {

/// The reason why something could not be done.
struct Error {
  std::string message;     ///< a sentence for people
  bool has_begun = false;  ///< the work was begun and failed; if not, the arguments or the environment do not allow it
};

template <typename T>
using Result = tl::expected<T, Error>;

/// Returns the error of something that the arguments or the environment do not allow.
[[nodiscard]] inline tl::unexpected<Error> cannot(std::string message) {
  return tl::unexpected(Error{std::move(message), false});
}
/// Returns the error of something that was begun.
[[nodiscard]] inline tl::unexpected<Error> failed(std::string message) {
  return tl::unexpected(Error{std::move(message), true});
}

}  // namespace roce::live
