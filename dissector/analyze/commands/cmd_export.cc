// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "analyze/commands/commands.h"
#include "analyze/export/export_consumer.h"
#include "analyze/export/schema_text.h"
#include "analyze/input/report.h"
#include "analyze/names/load_names.h"
#include "analyze/session/analysis_session.h"
#include "command_line/program.h"
#include "command_line/spelling.h"
#include "files/file_use.h"
#include "text/human_units.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-analyze export packets -o packets.parquet trace.pcap          a file for DuckDB, ClickHouse, Spark, pandas
  roce-analyze export all -o rows trace.pcap                         all five tables: rows/packets.parquet …
  roce-analyze export streams --format ndjson trace.pcap | jq -c 'select(.resent > 0) | [.end0, .end1]'
  roce-analyze export events --format native trace.pcap | clickhouse-client -q 'INSERT INTO events FORMAT Native'
  roce-analyze export packets --columns frame,time_ns,psn -o psn.parquet trace.pcap
  roce-analyze export --schema                                       every column with its type, unit and meaning)";

struct ExportOptions {
  AnalysisOptions common;
  std::string tables;
  std::vector<std::string> columns;
  std::string output = "-";
  std::string run;
  std::string interval = "100ms";
  ExportFormat format = ExportFormat::parquet;
  bool schema = false;
  bool sql = false;
  std::string cluster;
};

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t comma = list.find(',');
    parts.emplace_back(list.substr(0, comma));
    if (comma == std::string_view::npos) return parts;
    list.remove_prefix(comma + 1);
  }
}

/// Returns ` (did you mean X?)`, or nothing if no name is alike.
std::string guess(std::string_view name, const std::vector<std::string_view>& names) {
  const std::vector<std::string> alike = command_line::nearest_names(name, names);
  return alike.empty() ? std::string{} : fmt::format(" (did you mean {}?)", alike.front());
}

Outcome<std::vector<const TableInfo*>> find_tables(const std::string& list) {
  std::vector<const TableInfo*> found;
  std::vector<std::string_view> names;
  for (const TableInfo& info : table_infos()) {
    names.push_back(info.name);
    if (list == "all") found.push_back(&info);
  }
  if (list == "all") return found;
  for (const std::string& name : split(list)) {
    const auto at = std::find(names.begin(), names.end(), name);
    if (at == names.end()) {
      return cannot(fmt::format("there is no table '{}'{}: there are {}, and all", name, guess(name, names),
                                fmt::join(names, ", ")));
    }
    const TableInfo* info = &table_infos()[static_cast<std::size_t>(at - names.begin())];
    if (std::find(found.begin(), found.end(), info) != found.end()) {
      return cannot(fmt::format("the table '{}' is given twice", name));
    }
    found.push_back(info);
  }
  return found;
}

Outcome<std::vector<std::size_t>> find_columns(const TableInfo& table, const std::vector<std::string>& lists) {
  std::vector<std::size_t> found;
  if (lists.empty()) {
    for (std::size_t i = 0; i < table.columns.size(); ++i) found.push_back(i);
    return found;
  }
  std::vector<std::string_view> names;
  names.reserve(table.columns.size());
  for (const columns::Column& column : table.columns) names.push_back(column.name);
  for (const std::string& list : lists) {
    for (const std::string& name : split(list)) {
      const auto at = std::find(names.begin(), names.end(), name);
      if (at == names.end()) {
        return cannot(fmt::format("{} has no column '{}'{}; roce-analyze export {} --schema lists them", table.name,
                                  name, guess(name, names), table.name));
      }
      const auto index = static_cast<std::size_t>(at - names.begin());
      if (std::find(found.begin(), found.end(), index) != found.end()) {
        return cannot(fmt::format("--columns: '{}' is given twice", name));
      }
      found.push_back(index);
    }
  }
  return found;
}

ExitCode refuse(const Failure& failure) {
  report(failure.message);
  return failure.code;
}

/// A folder that is made for files, and goes again if it stays empty.
class OutputFolder {
 public:
  OutputFolder() = default;
  OutputFolder(const OutputFolder&) = delete;
  OutputFolder& operator=(const OutputFolder&) = delete;
  ~OutputFolder() {
    std::error_code ignored;
    if (!made_.empty()) std::filesystem::remove(made_, ignored);
  }

  [[nodiscard]] Outcome<void> make(const std::string& path) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error)) return {};
    if (std::filesystem::exists(path, error)) {
      return cannot(fmt::format("several tables need a folder, and '{}' is none", path));
    }
    if (std::filesystem::create_directory(path, error)) made_ = path;
    if (error) return failed(fmt::format("cannot make the folder '{}': {}", path, error.message()));
    return {};
  }

 private:
  std::string made_;
};

/// Returns the problem of the command line that the files do not matter for; nothing if there is none.
std::optional<std::string> find_mistake(const ExportOptions& options, std::size_t tables) {
  if (options.output == "-" && tables > 1) {
    return "several tables need a folder: -o FOLDER";
  }
  if (!options.columns.empty() && tables > 1) return "--columns are those of one table";
  if (options.output == "-" && options.format != ExportFormat::ndjson && isatty(STDOUT_FILENO) != 0) {
    return fmt::format("{} is nothing for a terminal: -o FILE, a pipe, or --format ndjson",
                       options.format == ExportFormat::parquet ? "Parquet" : "Native");
  }
  const auto interval = text::parse_duration(options.interval);
  if (!interval || *interval <= 0) {
    return fmt::format("--interval takes a duration such as 10ms, 250us or 1s, not '{}'", options.interval);
  }
  return std::nullopt;
}

bool is_cluster_name(std::string_view name) {
  return std::ranges::all_of(name, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
           c == '.';
  });
}

