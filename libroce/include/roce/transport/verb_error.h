// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

namespace roce::transport {

/// The kind of mistake for which a verb was refused.
enum class VerbErrorCode : std::uint8_t {
  invalid_argument,  ///< a value out of range, or values that do not go together
  unknown_handle,    ///< destroyed, never made, or made by another device
  wrong_state,       ///< the QP's state does not allow it
  wrong_type,        ///< the QP's type does not allow it
  missing_attribute,
  unexpected_attribute,
  no_resources,  ///< a queue or a table is full
  in_use,        ///< something still refers to the object
};

/// The reason why a verb was refused. A refused verb changes nothing.
struct VerbError {
  VerbErrorCode code = VerbErrorCode::invalid_argument;
  std::string_view subject;    ///< the argument at fault, e.g. `path_mtu`; refers to static text
  std::string_view needs;      ///< the requirement, e.g. `at most 30`; refers to static text
  std::uint64_t found = 0;     ///< the offending value
  std::uint64_t expected = 0;  ///< the limit or the correct value, where there is one

  friend bool operator==(const VerbError&, const VerbError&) = default;
};

/// Returns a text such as `sges: found 5, needs at most max_send_sge (4)`.
[[nodiscard]] std::string to_string(const VerbError& error);

/// Returns a text such as `expected at most 30, found 31`, of an error of a value.
[[nodiscard]] std::string expectation(const VerbError& error);

template <typename T>
using VerbResult = tl::expected<T, VerbError>;

}  // namespace roce::transport
