// SPDX-License-Identifier: BSD-2-Clause
// Writes tables that are hard on readers, each as NDJSON, Parquet and Native: make_tables FOLDER.
#include <fstream>
#include <iostream>
#include <limits>
#include <memory>
#include <random>

#include "columns/native_encoder.h"
#include "columns/ndjson_encoder.h"
#include "columns/parquet_encoder.h"

namespace {

using namespace roce::columns;

const std::vector<Column> kColumns{{"u8", Type::u8, false, "", ""},
                                   {"u8_or_null", Type::u8, true, "", ""},
                                   {"u16", Type::u16, false, "", ""},
                                   {"u32", Type::u32, false, "", ""},
                                   {"u32_or_null", Type::u32, true, "", ""},
                                   {"u64", Type::u64, false, "", ""},
                                   {"u64_or_null", Type::u64, true, "", ""},
                                   {"i64", Type::i64, false, "", ""},
                                   {"steps", Type::u64, false, "", ""},
                                   {"yes", Type::boolean, false, "", ""},
                                   {"yes_or_null", Type::boolean, true, "", ""},
                                   {"text", Type::text, false, "", ""},
                                   {"text_or_null", Type::text, true, "", ""},
                                   {"never", Type::text, true, "", ""},
                                   {"never_number", Type::i64, true, "", ""}};

/// Texts that break what quotes, ends or orders by bytes.
std::string hostile_text(std::uint64_t number) {
  static const std::vector<std::string> texts{"",
                                              "plain",
                                              "\"quoted\" \\ 'and' `more`",
                                              std::string{"nul\0inside", 10},
                                              "line\nfeed\ttab\x7F",
                                              "\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80",
                                              "\xFF\xFE not UTF-8",
                                              "\xC0\x80\xED\xA0\x80",
                                              std::string(300, 'x')};
  return number < texts.size() ? texts[number] : "text " + std::to_string(number);
}

class Maker {
 public:
  explicit Maker(unsigned kind) : kind_(kind), random_(kind) {}

  void fill(Batch& batch, std::size_t rows) {
    for (std::size_t i = 0; i < kColumns.size(); ++i) {
      Cell cell = batch.cell(i);
      for (std::size_t row = 0; row < rows; ++row) put(cell, kColumns[i], row);
      cell.end();
    }
    batch.end_rows(rows);
  }

 private:
  void put(Cell& cell, const Column& column, std::size_t row) {
    const bool is_never = column.name.starts_with("never");
    if (column.nullable && (is_never || kind_ == 2 || random_() % 3 == 0)) return cell.null();
    const std::uint64_t value = value_for(column, row);
    if (column.type == Type::text) return cell.text({0, value}, [&] { return hostile_text(value); });
    cell.number(value);
  }

  std::uint64_t value_for(const Column& column, std::size_t row) {
    if (column.name == "steps") return std::uint64_t{1} << 63U | (row * 3);
    switch (column.type) {
      case Type::boolean:
        return random_() % 2;
      case Type::text:
        return random_() % (kind_ == 1 ? 12 : 5000);
      case Type::u8:
        return extreme(8);
      case Type::u16:
        return extreme(16);
      case Type::u32:
        return extreme(32);
      case Type::u64:
      case Type::i64:
        break;
    }
    return extreme(64);
  }

  /// In kind 1 mostly the least and the greatest number of so many bits; else any.
  std::uint64_t extreme(unsigned bits) {
    const std::uint64_t most = ~std::uint64_t{0} >> (64U - bits);
    if (kind_ != 1) return random_() & most;
    static const std::vector<std::uint64_t> some{0,
                                                 1,
                                                 0x7FFF'FFFF,
                                                 0x8000'0000,
                                                 0xFFFF'FFFF,
                                                 std::uint64_t{1} << 63U,
                                                 (std::uint64_t{1} << 63U) - 1,
                                                 ~std::uint64_t{0}};
    return some[random_() % some.size()] & most;
  }

  unsigned kind_;
  std::mt19937_64 random_;
};

void write(const std::string& folder, unsigned kind, const std::vector<std::size_t>& batches) {
  std::vector<std::unique_ptr<std::ofstream>> files;
  std::vector<std::unique_ptr<Encoder>> encoders;
  const auto sink = [&](const std::string& format) -> Sink {
    const std::string path = folder + "/" + std::to_string(kind) + "." + format;
    files.push_back(std::make_unique<std::ofstream>(path, std::ios::binary));
    return [file = files.back().get()](std::span<const std::byte> bytes) {
      file->write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    };
  };
  encoders.push_back(std::make_unique<NdjsonEncoder>(sink("ndjson")));
  encoders.push_back(std::make_unique<NativeEncoder>(sink("native")));
  encoders.push_back(
      std::make_unique<ParquetEncoder>(kColumns, ParquetNotes{"make_tables", {{"key", "value"}}}, sink("parquet")));
  Maker maker{kind};
  Batch batch{kColumns, 10'000};
  for (const std::size_t rows : batches) {
    batch.clear();
    maker.fill(batch, rows);
    for (const auto& encoder : encoders) encoder->write(batch);
  }
  for (const auto& encoder : encoders) encoder->finish();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: make_tables FOLDER\n";
    return 2;
  }
  // Extremes; nulls everywhere; anything; no rows; one row; and sizes around those of blocks and groups.
  write(argv[1], 1, {1000, 1, 128, 129, 7, 8, 9});
  write(argv[1], 2, {500, 3});
  write(argv[1], 3, {10'000, 9'999});
  write(argv[1], 4, {});
  write(argv[1], 5, {1});
  write(argv[1], 6, {33, 257, 0, 64});
  return 0;
}
