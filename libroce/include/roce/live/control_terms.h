// SPDX-License-Identifier: BSD-2-Clause
// The members of control requests and answers that are about connections by RDMA CM (docs/control.md).
#pragma once

#include <nlohmann/json.hpp>

#include "roce/live/cm_desk.h"

namespace roce::live {

/// Reads the terms of a request; those that it does not name are as docs/control.md says. Throws Refusal
/// (roce/live/control_request.h) for a value that a term cannot have.
[[nodiscard]] CmTerms cm_terms_of(const nlohmann::json& request);
/// Reads `service`, which has to be present; throws Refusal if it is not.
[[nodiscard]] ServiceId cm_service_of(const nlohmann::json& request);
/// Returns an event as an answer to `cm_events` has it.
[[nodiscard]] nlohmann::ordered_json to_json(const CmReport& report);

}  // namespace roce::live
