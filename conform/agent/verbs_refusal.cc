// SPDX-License-Identifier: BSD-2-Clause
#include "conform/agent/verbs_refusal.h"

#include <fmt/format.h>

#include <cstring>

#include "roce/live/control_request.h"

namespace roce::conform {

void refuse(std::string_view operation, std::string_view verb, int error, std::string_view advice) {
  throw live::Refusal(
      fmt::format("{}: {}: {}{}{}", operation, verb, std::strerror(error), advice.empty() ? "" : "; ", advice));
}

}  // namespace roce::conform
