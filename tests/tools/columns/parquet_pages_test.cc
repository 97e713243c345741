// SPDX-License-Identifier: BSD-2-Clause
// The encodings of Parquet's pages: the examples of its specification, and what comes back of hostile sequences.
#include "columns/parquet_pages.h"

#include <gmock/gmock.h>

#include <random>

#include "columns/batch.h"
#include "columns/bytes.h"
#include "columns/ndjson_encoder.h"

namespace roce::columns {
namespace {

using testing::ElementsAre;

std::vector<unsigned> octets(const std::string& text) {
  std::vector<unsigned> all;
  for (const char c : text) all.push_back(static_cast<unsigned char>(c));
  return all;
}

// Encodings.md, "Run Length Encoding / Bit-Packing Hybrid": the numbers 0 to 7 with 3 bits are 0x88 0xC6 0xFA.
TEST(ParquetRuns, PackAsTheSpecificationShows) {
  std::string out;
  append_runs(out, std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5, 6, 7}, 3);
  EXPECT_THAT(octets(out), ElementsAre(3, 0x88, 0xC6, 0xFA));
}

TEST(ParquetRuns, OfEqualNumbersAreALengthAndTheNumber) {
  std::string out;
  append_runs(out, std::vector<std::uint32_t>(1000, 5), 3);
  EXPECT_THAT(octets(out), ElementsAre(0xD0, 0x0F, 5));
}

// Encodings.md, "Delta Encoding", example 1: 1, 2, 3, 4, 5 are a header, the least difference 1, and no bits.
TEST(ParquetDeltas, OfEqualStepsTakeNoBits) {
  std::string out;
  append_deltas(out, std::vector<std::uint64_t>{1, 2, 3, 4, 5}, 4);
  EXPECT_THAT(octets(out), ElementsAre(0x80, 1, 4, 5, 2, 2, 0, 0, 0, 0));
}

// Example 2: 7, 5, 3, 1, 2, 3, 4, 5 have the least difference -2, and above it 0, 0, 0, 3, 3, 3, 3 in two bits.
TEST(ParquetDeltas, CountFromTheLeastDifference) {
  std::string out;
  append_deltas(out, std::vector<std::uint64_t>{7, 5, 3, 1, 2, 3, 4, 5}, 4);
  EXPECT_THAT(octets(out), ElementsAre(0x80, 1, 4, 8, 14, 3, 2, 0, 0, 0, 0xC0, 0x3F, 0, 0, 0, 0, 0, 0));
}

std::uint64_t take_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0;; shift += 7) {
    const auto byte = static_cast<unsigned char>(in[0]);
    in.remove_prefix(1);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
}

/// Reads runs one bit after the other, as slowly and plainly as can be.
std::vector<std::uint32_t> read_runs(std::string_view in, std::size_t count, unsigned bits) {
  std::vector<std::uint32_t> values;
  while (!in.empty()) {
    const std::uint64_t header = take_varint(in);
    if ((header & 1U) == 0) {
      std::uint32_t value = 0;
      for (unsigned i = 0; i < (bits + 7) / 8; ++i)
        value |= std::uint32_t{static_cast<unsigned char>(in[i])} << (8 * i);
      in.remove_prefix((bits + 7) / 8);
      values.insert(values.end(), header >> 1U, value);
      continue;
    }
    for (std::size_t i = 0; i < (header >> 1U) * 8; ++i) {
      std::uint32_t value = 0;
      for (unsigned bit = 0; bit < bits; ++bit) {
        const std::size_t at = i * bits + bit;
        value |= (static_cast<unsigned char>(in[at / 8]) >> (at % 8) & 1U) << bit;
      }
      values.push_back(value);
    }
    in.remove_prefix((header >> 1U) * bits);
  }
  EXPECT_GE(values.size(), count);
  EXPECT_LT(values.size(), count + 8) << "only the last group may be filled up";
  values.resize(count);
  return values;
}

TEST(ParquetRuns, ComeBackWhateverFollowsWhat) {
  std::mt19937 random{7};
  for (int round = 0; round < 3000; ++round) {
    const auto bits = static_cast<unsigned>(random() % 33);
    std::vector<std::uint32_t> values;
    const std::size_t pieces = 1 + random() % 6;
    for (std::size_t piece = 0; piece < pieces; ++piece) {
      const std::size_t length = random() % 40;
      const bool is_run = random() % 2 == 0;
      auto value = static_cast<std::uint32_t>(random());
      for (std::size_t i = 0; i < length; ++i) {
        if (!is_run) value = static_cast<std::uint32_t>(random());
        values.push_back(bits == 32 ? value : value & ((1U << bits) - 1U));
      }
    }
    std::string out;
    append_runs(out, values, bits);
    ASSERT_EQ(read_runs(out, values.size(), bits), values) << "round " << round;
  }
}

TEST(NumberDictionary, GivesUpBeyondItsBound) {
  const std::vector<std::uint64_t> values{3, 3, 9, 3, ~std::uint64_t{0}, 9};
  const auto made = make_dictionary(values, 3);
  ASSERT_TRUE(made.has_value());
  EXPECT_THAT(made->entries, ElementsAre(3, 9, ~std::uint64_t{0}));
  EXPECT_THAT(made->numbers, ElementsAre(0, 0, 1, 0, 2, 1));
  EXPECT_FALSE(make_dictionary(values, 2).has_value());
}

TEST(Ndjson, QuotesWhatJsonAsksForAndReplacesWhatIsNoUtf8) {
  const std::vector<Column> columns{{"name", Type::text, true, "", ""},
                                    {"big", Type::u64, false, "", ""},
                                    {"small", Type::i64, false, "", ""},
                                    {"yes", Type::boolean, false, "", ""}};
  Batch batch{columns, 8};
  const std::vector<std::string> names{std::string{"a\"b\\c\0d\n", 8}, "\xC3\xA4 \xC0\x80 \xED\xA0\x80 \xF5", ""};
  for (std::size_t i = 0; i < 4; ++i) {
    Cell name = batch.cell(0);
    if (i < names.size()) {
      name.text({0, i}, [&] { return names[i]; });
    } else {
      name.null();
    }
    name.end();
    Cell big = batch.cell(1);
    big.number(~std::uint64_t{0} - i);
    big.end();
    Cell small = batch.cell(2);
    small.number(std::numeric_limits<std::int64_t>::min());
    small.end();
    Cell yes = batch.cell(3);
    yes.number(std::uint64_t{i % 2});
    yes.end();
  }
  batch.end_rows(4);
  std::string out;
  NdjsonEncoder encoder{
      [&](std::span<const std::byte> bytes) { out.append(reinterpret_cast<const char*>(bytes.data()), bytes.size()); }};
  encoder.write(batch);
  const std::string bad = "\xEF\xBF\xBD";
  EXPECT_EQ(out,
            R"({"name":"a\"b\\c\u0000d\u000a","big":18446744073709551615,"small":-9223372036854775808,"yes":false})"
            "\n{\"name\":\"\xC3\xA4 " +
                bad + bad + " " + bad + bad + bad + " " + bad +
                R"(","big":18446744073709551614,"small":-9223372036854775808,"yes":true})"
                "\n"
                R"({"name":"","big":18446744073709551613,"small":-9223372036854775808,"yes":false})"
                "\n"
                R"({"name":null,"big":18446744073709551612,"small":-9223372036854775808,"yes":true})"
                "\n");
}

}  // namespace
}  // namespace roce::columns
