// SPDX-License-Identifier: BSD-2-Clause
#include "columns/parquet_pages.h"

#include <algorithm>
#include <array>
#include <bit>

#include "columns/bytes.h"

namespace roce::columns {

namespace {

/// Appends numbers of some bits each, the lowest bits of each byte first. `Number`: unsigned.
template <typename Number>
void pack(std::string& out, std::span<const Number> values, unsigned bits) {
  constexpr unsigned kWord = 64;
  std::uint64_t pending = 0;
  unsigned held = 0;
  for (const Number value : values) {
    pending |= std::uint64_t{value} << held;
    held += bits;
    if (held < kWord) continue;
    append_little_endian(out, pending, sizeof(pending));
    held -= kWord;
    // The bits of the value that the word had no room for; a shift by its whole width would be none.
    pending = held == 0 ? 0 : std::uint64_t{value} >> (bits - held);
  }
  append_little_endian(out, pending, (held + 7) / 8);
}

constexpr std::size_t kGroup = 8;

template <typename Number>
void append_packed_groups(std::string& out, std::span<const Number> values, unsigned bits) {
  const std::size_t groups = (values.size() + kGroup - 1) / kGroup;
  append_varint(out, groups << 1U | 1U);
  const std::size_t begin = out.size();
  pack(out, values, bits);
  out.resize(begin + groups * bits, '\0');
}

/// True if the values of a whole group are the same. Without a branch for each, so that they are compared at once.
template <typename Number>
bool is_one_value(const Number* group) {
  Number difference = 0;
  for (std::size_t i = 1; i < kGroup; ++i) difference = static_cast<Number>(difference | (group[i] ^ group[0]));
  return difference == 0;
}

/// A run is worth its header from a whole group on, and groups begin at multiples of eight from the end of the last
/// run.
template <typename Number>
void append_runs_of(std::string& out, std::span<const Number> values, unsigned bits) {
  std::size_t packed = 0;  // the first value that no run has yet
  std::size_t at = 0;
  while (at + kGroup <= values.size()) {
    if (!is_one_value(values.data() + at)) {
      at += kGroup;
      continue;
    }
    if (at != packed) append_packed_groups(out, values.subspan(packed, at - packed), bits);
    packed = at + kGroup;
    while (packed < values.size() && values[packed] == values[at]) ++packed;
    append_run(out, values[at], packed - at, bits);
    at = packed;
  }
  if (packed != values.size()) append_packed_groups(out, values.subspan(packed), bits);
}

constexpr std::size_t kBlock = 128;
constexpr std::size_t kMiniBlocks = 4;
constexpr std::size_t kMiniBlock = kBlock / kMiniBlocks;

/// Appends a block of differences; `T` is the signed type in which they wrap.
template <typename T>
void append_block(std::string& out, std::span<const T> deltas) {
  using Unsigned = std::make_unsigned_t<T>;
  const T least = *std::min_element(deltas.begin(), deltas.end());
  append_zigzag(out, least);
  std::array<Unsigned, kBlock> above{};
  std::array<unsigned, kMiniBlocks> bits{};
  for (std::size_t i = 0; i < deltas.size(); ++i) {
    above[i] = static_cast<Unsigned>(static_cast<Unsigned>(deltas[i]) - static_cast<Unsigned>(least));
    bits[i / kMiniBlock] = std::max(bits[i / kMiniBlock], static_cast<unsigned>(std::bit_width(above[i])));
  }
  for (const unsigned each : bits) out += static_cast<char>(each);
  for (std::size_t mini = 0; mini < kMiniBlocks && mini * kMiniBlock < deltas.size(); ++mini) {
    if (bits[mini] == 0) continue;
    pack(out, std::span<const Unsigned>{above}.subspan(mini * kMiniBlock, kMiniBlock), bits[mini]);
  }
}

template <typename T>
void append_deltas_of(std::string& out, std::span<const std::uint64_t> values) {
  using Unsigned = std::make_unsigned_t<T>;
  append_varint(out, kBlock);
  append_varint(out, kMiniBlocks);
  append_varint(out, values.size());
  append_zigzag(out, values.empty() ? T{0} : static_cast<T>(values[0]));
  std::array<T, kBlock> deltas{};
  std::size_t count = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    deltas[count++] = static_cast<T>(static_cast<Unsigned>(values[i]) - static_cast<Unsigned>(values[i - 1]));
    if (count == kBlock || i + 1 == values.size()) {
      append_block<T>(out, std::span<const T>{deltas}.first(count));
      count = 0;
    }
  }
}

}  // namespace

void append_run(std::string& out, std::uint32_t value, std::size_t length, unsigned bits) {
  append_varint(out, length << 1U);
  append_little_endian(out, value, (bits + 7) / 8);
}

void append_runs(std::string& out, std::span<const std::uint32_t> values, unsigned bits) {
  append_runs_of(out, values, bits);
}

void append_runs(std::string& out, std::span<const std::uint8_t> values, unsigned bits) {
  append_runs_of(out, values, bits);
}

void append_deltas(std::string& out, std::span<const std::uint64_t> values, std::size_t width) {
  if (width == 4) {
    append_deltas_of<std::int32_t>(out, values);
  } else {
    append_deltas_of<std::int64_t>(out, values);
  }
}

std::optional<NumberDictionary> make_dictionary(std::span<const std::uint64_t> values, std::size_t most) {
  constexpr std::uint32_t kFree = 0xFFFF'FFFF;
  NumberDictionary made;
  std::vector<std::uint32_t> slots(std::bit_ceil(most + 1) * 2, kFree);
  made.numbers.resize(values.size());
  std::uint32_t latest = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::uint64_t value = values[i];
    if (i != 0 && value == made.entries[latest]) {
      made.numbers[i] = latest;
      continue;
    }
    std::uint64_t hash = value * 0x9E37'79B9'7F4A'7C15;
    hash ^= hash >> 32U;
    std::size_t place = hash & (slots.size() - 1);
    while (slots[place] != kFree && made.entries[slots[place]] != value) place = (place + 1) & (slots.size() - 1);
    if (slots[place] == kFree) {
      if (made.entries.size() == most) return std::nullopt;
      slots[place] = static_cast<std::uint32_t>(made.entries.size());
      made.entries.push_back(value);
    }
    made.numbers[i] = latest = slots[place];
  }
  return made;
}

unsigned bits_for(std::size_t count) {
  return count < 2 ? 0 : static_cast<unsigned>(std::bit_width(count - 1));
}

}  // namespace roce::columns
