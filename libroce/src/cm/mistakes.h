// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/transport/verb_error.h"
#include "roce/wire/cm_types.h"

namespace roce::cm {

using transport::VerbError;
using transport::VerbErrorCode;

[[nodiscard]] constexpr VerbError bad(std::string_view subject, std::string_view needs, std::uint64_t found = 0,
                                      std::uint64_t expected = 0) {
  return {VerbErrorCode::invalid_argument, subject, needs, found, expected};
}
[[nodiscard]] constexpr VerbError too_long(std::string_view subject, std::string_view needs, std::size_t found,
                                           std::size_t most) {
  return {VerbErrorCode::invalid_argument, subject, needs, found, most};
}
[[nodiscard]] inline VerbError no_such_connection(CommId connection) {
  return {VerbErrorCode::unknown_handle, "connection", "one that there is", connection.value()};
}
[[nodiscard]] constexpr VerbError no_room(std::size_t found, std::size_t most) {
  return {VerbErrorCode::no_resources, "connections", "fewer than max_connections", found, most};
}
[[nodiscard]] constexpr VerbError wrong_state(std::string_view needs) {
  return {VerbErrorCode::wrong_state, "connection", needs};
}

}  // namespace roce::cm
