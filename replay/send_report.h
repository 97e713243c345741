// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "replay/send_loop.h"
#include "replay/send_options.h"
#include "replay/send_survey.h"

namespace roce::replay {

/// One line a second for people.
void show_live(const SendTotals& totals);
/// How far reading is, likewise.
void show_reading(double share);
/// Takes such a line away.
void end_live();

/// Why nothing is to be sent although it was asked for: frames of a survey that cannot go out; empty if all can.
[[nodiscard]] std::string unfit_text(const Survey& survey);

/// Says what is in the captures and what would be done with it.
void print_dry_run(const SendOptions& options, const Survey& survey, const Pace& pace);
/// Says what went out.
void print_sent(const SendOptions& options, const Survey& survey, const SendTotals& totals);

}  // namespace roce::replay
