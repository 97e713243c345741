// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "roce/link/link.h"

namespace roce::link {

/// Returns `what: why; advice`. If `error` means that permission is missing, `permission` replaces the advice.
[[nodiscard]] inline tl::unexpected<LinkError> link_failure(const std::string& what, int error, std::string_view advice,
                                                            std::string_view permission) {
  LinkError result;
  result.no_permission = error == EPERM || error == EACCES;
  result.message = what + ": " + std::strerror(error);
  const std::string_view todo = result.no_permission ? permission : advice;
  if (!todo.empty()) result.message.append("; ").append(todo);
  return tl::unexpected(std::move(result));
}

/// Returns the error for an open link whose interface is gone.
[[nodiscard]] inline LinkError interface_gone(const std::string& interface, int error) {
  return {"interface " + interface + " is gone: " + std::strerror(error) + "; start again once it is back"};
}

}  // namespace roce::link
