// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <string>
#include <vector>

#include "replay/send/send_loop.h"
#include "replay/send/send_options.h"
#include "replay/send/send_survey.h"

namespace roce::replay {

/// Shows the totals so far in a line that is redrawn, for people.
void show_live(const SendTotals& totals);

/// Returns which frames of a survey cannot be sent, and why; empty if all can.
[[nodiscard]] std::string unfit_text(const Survey& survey);

/// Prints what is in the captures and what would be done with it.
void print_dry_run(const SendOptions& options, const Survey& survey, const Pace& pace);
/// Prints what was sent.
void print_sent(const SendOptions& options, const Survey& survey, const SendTotals& totals);

}  // namespace roce::replay
