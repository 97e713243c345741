// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "roce/cm/connection.h"
#include "roce/cm/connection_manager.h"
#include "verbs/cm/cm_records.h"

namespace roce::verbs {

/// Returns what a process is to know of an event of the manager, but for its listener. `connection` is nullptr if the
/// manager has forgotten it. For a request it chooses the first PSN that our side receives.
[[nodiscard]] CmNotice notice_of(const cm::Event& event, const cm::Connection* connection);

}  // namespace roce::verbs
