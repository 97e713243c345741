// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/export/schema_text.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "analyze/report/json_values.h"
#include "columns/native_encoder.h"

namespace roce::analyze {

void append_schema_text(text::TextBuffer& out, std::span<const TableInfo* const> tables,
                        const text::TextTable::Layout& layout) {
  text::append(out, fmt::format("Schema version {}. A column with ? may be null.\n", kSchemaVersion));
  for (const TableInfo* info : tables) {
    text::append(out, fmt::format("\n{}: one row is {}\n", info->name, info->meaning));
    text::TextTable table({{"column"}, {"type"}, {"unit"}, {"meaning"}});
    for (const columns::Column& column : info->columns) {
      table.add_row({{std::string{column.name}},
                     {fmt::format("{}{}", type_name(column.type), column.nullable ? "?" : "")},
                     {std::string{column.unit}},
                     {std::string{column.meaning}}});
    }
    table.append_text(out, layout);
  }
}

void append_schema_json(text::TextBuffer& out, std::span<const TableInfo* const> tables) {
  for (const TableInfo* info : tables) {
    for (const columns::Column& column : info->columns) {
      OrderedJson json;
      json["schema_version"] = kSchemaVersion;
      json["table"] = info->name;
      json["column"] = column.name;
      json["type"] = type_name(column.type);
      json["nullable"] = column.nullable;
      json["unit"] = column.unit;
      json["meaning"] = column.meaning;
      text::append(out, json_line(json));
    }
  }
}

void append_schema_sql(text::TextBuffer& out, std::span<const TableInfo* const> tables, std::string_view cluster) {
  for (const TableInfo* info : tables) {
    std::string columns;
    for (const columns::Column& column : info->columns) {
      columns += fmt::format("{}\n  `{}` {}", columns.empty() ? "" : ",", column.name, clickhouse_type(column));
    }
    // Old versions take no NULL in a key, and no backquotes are needed around the names of keys.
    const std::string own = fmt::format("{}{}", info->name, cluster.empty() ? "" : "_here");
    text::append(
        out, fmt::format("CREATE TABLE {} ({}\n) ENGINE = MergeTree PARTITION BY (run, point) ORDER BY point;\n", own,
                         columns));
    if (cluster.empty()) continue;
    // By row: most captures have few points and few connections, which would go to one server.
    text::append(out,
                 fmt::format("CREATE TABLE {} AS {} ENGINE = Distributed('{}', currentDatabase(), '{}', rand());\n",
                             info->name, own, cluster, own));
  }
}

}  // namespace roce::analyze
