// SPDX-License-Identifier: BSD-2-Clause
#include "columns/parquet_encoder.h"

#include <zstd.h>

#include <algorithm>
#include <optional>
#include <stdexcept>

#include "columns/parquet_pages.h"
#include "columns/parquet_schema.h"
#include "columns/thrift.h"

namespace roce::columns {

namespace {

constexpr std::string_view kMagic = "PAR1";
constexpr int kCompression = 3;  // of zstd: higher levels take several times as long for a tenth
constexpr std::size_t kMostEntries = 4096;
constexpr std::size_t kLongestBound = 64;  // longer texts are no use as a minimum or maximum

void append_plain(std::string& out, std::uint64_t value, Type type) {
  append_little_endian(out, value, physical_bytes(type));
}

void append_plain(std::string& out, std::string_view text) {
  append_little_endian(out, text.size(), 4);
  out += text;
}

std::string plain_booleans(std::span<const std::uint64_t> values) {
  std::string out((values.size() + 7) / 8, '\0');
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] != 0) out[i / 8] = static_cast<char>(static_cast<unsigned char>(out[i / 8]) | (1U << (i % 8)));
  }
  return out;
}

/// Returns the bytes that say which rows have a value, as a page begins with them.
std::string definition_levels(const Values& values) {
  std::string runs;
  const std::size_t rows = values.present().size();
  const std::size_t known = values.numbers().size();
  if (known == rows || known == 0) {
    append_run(runs, known == 0 ? 0 : 1, rows, 1);
  } else {
    append_runs(runs, values.present(), 1);
  }
  std::string out;
  append_little_endian(out, runs.size(), 4);
  return out + runs;
}

/// Returns the indices of a page into its dictionary.
std::string dictionary_indices(std::span<const std::uint32_t> numbers, std::size_t entries) {
  const unsigned bits = bits_for(entries);
  std::string out(1, static_cast<char>(bits));
  append_runs(out, numbers, bits);
  return out;
}

/// Returns the indices of a page whose dictionary has one entry.
std::string only_index(std::size_t count) {
  std::string out(1, '\0');
  append_run(out, 0, count, 0);
  return out;
}

/// Returns minimum and maximum, as Parquet's statistics have them; nothing if there is no value.
std::optional<std::pair<std::string, std::string>> bounds(const Column& column, const Values& values,
                                                          std::span<const std::uint64_t> different) {
  if (values.numbers().empty()) return std::nullopt;
  if (column.type == Type::text) {
    std::string_view least = values.texts()[0];
    std::string_view most = least;
    for (std::size_t i = 1; i < values.texts().size(); ++i) {
      least = std::min(least, values.texts()[i]);
      most = std::max(most, values.texts()[i]);
    }
    if (std::max(least.size(), most.size()) > kLongestBound) return std::nullopt;
    return std::pair{std::string{least}, std::string{most}};
  }
  // So that signed numbers, too, are in the order of unsigned ones.
  const std::uint64_t flip = column.type == Type::i64 ? std::uint64_t{1} << 63U : 0;
  std::uint64_t least = different[0] ^ flip;
  std::uint64_t most = least;
  for (const std::uint64_t number : different) {
    least = std::min(least, number ^ flip);
    most = std::max(most, number ^ flip);
  }
  std::pair<std::string, std::string> found;
  append_plain(found.first, least ^ flip, column.type);
  append_plain(found.second, most ^ flip, column.type);
  return found;
}

}  // namespace

/// Holds what zstd needs from page to page.
class ParquetEncoder::Compressor {
 public:
  Compressor() : context_(ZSTD_createCCtx()) {
    if (context_ == nullptr) throw std::bad_alloc{};
  }
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;
  ~Compressor() { ZSTD_freeCCtx(context_); }

  /// The result is valid until the next call.
  std::string_view compress(std::string_view bytes) {
    out_.resize(ZSTD_compressBound(bytes.size()));
    const std::size_t size =
        ZSTD_compressCCtx(context_, out_.data(), out_.size(), bytes.data(), bytes.size(), kCompression);
    if (ZSTD_isError(size) != 0) throw std::runtime_error{std::string{"zstd: "} + ZSTD_getErrorName(size)};
    return std::string_view{out_}.substr(0, size);
  }

