// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include "analyze/run/summary_statements.h"
#include "text/palette.h"
#include "text/text_buffer.h"

namespace roce::analyze {

/// Appends a statement as a line, in the colour of its severity.
void append_statement(text::TextBuffer& out, const Statement& statement, const text::Palette& palette);

}  // namespace roce::analyze
