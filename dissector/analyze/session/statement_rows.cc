// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/session/statement_rows.h"

#include <nlohmann/json.hpp>

#include "analyze/report/json_values.h"
#include "analyze/report/statement_text.h"

namespace roce::analyze {

void write_statements(AnalysisSession& session, const std::vector<Statement>& statements) {
  if (session.options().csv) return;
  text::TextBuffer& out = session.output().buffer();
  if (!session.options().json && !statements.empty()) out.push_back('\n');
  for (const Statement& statement : statements) {
    if (session.options().json) {
      OrderedJson line;
      line["severity"] = severity_text(statement.severity);
      line["statement"] = statement.text;
      text::append(out, json_line(line));
    } else {
      append_statement(out, statement, session.layout().palette);
    }
  }
  session.output().commit();
}

}  // namespace roce::analyze