 private:
  ZSTD_CCtx* context_;
  std::string out_;
};

/// A column of a row group as it is being written.
struct ParquetEncoder::Chunk {
  std::uint64_t dictionary_at = 0;  ///< 0: none
  std::uint64_t data_at = 0;
  std::uint64_t bytes = 0;       ///< with the headers of the pages
  std::uint64_t compressed = 0;  ///< the same
  int encoding = 0;
  std::vector<std::uint64_t> entries;  ///< the different numbers, if there is a dictionary of numbers
};

ParquetEncoder::ParquetEncoder(std::vector<Column> columns, ParquetNotes notes, Sink sink)
    : columns_(std::move(columns)),
      notes_(std::move(notes)),
      sink_(std::move(sink)),
      compressor_(std::make_unique<Compressor>()) {
  put(kMagic);
}

ParquetEncoder::~ParquetEncoder() = default;

void ParquetEncoder::put(std::string_view bytes) {
  written_ += bytes.size();
  sink_(std::as_bytes(std::span{bytes}));
}

void ParquetEncoder::put_dictionary(std::string_view entries, std::size_t count, Chunk& chunk) {
  const std::string_view body = compressor_->compress(entries);
  std::string header;
  ThriftWriter thrift{header};
  thrift.begin_element();
  thrift.i32(1, kDictionaryPage);
  thrift.i32(2, static_cast<std::int32_t>(entries.size()));
  thrift.i32(3, static_cast<std::int32_t>(body.size()));
  thrift.begin(7);
  thrift.i32(1, static_cast<std::int32_t>(count));
  thrift.i32(2, kPlain);
  thrift.end();
  thrift.end();
  chunk.dictionary_at = written_;
  chunk.bytes += header.size() + entries.size();
  chunk.compressed += header.size() + body.size();
  put(header);
  put(body);
}

void ParquetEncoder::put_data(std::string_view bytes, std::size_t values, int encoding, Chunk& chunk) {
  const std::string_view body = compressor_->compress(bytes);
  std::string header;
  ThriftWriter thrift{header};
  thrift.begin_element();
  thrift.i32(1, kDataPage);
  thrift.i32(2, static_cast<std::int32_t>(bytes.size()));
  thrift.i32(3, static_cast<std::int32_t>(body.size()));
  thrift.begin(5);
  thrift.i32(1, static_cast<std::int32_t>(values));
  thrift.i32(2, encoding);
  thrift.i32(3, kRuns);
  thrift.i32(4, kRuns);
  thrift.end();
  thrift.end();
  chunk.data_at = written_;
  chunk.encoding = encoding;
  chunk.bytes += header.size() + bytes.size();
  chunk.compressed += header.size() + body.size();
  put(header);
  put(body);
}

void ParquetEncoder::write_column(const Column& column, const Values& values, std::size_t rows, Chunk& chunk) {
  std::string page = column.nullable ? definition_levels(values) : std::string{};
  // An empty dictionary is more than some readers take.
  if (values.numbers().empty()) return put_data(page, rows, kPlain, chunk);
  if (column.type == Type::boolean) return put_data(page + plain_booleans(values.numbers()), rows, kPlain, chunk);
  if (column.type == Type::text) {
    std::string entries;
    for (std::size_t i = 0; i < values.texts().size(); ++i) append_plain(entries, values.texts()[i]);
    if (values.texts().size() == 1) {
      put_dictionary(entries, 1, chunk);
      return put_data(page + only_index(values.numbers().size()), rows, kDictionary, chunk);
    }
    const std::vector<std::uint32_t> numbers(values.numbers().begin(), values.numbers().end());
    put_dictionary(entries, values.texts().size(), chunk);
    return put_data(page + dictionary_indices(numbers, values.texts().size()), rows, kDictionary, chunk);
  }
  const std::uint64_t first = values.numbers()[0];
  if (std::all_of(values.numbers().begin(), values.numbers().end(),
                  [&](std::uint64_t each) { return each == first; })) {
    std::string entry;
    append_plain(entry, first, column.type);
    chunk.entries = {first};
    put_dictionary(entry, 1, chunk);
    return put_data(page + only_index(values.numbers().size()), rows, kDictionary, chunk);
  }
  // With more entries than this, the dictionary itself is most of what is written.
  const std::size_t most = std::clamp<std::size_t>(values.numbers().size() / 8, 4, kMostEntries);
  if (auto dictionary = make_dictionary(values.numbers(), most)) {
    std::string entries;
    for (const std::uint64_t entry : dictionary->entries) append_plain(entries, entry, column.type);
    put_dictionary(entries, dictionary->entries.size(), chunk);
    chunk.entries = std::move(dictionary->entries);
    return put_data(page + dictionary_indices(dictionary->numbers, chunk.entries.size()), rows, kDictionary, chunk);
  }
  const std::size_t width = physical_bytes(column.type);
  const std::size_t before = page.size();
  append_deltas(page, values.numbers(), width);
  if (page.size() - before < values.numbers().size() * width) return put_data(page, rows, kDeltas, chunk);
  page.resize(before);
  for (const std::uint64_t value : values.numbers()) append_plain(page, value, column.type);
  put_data(page, rows, kPlain, chunk);
}