ExitCode show_schema(const ExportOptions& options, const std::vector<const TableInfo*>& tables) {
  AnalysisSession session{options.common};
  session.prepare_output();
  text::TextBuffer& out = session.output().buffer();
  if (options.sql) {
    append_schema_sql(out, tables, options.cluster);
  } else if (options.common.json) {
    append_schema_json(out, tables);
  } else {
    append_schema_text(out, tables, session.layout());
  }
  return session.finish();
}

Outcome<std::vector<TableTask>> make_tasks(const ExportOptions& options, const std::vector<const TableInfo*>& tables,
                                           AnalysisSession& session) {
  std::vector<std::string> paths;
  std::vector<files::FileUse> written{{"--carry", options.common.carry}};
  for (const TableInfo* table : tables) {
    paths.push_back(tables.size() == 1
                        ? options.output
                        : fmt::format("{}/{}.{}", options.output, table->name, format_name(options.format)));
    written.push_back({"-o", paths.back()});
  }
  std::vector<files::FileUse> read;
  read.reserve(options.common.names.size() + session.inputs().size());
  for (const std::string& text : options.common.names) read.push_back({"--names", NamesArgument::of(text).path});
  for (const InputFile& file : session.inputs()) read.push_back({"FILE", file.path});
  if (const auto conflict = files::find_conflict(read, written)) return cannot(*conflict);
  std::vector<TableTask> tasks;
  for (std::size_t i = 0; i < tables.size(); ++i) {
    auto columns = find_columns(*tables[i], options.columns);
    if (!columns) return tl::unexpected(columns.error());
    std::vector<columns::Column> described;
    for (const std::size_t column : *columns) described.push_back(tables[i]->columns[column]);
    auto output = TableOutput::create(options.format, paths[i], tables[i]->name, described, session.output());
    if (!output) return tl::unexpected(output.error());
    tasks.push_back({tables[i]->id, *std::move(columns), *std::move(output)});
  }
  return tasks;
}

ExitCode run_export(ExportOptions options) {
  if (options.common.json) options.format = ExportFormat::ndjson;
  const bool shows_schema = options.schema || options.sql;
  if (options.tables.empty() && !shows_schema) {
    return refuse({ExitCode::usage, "which table? roce-analyze export TABLE FILE... (--help shows examples)"});
  }
  const auto tables = find_tables(options.tables.empty() ? "all" : options.tables);
  if (!tables) return refuse(tables.error());
  if (!is_cluster_name(options.cluster)) {
    return refuse({ExitCode::usage, fmt::format("--cluster takes a name of letters, digits, '_', '-' and '.', not '{}'",
                                                options.cluster)});
  }
  if (shows_schema) return show_schema(options, *tables);
  if (const auto mistake = find_mistake(options, tables->size())) return refuse({ExitCode::usage, *mistake});
  if (const auto columns = find_columns(*tables->front(), options.columns); !columns) return refuse(columns.error());
  AnalysisSession session{options.common};
  if (!session.open()) return session.finish();
  OutputFolder folder;
  if (tables->size() > 1) {
    if (const auto made = folder.make(options.output); !made) return refuse(made.error());
  }
  auto tasks = make_tasks(options, *tables, session);
  if (!tasks) return refuse(tasks.error());
  {
    ExportConsumer consumer{session, *tasks, options.run, *text::parse_duration(options.interval)};
    analysis::TrackerOptions tracker;
    tracker.keep_answers = false;
    tracker.keep_messages = consumer.wants_messages();
    const AnalysisResult result = session.run(consumer, tracker);
    // A wrong command line leaves no file; standard error has told it.
    if (options.common.stream && *options.common.stream >= result.streams_begun) return session.finish();
    consumer.finish(result);
  }
  for (const TableTask& task : *tasks) {
    if (const auto closed = task.output->close(); !closed) return refuse(closed.error());
  }
  return session.finish();
}

}  // namespace

void add_export(command_line::Program& program, ExitCode& code) {
  command_line::Command command =
      program.add_subcommand("export", "Tables for DuckDB, ClickHouse, Spark …: Parquet, Native or NDJSON");
  const auto options = std::make_shared<ExportOptions>();
  command.add_option("TABLE", options->tables,
                     "packets, messages, events, streams, intervals, several of them (streams,events), or all");
  add_common_options(command, options->common);
  add_filter_options(command, options->common);
  add_carry_options(command, options->common);
  command
      .add_choice(
          "--format", options->format,
          {{"parquet", ExportFormat::parquet}, {"native", ExportFormat::native}, {"ndjson", ExportFormat::ndjson}},
          "parquet (the default), native (ClickHouse, for pipes) or ndjson; --json is ndjson")
      .type_name("FORMAT");
  command.add_option("-o,--output", options->output, "File, or for several tables folder; - is standard output")
      .capture_default_str()
      .type_name("PATH");
  command.add_option("--columns", options->columns, "Only these columns, in this order: NAME[,NAME...]")
      .expected(1)
      .take_all()
      .allow_extra_args(false)
      .type_name("NAMES");
  command.add_option("--run", options->run, "Name of the run, for the column run: rows of several runs stay apart")
      .type_name("NAME");
  command.add_option("--interval", options->interval, "Length of the intervals")
      .capture_default_str()
      .type_name("DURATION");
  command.add_flag("--schema", options->schema, "Only print the columns (with --json for programs)");
  const command_line::Option sql =
      command.add_flag("--sql", options->sql, "Only print the statements that make the tables in ClickHouse");
  command
      .add_option("--cluster", options->cluster,
                  "Print them for each server of this ClickHouse cluster: tables that are spread over all of them")
      .type_name("NAME")
      .needs(sql);
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_export(*options); });
}

}  // namespace roce::analyze
