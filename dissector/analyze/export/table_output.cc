// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/export/table_output.h"

#include "analyze/export/table.h"
#include "columns/native_encoder.h"
#include "columns/ndjson_encoder.h"
#include "columns/parquet_encoder.h"

namespace roce::analyze {

namespace {

/// Returns the units of the columns that have one: `time_ns=ns,payload=bytes`.
std::string units_of(const std::vector<columns::Column>& columns) {
  std::string units;
  for (const columns::Column& column : columns) {
    if (column.unit.empty()) continue;
    if (!units.empty()) units += ',';
    units += std::string{column.name} + '=' + std::string{column.unit};
  }
  return units;
}

std::unique_ptr<columns::Encoder> make_encoder(ExportFormat format, std::string_view table,
                                               const std::vector<columns::Column>& columns, columns::Sink sink) {
  switch (format) {
    case ExportFormat::native:
      return std::make_unique<columns::NativeEncoder>(std::move(sink));
    case ExportFormat::ndjson:
      return std::make_unique<columns::NdjsonEncoder>(std::move(sink));
    case ExportFormat::parquet:
      break;
  }
  columns::ParquetNotes notes{"roce-analyze " ROCE_VERSION,
                              {{"roce_schema_version", std::to_string(kSchemaVersion)},
                               {"roce_table", std::string{table}},
                               {"roce_units", units_of(columns)}}};
  return std::make_unique<columns::ParquetEncoder>(columns, std::move(notes), std::move(sink));
}

}  // namespace

std::string_view format_name(ExportFormat format) {
  switch (format) {
    case ExportFormat::native:
      return "native";
    case ExportFormat::ndjson:
      return "ndjson";
    case ExportFormat::parquet:
      break;
  }
  return "parquet";
}

Outcome<std::unique_ptr<TableOutput>> TableOutput::create(ExportFormat format, const std::string& path,
                                                          std::string_view table,
                                                          const std::vector<columns::Column>& columns,
                                                          text::Output& standard_output) {
  std::unique_ptr<TableOutput> output{new TableOutput};
  if (path != "-") {
    auto file = link::OutputFile::create(path);
    if (!file) return failed(file.error().message);
    output->file_ = *std::move(file);
  }
  output->encoder_ =
      make_encoder(format, table, columns, [made = output.get(), &standard_output](std::span<const std::byte> bytes) {
        made->take(bytes, standard_output);
      });
  return output;
}

void TableOutput::take(std::span<const std::byte> bytes, text::Output& standard_output) {
  if (is_over_) return;
  if (!file_) {
    text::append(standard_output.buffer(), {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
    standard_output.commit();
    is_over_ = standard_output.is_over();
    return;
  }
  if (const auto written = file_->write(bytes); !written) {
    error_ = written.error().message;
    is_over_ = true;
  }
}

Outcome<void> TableOutput::close() {
  if (error_) return failed(*error_);
  if (!file_) return {};
  if (const auto closed = file_->close(); !closed) return failed(closed.error().message);
  return {};
}

}  // namespace roce::analyze