void ParquetEncoder::write(const Batch& batch) {
  if (batch.rows() == 0) return;
  ThriftWriter thrift{row_groups_};
  const std::uint64_t begin = written_;
  std::uint64_t bytes = 0;
  thrift.begin_element();
  thrift.list_of_structs(1, columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    const Values& values = batch.values(i);
    Chunk chunk;
    write_column(columns_[i], values, batch.rows(), chunk);
    bytes += chunk.bytes;
    thrift.begin_element();
    thrift.i64(2, static_cast<std::int64_t>(chunk.dictionary_at != 0 ? chunk.dictionary_at : chunk.data_at));
    thrift.begin(3);
    thrift.i32(1, physical_type(columns_[i].type));
    thrift.list_of_i32(2, chunk.dictionary_at != 0 ? 3 : 2);
    if (chunk.dictionary_at != 0) thrift.element(kPlain);
    thrift.element(chunk.encoding);
    thrift.element(kRuns);
    thrift.list_of_texts(3, 1);
    thrift.element(columns_[i].name);
    thrift.i32(4, kZstd);
    thrift.i64(5, static_cast<std::int64_t>(batch.rows()));
    thrift.i64(6, static_cast<std::int64_t>(chunk.bytes));
    thrift.i64(7, static_cast<std::int64_t>(chunk.compressed));
    thrift.i64(9, static_cast<std::int64_t>(chunk.data_at));
    if (chunk.dictionary_at != 0) thrift.i64(11, static_cast<std::int64_t>(chunk.dictionary_at));
    thrift.begin(12);
    thrift.i64(3, static_cast<std::int64_t>(batch.rows() - values.numbers().size()));
    if (const auto found = bounds(columns_[i], values, chunk.entries.empty() ? values.numbers() : chunk.entries)) {
      thrift.text(5, found->second);
      thrift.text(6, found->first);
    }
    thrift.end();
    thrift.end();
    thrift.end();
  }
  thrift.i64(2, static_cast<std::int64_t>(bytes));
  thrift.i64(3, static_cast<std::int64_t>(batch.rows()));
  thrift.i64(5, static_cast<std::int64_t>(begin));
  thrift.i64(6, static_cast<std::int64_t>(written_ - begin));
  thrift.end();
  rows_ += batch.rows();
  ++groups_;
}

void ParquetEncoder::finish() {
  std::string footer;
  ThriftWriter thrift{footer};
  thrift.begin_element();
  thrift.i32(1, 2);
  append_schema(thrift, 2, columns_);
  thrift.i64(3, static_cast<std::int64_t>(rows_));
  thrift.list_of_structs(4, groups_);
  footer += row_groups_;
  thrift.list_of_structs(5, notes_.metadata.size());
  for (const auto& [key, value] : notes_.metadata) {
    thrift.begin_element();
    thrift.text(1, key);
    thrift.text(2, value);
    thrift.end();
  }
  thrift.text(6, notes_.created_by);
  // Each column's minimum and maximum are in the order of its type.
  thrift.list_of_structs(7, columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) {
    thrift.begin_element();
    thrift.begin(1);
    thrift.end();
    thrift.end();
  }
  thrift.end();
  append_little_endian(footer, footer.size(), 4);
  footer += kMagic;
  put(footer);
}

}  // namespace roce::columns
