// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "columns/encoder.h"

namespace roce::columns {

/// The facts about a Parquet file that are not in its rows.
struct ParquetNotes {
  std::string created_by;
  std::vector<std::pair<std::string, std::string>> metadata;  ///< keys and values
};

/// Apache Parquet: each batch becomes a row group of pages compressed by zstd. Text and numbers of few different values
/// have dictionaries; other numbers are differences. Each column of a row group has its minimum, its maximum and its
/// nulls, so that readers pass over row groups. Keeps a few hundred bytes for each column of a row group until the end.
class ParquetEncoder final : public Encoder {
 public:
  ParquetEncoder(std::vector<Column> columns, ParquetNotes notes, Sink sink);
  ~ParquetEncoder() override;

  /// Throws std::runtime_error if zstd fails. At most 2^31 - 1 rows.
  void write(const Batch& batch) override;
  void finish() override;

 private:
  class Compressor;
  struct Chunk;

  void put(std::string_view bytes);
  void put_dictionary(std::string_view entries, std::size_t count, Chunk& chunk);
  void put_data(std::string_view body, std::size_t values, int encoding, Chunk& chunk);
  void write_column(const Column& column, const Values& values, std::size_t rows, Chunk& chunk);

  std::vector<Column> columns_;
  ParquetNotes notes_;
  Sink sink_;
  std::unique_ptr<Compressor> compressor_;
  std::uint64_t written_ = 0;
  std::uint64_t rows_ = 0;
  std::uint32_t groups_ = 0;
  std::string row_groups_;  ///< their descriptions, as the end of the file has them
};

}  // namespace roce::columns
