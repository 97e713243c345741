// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string_view>

#include "gen/pingpong_connection.h"

namespace roce::gen {

/// Prints how a pingpong ended: a line for people, or a JSON object.
void print_pingpong(const PingpongConnection& connection, PingpongSession::Role role, bool json);
/// Prints what an endpoint says while it runs: on standard error for people, as JSON `{"event": …, "text": …}`.
void print_note(std::string_view event, std::string_view text, bool json);

}  // namespace roce::gen
