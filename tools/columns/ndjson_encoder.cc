// SPDX-License-Identifier: BSD-2-Clause
#include "columns/ndjson_encoder.h"

#include <array>
#include <charconv>
#include <vector>

namespace roce::columns {

namespace {

constexpr std::size_t kBlock = 1U << 18U;

template <typename Number>
void append_number(std::string& out, Number value) {
  std::array<char, 24> digits{};
  const auto end = std::to_chars(digits.begin(), digits.end(), value).ptr;
  out.append(digits.begin(), end);
}

std::string quoted(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string out = "\"";
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (code < 0x20 || code == 0x7F) {
      out += "\\u00";
      out += kDigits[code >> 4U];
      out += kDigits[code & 15U];
    } else {
      out += c;
    }
  }
  return out + '"';
}

/// A column that is read from its first row to its last.
struct Reading {
  const Values* values = nullptr;
  Type type{};
  bool nullable = false;
  std::string key;                 ///< with what is between it and the value before
  std::vector<std::string> texts;  ///< quoted
  std::size_t next = 0;

  void append(std::string& out, std::size_t row) {
    out += key;
    if (nullable && values->present()[row] == 0) {
      out += "null";
      return;
    }
    const std::uint64_t value = values->numbers()[next++];
    if (type == Type::text) {
      out += texts[value];
    } else if (type == Type::boolean) {
      out += value != 0 ? "true" : "false";
    } else if (type == Type::i64) {
      append_number(out, static_cast<std::int64_t>(value));
    } else {
      append_number(out, value);
    }
  }
};

}  // namespace

void NdjsonEncoder::write(const Batch& batch) {
  std::vector<Reading> columns;
  for (std::size_t i = 0; i < batch.columns().size(); ++i) {
    const Column& column = batch.columns()[i];
    Reading& reading = columns.emplace_back();
    reading.values = &batch.values(i);
    reading.type = column.type;
    reading.nullable = column.nullable;
    reading.key = (i == 0 ? "{" : ",") + quoted(column.name) + ':';
    for (std::size_t j = 0; j < reading.values->texts().size(); ++j) {
      reading.texts.push_back(quoted(reading.values->texts()[j]));
    }
  }
  const auto flush = [&] {
    if (!out_.empty()) sink_(std::as_bytes(std::span{out_}));
    out_.clear();
  };
  for (std::size_t row = 0; row < batch.rows(); ++row) {
    for (Reading& column : columns) column.append(out_, row);
    out_ += "}\n";
    if (out_.size() >= kBlock) flush();
  }
  flush();
}

}  // namespace roce::columns
