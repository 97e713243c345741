// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "gen/pingpong/connection.h"
#include "gen/pingpong/session.h"

namespace roce::gen {

/// Prints the result of a pingpong: a line for people, or a JSON object.
void print_pingpong(const PingpongConnection& connection, PingpongSession::Role role, bool json);

}  // namespace roce::gen
