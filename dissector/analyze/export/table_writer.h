// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "analyze/export/background_writer.h"
#include "analyze/export/table.h"
#include "analyze/export/table_output.h"

namespace roce::analyze {

/// Collects the rows of a table, and hands them on in batches: two of them are all that is kept.
template <typename Row>
class TableWriter {
 public:
  /// Rows of a batch, which is a row group of Parquet and a block of Native.
  static constexpr std::size_t kRows = 65'536;

  /// `chosen`: indices of columns, in the order in which they are written.
  TableWriter(std::span<const TableColumn<Row>> table, const std::vector<std::size_t>& chosen, TableOutput& output,
              BackgroundWriter& background)
      : filling_(std::make_unique<columns::Batch>(columns_of(table, chosen), kRows)),
        spare_(std::make_unique<columns::Batch>(filling_->columns(), kRows)),
        output_(output),
        background_(background) {
    for (const std::size_t i : chosen) fills_.push_back(table[i].fill);
  }

  void add(const Row& row) { add_rows({&row, 1}); }
  /// `rows`: a number of them that divides `kRows`, except for the last ones.
  void add_rows(std::span<const Row> rows) {
    for (std::size_t i = 0; i < fills_.size(); ++i) fills_[i](rows, filling_->cell(i));
    filling_->end_rows(rows.size());
    if (filling_->rows() >= kRows) hand_over();
  }
  void finish() {
    hand_over();
    background_.wait();
    output_.finish();
  }
  [[nodiscard]] bool is_over() const { return output_.is_over(); }

  [[nodiscard]] static std::vector<columns::Column> columns_of(std::span<const TableColumn<Row>> table,
                                                               const std::vector<std::size_t>& chosen) {
    std::vector<columns::Column> columns;
    columns.reserve(chosen.size());
    for (const std::size_t i : chosen) columns.push_back(table[i].column);
    return columns;
  }

 private:
  void hand_over() {
    background_.wait();
    std::swap(filling_, spare_);
    background_.add([this] { output_.write(*spare_); });
    filling_->clear();
  }

  std::vector<void (*)(std::span<const Row>, columns::Cell)> fills_;
  std::unique_ptr<columns::Batch> filling_;
  std::unique_ptr<columns::Batch> spare_;  ///< empty, or what is being written
  TableOutput& output_;
  BackgroundWriter& background_;
};

}  // namespace roce::analyze
