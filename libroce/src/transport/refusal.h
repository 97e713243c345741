// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <string_view>

#include "roce/transport/verb_error.h"
#include "roce/transport/verbs.h"

namespace roce::transport::detail {

/// Returns the result of a verb that is refused; the arguments are the members of `VerbError`.
[[nodiscard]] inline tl::unexpected<VerbError> refuse(VerbErrorCode code, std::string_view subject,
                                                      std::string_view needs, std::uint64_t found,
                                                      std::uint64_t expected = 0) {
  return tl::unexpected(VerbError{code, subject, needs, found, expected});
}

/// Refuses a verb because of an argument.
[[nodiscard]] inline tl::unexpected<VerbError> invalid(std::string_view subject, std::string_view needs,
                                                       std::uint64_t found, std::uint64_t expected = 0) {
  return refuse(VerbErrorCode::invalid_argument, subject, needs, found, expected);
}

/// Refuses a verb because of a QPN.
[[nodiscard]] inline tl::unexpected<VerbError> unknown_qp(Qpn qpn) {
  return refuse(VerbErrorCode::unknown_handle, "qp", "a QP of this device", qpn.value());
}

/// Refuses a verb because of a handle that names no object of device `device`.
template <typename Tag>
[[nodiscard]] tl::unexpected<VerbError> unknown_handle(std::string_view subject, Handle<Tag> handle,
                                                       std::uint16_t device) {
  const std::string_view needs =
      handle.device == device ? "an object that exists" : "an object of this device, not of another";
  return refuse(VerbErrorCode::unknown_handle, subject, needs, handle.index);
}

}  // namespace roce::transport::detail
