// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "analyze/export/tables.h"
#include "text/text_buffer.h"
#include "text/text_table.h"

namespace roce::analyze {

/// Appends the tables with their columns, for people.
void append_schema_text(text::TextBuffer& out, std::span<const TableInfo* const> tables,
                        const text::TextTable::Layout& layout);
/// Appends one line of JSON for each column.
void append_schema_json(text::TextBuffer& out, std::span<const TableInfo* const> tables);
/// Appends the statements that make the tables in ClickHouse. With a `cluster` (letters, digits, `_`, `-` and `.`),
/// those for each of its servers: a table `NAME_here` of its own rows, and `NAME`, which is spread over all of them.
void append_schema_sql(text::TextBuffer& out, std::span<const TableInfo* const> tables, std::string_view cluster);

}  // namespace roce::analyze
