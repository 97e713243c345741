// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/statement_text.h"

namespace roce::analyze {

namespace {

using analysis::Severity;

std::string_view colour(const text::Palette& palette, Severity severity) {
  return severity == Severity::error ? palette.bad : severity == Severity::warning ? palette.caution : "";
}

}  // namespace

void append_statement(text::TextBuffer& out, const Statement& statement, const text::Palette& palette) {
  const std::string_view sequence = colour(palette, statement.severity);
  text::append(out, sequence);
  text::append_printable(out, statement.text);
  if (!sequence.empty()) text::append(out, palette.reset);
  out.push_back('\n');
}

}  // namespace roce::analyze
