// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <tl/expected.hpp>

namespace roce::conform {

/// A place in a case file; line and column count from 1, and are 0 if the file as a whole is meant.
struct Place {
  std::shared_ptr<const std::string> file;
  int line = 0;
  int column = 0;
};

/// Returns `conform/cases/nak/nak-access.yaml:14:5`.
[[nodiscard]] inline std::string to_string(const Place& place) {
  if (place.line == 0) return *place.file;
  return fmt::format("{}:{}:{}", *place.file, place.line, place.column);
}

/// A mistake in a case file, or in an expression once it has its values.
struct CaseError {
  Place place;
  std::string message;
};

[[nodiscard]] inline std::string to_string(const CaseError& error) {
  return fmt::format("{}: {}", to_string(error.place), error.message);
}

template <typename T>
using CaseResult = tl::expected<T, CaseError>;

}  // namespace roce::conform
