// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "columns/encoder.h"
#include "command_line/outcome.h"
#include "roce/link/output_file.h"
#include "text/output.h"

namespace roce::analyze {

enum class ExportFormat : std::uint8_t { parquet, native, ndjson };

/// `parquet`, `native`, `ndjson`: the name of the format, and the end of the name of a file.
[[nodiscard]] std::string_view format_name(ExportFormat format);

/// The file that a table is written to, or standard output.
class TableOutput {
 public:
  /// `path` is "-" for `standard_output`.
  [[nodiscard]] static Outcome<std::unique_ptr<TableOutput>> create(ExportFormat format, const std::string& path,
                                                                    std::string_view table,
                                                                    const std::vector<columns::Column>& columns,
                                                                    text::Output& standard_output);

  void write(const columns::Batch& batch) { encoder_->write(batch); }
  /// Writes the end of the table; `close` then puts the file in its place.
  void finish() { encoder_->finish(); }
  [[nodiscard]] Outcome<void> close();
  /// True if nothing more can be written. Any thread may ask.
  [[nodiscard]] bool is_over() const { return is_over_; }

 private:
  TableOutput() = default;

  void take(std::span<const std::byte> bytes, text::Output& standard_output);

  std::optional<link::OutputFile> file_;  ///< not set: standard output
  std::optional<std::string> error_;
  std::unique_ptr<columns::Encoder> encoder_;
  std::atomic<bool> is_over_ = false;
};

}  // namespace roce::analyze
