// SPDX-License-Identifier: BSD-2-Clause
#include "columns/batch.h"

#include <algorithm>
#include <utility>

namespace roce::columns {

namespace {

/// Returns the bytes of the UTF-8 character that `text` begins with; 0 if it begins with none.
std::size_t character_bytes(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return 1;
  const std::size_t size = first >= 0xC2 && first < 0xE0   ? 2
                           : first >= 0xE0 && first < 0xF0 ? 3
                           : first >= 0xF0 && first < 0xF5 ? 4
                                                           : 0;
  if (size == 0 || size > text.size()) return 0;
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) return 0;
  }
  // Overlong forms, surrogates, and what is beyond U+10FFFF.
  const unsigned second = byte(1);
  const bool is_wrong = (first == 0xE0 && second < 0xA0) || (first == 0xED && second >= 0xA0) ||
                        (first == 0xF0 && second < 0x90) || (first == 0xF4 && second >= 0x90);
  return is_wrong ? 0 : size;
}

void append_utf8(std::string& out, std::string_view text) {
  while (!text.empty()) {
    const std::size_t size = character_bytes(text);
    if (size != 0) {
      out.append(text.substr(0, size));
    } else {
      out.append("\xEF\xBF\xBD");
    }
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
}

}  // namespace

std::string_view type_name(Type type) {
  switch (type) {
    case Type::u8:
      return "UInt8";
    case Type::u16:
      return "UInt16";
    case Type::u32:
      return "UInt32";
    case Type::u64:
      return "UInt64";
    case Type::i64:
      return "Int64";
    case Type::boolean:
      return "Bool";
    case Type::text:
      return "String";
  }
  return {};
}

std::size_t Texts::place_of(TextKey key) const {
  std::uint64_t hash = (key.high ^ (key.low * 0x9E37'79B9'7F4A'7C15)) * 0xD6E8'FEB8'6659'FD93;
  hash ^= hash >> 32U;
  std::size_t place = hash & (slots_.size() - 1);
  while (slots_[place].number != kNone && slots_[place].key != key) place = (place + 1) & (slots_.size() - 1);
  return place;
}

std::uint32_t Texts::find(TextKey key) const {
  return slots_.empty() ? kNone : slots_[place_of(key)].number;
}

std::uint32_t Texts::add(TextKey key, std::string_view text) {
  constexpr std::size_t kFewest = 32;
  if (slots_.size() < 2 * (ends_.size() + 1)) {
    const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(std::max(kFewest, slots_.size() * 2)));
    for (const Slot& slot : old) {
      if (slot.number != kNone) slots_[place_of(slot.key)] = slot;
    }
  }
  const auto number = static_cast<std::uint32_t>(ends_.size());
  append_utf8(bytes_, text);
  ends_.push_back(bytes_.size());
  slots_[place_of(key)] = {key, number};
  return number;
}

void Texts::clear() {
  bytes_.clear();
  ends_.clear();
  slots_.clear();
  last_ = kNone;
}

void Values::clear() {
  numbers_count_ = present_count_ = 0;
  texts_.clear();
}

Batch::Batch(std::vector<Column> columns, std::size_t capacity) : columns_(std::move(columns)) {
  values_.reserve(columns_.size());
  for (std::size_t i = 0; i < columns_.size(); ++i) values_.emplace_back(capacity);
}

void Batch::clear() {
  for (Values& values : values_) values.clear();
  rows_ = 0;
}

}  // namespace roce::columns
