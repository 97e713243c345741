// SPDX-License-Identifier: BSD-2-Clause
#include "text/text_table.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "dissector/analyze/program.h"

namespace roce::text {
namespace {

using analyze::test::lines;

TextTable sample() {
  TextTable table{{{"Host", Align::left, "host"}, {"Packets", Align::right, "packets"}, {"Note", Align::left, ""}}};
  table.add_row({{"node17", Tone::plain, {}}, {"1.23 M", Tone::plain, std::uint64_t{1'234'567}}, {"fine"}});
  table.add_row({{"Zürich"}, {"7", Tone::bad, std::uint64_t{7}}, {"lost", Tone::caution, {}}});
  table.add_row({{"x"}});
  return table;
}

std::string text(const TextTable& table, const TextTable::Layout& layout = {}) {
  TextBuffer out;
  table.append_text(out, layout);
  return fmt::to_string(out);
}

std::string csv(const TextTable& table) {
  TextBuffer out;
  table.append_csv(out);
  return fmt::to_string(out);
}

std::string without_colours(std::string coloured) {
  for (std::size_t at = 0; (at = coloured.find('\033')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  return coloured;
}

TEST(TextTableTest, AlignsByWhatIsSeen) {
  EXPECT_EQ(text(sample()),
            "Host    Packets  Note\n"
            "node17   1.23 M  fine\n"
            "Zürich        7  lost\n"
            "x\n");
  EXPECT_EQ(text(sample(), {.indent = 2, .with_headings = false}),
            "  node17  1.23 M  fine\n"
            "  Zürich       7  lost\n"
            "  x\n");
}

TEST(TextTableTest, ColourDoesNotMoveAnything) {
  const std::string coloured = text(sample(), {.palette = kColours});
  EXPECT_NE(coloured.find("        \033[1;31m7\033[0m  \033[33mlost\033[0m\n"), std::string::npos) << coloured;
  EXPECT_EQ(without_colours(coloured), text(sample()));
}

TEST(TextTableTest, TheWidestColumnOfTextGivesWay) {
  TextTable table{{{"Source", Align::left, ""}, {"Destination", Align::left, ""}, {"N", Align::right, ""}}};
  table.add_row({{"2001:db8:1111:2222::1"}, {"192.0.2.1"}, {"123456789012345678901234567890"}});
  // The columns are 21, 11 and 30 wide, with two gaps of two.
  const std::string full = "2001:db8:1111:2222::1  192.0.2.1    123456789012345678901234567890\n";
  EXPECT_EQ(lines(text(table, {.width = 66}))[1] + "\n", full);
  EXPECT_EQ(lines(text(table, {.width = 60}))[1], "2001:db8:1111:…  192.0.2.1    123456789012345678901234567890");
  EXPECT_EQ(lines(text(table, {.charset = Charset::ascii, .width = 60}))[1],
            "2001:db8:1111:~  192.0.2.1    123456789012345678901234567890");
  // Both text columns have their least width, and the number is whole.
  EXPECT_EQ(lines(text(table, {.width = 10}))[1], "2001:db…  192.0.2…  123456789012345678901234567890");
  for (std::size_t width = 50; width < 70; ++width) {
    for (const std::string& line : lines(text(table, {.width = width}))) EXPECT_LE(display_width(line), width);
  }
}

TEST(TextTableTest, WideLettersAreNotHalved) {
  TextTable table{{{"名前", Align::left, ""}, {"N", Align::right, ""}}};
  table.add_row({{"東京大阪京都"}, {"1"}});
  EXPECT_EQ(text(table, {.width = 12}), "名前       N\n東京大阪…  1\n");
  EXPECT_EQ(text(table, {.width = 11}), "名前      N\n東京大…   1\n");
}

TEST(TextTableTest, ControlCharactersDoNotReachTheTerminal) {
  TextTable table{{{"Name", Align::left, ""}}};
  table.add_row({{"\033]0;x\a\n"}});
  EXPECT_EQ(text(table), "Name\n?]0;x??\n");
}

TEST(TextTableTest, EmptyTables) {
  EXPECT_EQ(text(TextTable{{}}), "\n");
  EXPECT_EQ(text(TextTable{{{"A", Align::left, ""}}}), "A\n");
  EXPECT_EQ(csv(TextTable{{{"A", Align::left, "a"}}}), "a\r\n");
}

TEST(TextTableTest, CsvHasExactValuesAndQuotesWhatNeedsIt) {
  EXPECT_EQ(csv(sample()), "host,packets,Note\r\nnode17,1234567,fine\r\nZürich,7,lost\r\nx,,\r\n");
  TextTable table{{{"a", Align::left, ""}, {"b", Align::left, ""}, {"c", Align::left, ""}, {"d", Align::left, ""}}};
  table.add_row({{"1,5"}, {"say \"no\""}, {"two\nlines"}, {"plain"}});
  table.add_row({{"x", Tone::plain, -3.25}, {"x", Tone::plain, std::int64_t{-1}}, {"x", Tone::plain, true}, {""}});
  EXPECT_EQ(csv(table), "a,b,c,d\r\n\"1,5\",\"say \"\"no\"\"\",\"two\nlines\",plain\r\n-3.25,-1,true,\r\n");
}

TEST(TextTableTest, NdjsonHasExactValues) {
  TextTable table = sample();
  table.add_row({{"\xff"}, {"x", Tone::plain, 0.5}, {"", Tone::plain, std::string{"exact"}}});
  TextBuffer out;
  table.append_ndjson(out);
  const std::vector<std::string> rows = lines(fmt::to_string(out));
  ASSERT_EQ(rows.size(), 4U);
  EXPECT_EQ(rows[0], R"({"host":"node17","packets":1234567,"Note":"fine"})");
  EXPECT_EQ(rows[2], R"({"host":"x","packets":null,"Note":null})");
  EXPECT_EQ(rows[3], "{\"host\":\"\uFFFD\",\"packets\":0.5,\"Note\":\"exact\"}");
}

using TextTableProgramTest = analyze::test::ProgramTest;

TEST_F(TextTableProgramTest, AnotherReaderOfCsvAgrees) {
  TextTable table{{{"a", Align::left, ""}, {"b,\"c", Align::left, ""}}};
  table.add_row({{"1,5"}, {"\"\""}});
  table.add_row({{"two\r\nlines\n"}, {" spaces "}});
  table.add_row({{""}, {"é"}});
  const std::string file = save("table.csv", csv(table));
  const std::string script =
      "import csv,json,sys; print(json.dumps(list(csv.reader(open(sys.argv[1],newline=\"\",encoding=\"utf-8\")))))";
  ASSERT_EQ(std::system(("python3 -c '" + script + "' " + file + " > " + path("json")).c_str()), 0);
  const auto rows = nlohmann::json::parse(load(path("json")));
  EXPECT_EQ(rows.dump(), R"([["a","b,\"c"],["1,5","\"\""],["two\r\nlines\n"," spaces "],["","é"]])");
}

}  // namespace
}  // namespace roce::text
