// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/display_filter.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <map>
#include <random>

#include "analyze/filter/wire_fields.h"
#include "dissector/analyze/frames.h"
#include "support/counted_heap.h"
#include "support/hex.h"

namespace roce::analyze::test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::array kColours{ValueName{1, "red"}, ValueName{2, "dark red"}, ValueName{3, "green"}};

/// A field of each type; `none` has no value, `many` has 1, 5 and 9.
FieldCatalogue sample_catalogue() {
  FieldCatalogue catalogue;
  for (const FilterField& field :
       {FilterField{"head", FieldType::presence}, FilterField{"yes", FieldType::boolean},
        FilterField{"no", FieldType::boolean}, FilterField{"psn", FieldType::number, {}, 24},
        FilterField{"many", FieldType::number}, FilterField{"none", FieldType::number},
        FilterField{"colour", FieldType::number, kColours, 8}, FilterField{"signed", FieldType::integer},
        FilterField{"rate", FieldType::real}, FilterField{"latency", FieldType::duration},
        FilterField{"when", FieldType::time}, FilterField{"v4", FieldType::address},
        FilterField{"v6", FieldType::address}, FilterField{"mac", FieldType::mac},
        FilterField{"blob", FieldType::bytes}, FilterField{"text", FieldType::text}}) {
    catalogue.add(field);
  }
  return catalogue;
}

class SampleValues final : public FieldValues {
 public:
  explicit SampleValues(const FieldCatalogue& catalogue) {
    const auto set = [&](std::string_view name, std::vector<FilterValue> values) {
      values_[*catalogue.find(name)] = std::move(values);
    };
    set("head", {true});
    set("yes", {true});
    set("no", {false});
    set("psn", {std::uint64_t{100}});
    set("many", {std::uint64_t{1}, std::uint64_t{5}, std::uint64_t{9}});
    set("colour", {std::uint64_t{2}});
    set("signed", {std::int64_t{-7}});
    set("rate", {2.5});
    set("latency", {std::int64_t{12'500}});
    set("when", {std::int64_t{1'795'213'331'500'000'000}});
    set("v4", {Gid::from_ipv4({{192, 0, 2, 7}})});
    set("v6", {Gid{{0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}}});
    set("mac", {MacAddress{{2, 0, 0, 0, 0, 1}}});
    set("blob", {std::string_view{"\x01\x02\x03hello"}});
    set("text", {std::string_view{"eth0"}});
  }
  [[nodiscard]] std::optional<FilterValue> value(FieldId id, std::size_t index) const override {
    const auto found = values_.find(id);
    if (found == values_.end() || index >= found->second.size()) return std::nullopt;
    return found->second[index];
  }

 private:
  std::map<FieldId, std::vector<FilterValue>> values_;
};

bool sample_passes(std::string_view expression) {
  const FieldCatalogue catalogue = sample_catalogue();
  const auto filter = DisplayFilter::compile(expression, catalogue);
  EXPECT_TRUE(filter.has_value()) << expression << ": " << (filter ? "" : to_string(filter.error()));
  return filter && filter->matches(SampleValues{catalogue});
}

FilterError sample_error(std::string_view expression) {
  const auto filter = DisplayFilter::compile(expression, sample_catalogue());
  EXPECT_FALSE(filter.has_value()) << expression;
  return filter ? FilterError{} : filter.error();
}

TEST(DisplayFilterTest, ComparesEveryType) {
  for (const std::string_view expression : {"psn == 100",
                                            "psn eq 0x64",
                                            "psn != 99",
                                            "psn ne 99",
                                            "psn < 101",
                                            "psn lt 101",
                                            "psn <= 100",
                                            "psn le 100",
                                            "psn > 99",
                                            "psn gt 99",
                                            "psn >= 100",
                                            "psn GE 100",
                                            "psn==100",
                                            "yes == true",
                                            "no == 0",
                                            "yes != false",
                                            "colour == 2",
                                            "colour == \"dark red\"",
                                            "colour == 'Dark Red'",
                                            "colour != green",
                                            "colour < green",
                                            "signed == -7",
                                            "signed < -6",
                                            "signed >= -7",
                                            "rate == 2.5",
                                            "rate > 2",
                                            "rate < 1e3",
                                            "latency == 12.5us",
                                            "latency == 12500ns",
                                            "latency > 10us",
                                            "latency < 1.5ms",
                                            "latency < 2s",
                                            "latency < 0.1",
                                            "latency == \"12.5 us\"",
                                            "when == 2026-11-20T22:22:11.5Z",
                                            "when > \"2026-11-20 22:22:11\"",
                                            "when < 1795213332",
                                            "v4 == 192.0.2.7",
                                            "v4 == 192.0.2.0/24",
                                            "v4 == ::ffff:192.0.2.7",
                                            "v4 != 192.0.3.0/24",
                                            "v6 == 2001:db8::1",
                                            "v6 == 2001:db8::/32",
                                            "v6 != 192.0.2.7",
                                            "mac == 02:00:00:00:00:01",
                                            "mac != 02:00:00:00:00:02",
                                            "blob == 01:02:03:68:65:6c:6c:6f",
                                            "blob contains 0x0203",
                                            "blob contains \"hell\"",
                                            "text == eth0",
                                            "text == \"eth0\"",
                                            "text contains th",
                                            "text > eth"}) {
    EXPECT_TRUE(sample_passes(expression)) << expression;
    EXPECT_FALSE(sample_passes(fmt::format("not ({})", expression))) << expression;
  }
  for (const std::string_view expression : {"psn == 101",          "psn != 100",          "psn < 100",
                                            "psn > 100",           "psn <= 99",           "psn >= 101",
                                            "yes == false",        "colour == red",       "colour > green",
                                            "signed > -7",         "rate > 2.5",          "latency > 12.5us",
                                            "when > 1795213331.5", "v4 == 192.0.2.8",     "v4 == 192.0.3.0/24",
                                            "v4 != 192.0.2.0/24",  "v6 == 2001:db9::/32", "mac == 02:00:00:00:00:02",
                                            "blob == 01:02",       "blob contains 03:02", "text == eth1",
                                            "text contains eth1"}) {
    EXPECT_FALSE(sample_passes(expression)) << expression;
  }
}

TEST(DisplayFilterTest, BareNamesAreThereAndTrue) {
  EXPECT_TRUE(sample_passes("head"));
  EXPECT_TRUE(sample_passes("psn"));
  EXPECT_TRUE(sample_passes("yes"));
  EXPECT_FALSE(sample_passes("no"));
  EXPECT_FALSE(sample_passes("none"));
  EXPECT_TRUE(sample_passes("!none && not no"));
}

TEST(DisplayFilterTest, AnyOfSeveralValuesButNotForUnequal) {
  EXPECT_TRUE(sample_passes("many == 1"));
  EXPECT_TRUE(sample_passes("many == 9"));
  EXPECT_TRUE(sample_passes("many < 2"));
  EXPECT_TRUE(sample_passes("many > 8"));
  EXPECT_FALSE(sample_passes("many == 4"));
  EXPECT_FALSE(sample_passes("many != 9"));
  EXPECT_TRUE(sample_passes("many != 4"));
}

TEST(DisplayFilterTest, AMissingFieldPassesNoComparison) {
  for (const std::string_view expression : {"none == 0", "none != 0", "none < 9", "none >= 0", "none in {0..9}"}) {
    EXPECT_FALSE(sample_passes(expression)) << expression;
  }
  EXPECT_TRUE(sample_passes("!(none == 0)"));
  EXPECT_TRUE(sample_passes("none not in {0..9}"));
}

TEST(DisplayFilterTest, Sets) {
  for (const std::string_view expression :
       {"psn in {100}", "psn in {1, 2, 100}", "psn in {99..101}", "psn in {100..100,3}", "psn in {1 .. 2, 90 .. 0x64}",
        "colour in {red, \"dark red\"}", "signed in {-9..-7}", "latency in {10us..1ms}",
        "v4 in {10.0.0.0/8, 192.0.2.7}", "text in {eth1, eth0}", "many in {4..5}", "psn not in {1..99, 101..200}"}) {
    EXPECT_TRUE(sample_passes(expression)) << expression;
  }
  EXPECT_FALSE(sample_passes("psn in {1..99, 101}"));
  EXPECT_FALSE(sample_passes("psn not in {100}"));
}

TEST(DisplayFilterTest, NamesOfValuesByAPart) {
  EXPECT_TRUE(sample_passes("colour contains RED"));
  EXPECT_TRUE(sample_passes("colour contains \"k r\""));
  EXPECT_FALSE(sample_passes("colour contains gre"));
  EXPECT_EQ(sample_error("colour contains blue").expected, "a part of a name of colour");
}

TEST(DisplayFilterTest, NotBindsClosestThenAnd) {
  for (const bool a : {false, true}) {
    for (const bool b : {false, true}) {
      for (const bool c : {false, true}) {
        const auto name = [](bool value) { return value ? "yes" : "no"; };
        const auto expect = [&](std::string_view form, bool result) {
          const std::string expression = fmt::format(fmt::runtime(form), name(a), name(b), name(c));
          EXPECT_EQ(sample_passes(expression), result) << expression;
        };
        expect("{} or {} and {}", a || (b && c));
        expect("{} && {} || {}", (a && b) || c);
        expect("({} || {}) && {}", (a || b) && c);
        expect("not {} and {} or {}", (!a && b) || c);
        expect("!({} and {}) OR !!{}", !(a && b) || c);
        expect("{} AND {} and not {}", a && b && !c);
      }
    }
  }
}

TEST(DisplayFilterTest, BlankPassesEverything) {
  const auto filter = DisplayFilter::compile(" \t", sample_catalogue());
  ASSERT_TRUE(filter.has_value());
  EXPECT_TRUE(filter->passes_everything());
  EXPECT_TRUE(filter->matches(SampleValues{sample_catalogue()}));
  EXPECT_TRUE(filter->fields().empty());
}

TEST(DisplayFilterTest, SaysWhichFieldsItNeeds) {
  const FieldCatalogue catalogue = sample_catalogue();
  const auto filter = DisplayFilter::compile("text == a or psn == 1 and (not text == b or many)", catalogue);
  ASSERT_TRUE(filter.has_value());
  EXPECT_THAT(std::vector<FieldId>(filter->fields().begin(), filter->fields().end()),
              ElementsAre(*catalogue.find("psn"), *catalogue.find("many"), *catalogue.find("text")));
}

struct BadExpression {
  std::string_view expression;
  std::size_t column;
  std::string_view expected;  ///< a part of the error message
  std::string_view found;
};

TEST(DisplayFilterTest, ErrorsSayWhereAndWhat) {
  for (const BadExpression& bad : {
           BadExpression{"psn ==", 7, "a number 0 ... 16777215", ""},
           BadExpression{"psn == x", 8, "a number 0 ... 16777215 to compare psn with", "x"},
           BadExpression{"psn == -1", 8, "a number", "-1"},
           BadExpression{"psn == \"100\"", 8, "a number", "\"100\""},
           BadExpression{"psn == 16777216", 8, "16777215", "16777216"},
           BadExpression{"psn == 18446744073709551616", 8, "a number", "18446744073709551616"},
           BadExpression{"psn == 1.5", 8, "a number", "1.5"},
           BadExpression{"psn == 10.0.0.1", 8, "a number", "10.0.0.1"},
           BadExpression{"psn = 1", 5, "==", "="},
           BadExpression{"psn & 1", 5, "&&", "&"},
           BadExpression{"psn ~ 1", 5, "contains", "~"},
           BadExpression{"psn == 1 2", 10, "'and', 'or' or the end", "2"},
           BadExpression{"psn == 1 == 2", 10, "'and', 'or' or the end", "=="},
           BadExpression{"(psn == 1", 10, "a closing bracket", ""},
           BadExpression{"psn == 1)", 9, "'and', 'or' or the end", ")"},
           BadExpression{"psn == 1 and", 13, "a field name", ""},
           BadExpression{"and psn == 1", 1, "a field name", "and"},
           BadExpression{"not", 4, "a field name", ""},
           BadExpression{"()", 2, "a field name", ")"},
           BadExpression{"100 == psn", 1, "a field name", "100"},
           BadExpression{"\"psn\" == 1", 1, "a field name", "\"psn\""},
           BadExpression{"psn in 1", 8, "a set of values", "1"},
           BadExpression{"psn in {}", 9, "a number", "}"},
           BadExpression{"psn in {1 2}", 11, "a comma or }", "2"},
           BadExpression{"psn in {1,}", 11, "a number", "}"},
           BadExpression{"psn in {1..}", 12, "a number", "}"},
           BadExpression{"psn in {1", 10, "a comma or }", ""},
           BadExpression{"psn in {9..1}", 12, "a value that is not below 9", "1"},
           BadExpression{"v4 in {10.0.0.1..10.0.0.9}", 16, "no order", ".."},
           BadExpression{"v4 < 10.0.0.1", 4, "no order", "<"},
           BadExpression{"v4 == 10.0.0", 7, "an address such as", "10.0.0"},
           BadExpression{"v4 == 10.0.0.0/33", 7, "an address such as", "10.0.0.0/33"},
           BadExpression{"v4 == 02:00:00:00:00:01", 7, "an address such as", "02:00:00:00:00:01"},
           BadExpression{"mac == 10.0.0.1", 8, "a MAC address", "10.0.0.1"},
           BadExpression{"yes == 2", 8, "true or false", "2"},
           BadExpression{"yes > false", 5, "no order", ">"},
           BadExpression{"head == 1", 6, "nothing behind head", "=="},
           BadExpression{"latency > 10 furlongs", 14, "'and', 'or' or the end", "furlongs"},
           BadExpression{"latency > 10furlongs", 11, "a duration such as", "10furlongs"},
           BadExpression{"when > 12.5", 8, "a time such as", "12.5"},
           BadExpression{"rate == fast", 9, "a number", "fast"},
           BadExpression{"signed == 1.5", 11, "a whole number", "1.5"},
           BadExpression{"psn contains 1", 5, "neither a text nor", "contains"},
           BadExpression{"blob contains 1", 15, "bytes such as", "1"},
           BadExpression{"text == \"abc", 9, "a second \"", "\"abc"},
           BadExpression{"psn == 1 # x", 10, "an operator", "#"},
       }) {
    const FilterError error = sample_error(bad.expression);
    EXPECT_EQ(error.column, bad.column) << bad.expression;
    EXPECT_THAT(error.expected, HasSubstr(bad.expected)) << bad.expression;
    EXPECT_EQ(error.found, bad.found) << bad.expression;
  }
}

TEST(DisplayFilterTest, SuggestsWhatWasMeant) {
  EXPECT_EQ(to_string(sample_error("psn == 1 or colr == 2")),
            "column 13: expected a field name, found 'colr'; did you mean colour?");
  EXPECT_EQ(to_string(sample_error("colour == 'dark rde'")),
            "column 11: expected a number 0 ... 255 or a name such as \"red\" to compare colour with, found ''dark "
            "rde''; did you mean dark red?");
  EXPECT_EQ(to_string(sample_error("psn ==")),
            "column 7: expected a number 0 ... 16777215 to compare psn with, found the end of the expression");
  const auto suggestions = [](std::string_view expression) {
    const auto filter = DisplayFilter::compile(expression, wire_catalogue());
    return filter ? std::vector<std::string>{} : filter.error().suggestions;
  };
  const auto first = [&](std::string_view expression) {
    const std::vector<std::string> found = suggestions(expression);
    return found.empty() ? std::string{} : found.front();
  };
  EXPECT_EQ(first("bth.pns"), "bth.psn");
  EXPECT_EQ(first("infiniband.bth.psn"), "bth.psn");
  EXPECT_EQ(first("psn"), "bth.psn");
  EXPECT_EQ(first("BTH.PSN"), "bth.psn");
  EXPECT_EQ(first("bth.opcode == RC_WRIT_FIRST"), "RC_WRITE_FIRST");
  EXPECT_EQ(first("roce.icrc.status == god"), "good");
  EXPECT_THAT(suggestions("tcp.analysis.retransmission"), ElementsAre());
}

TEST(DisplayFilterTest, DepthIsBounded) {
  const std::string deep = std::string(100'000, '(') + "yes" + std::string(100'000, ')');
  EXPECT_THAT(sample_error(deep).expected, HasSubstr("at most 200"));
  EXPECT_THAT(sample_error(std::string(100'000, '!') + "yes").expected, HasSubstr("at most 200"));
  EXPECT_TRUE(sample_passes(std::string(150, '(') + "yes" + std::string(150, ')')));
  std::string wide = "no";
  for (int i = 0; i < 20'000; ++i) wide += " or no";
  EXPECT_FALSE(sample_passes(wide));
  EXPECT_TRUE(sample_passes(wide + " or yes"));
}

TEST(DisplayFilterTest, AnythingIsCompiledOrRefused) {
  constexpr std::array pieces{"psn",  "many", "none", "colour",   "latency",   "v4", "blob", "text",
                              "head", "yes",  "==",   "!=",       "<",         ">=", "in",   "not",
                              "and",  "or",   "(",    ")",        "{",         "}",  ",",    "..",
                              "1",    "0x",   "10us", "red",      "\"",        "\\", "'x'",  "::/0",
                              "-",    "\xff", "=",    "contains", "1.2.3.4/8", ":",  "0..1", "1795213331.5"};
  const FieldCatalogue catalogue = sample_catalogue();
  const SampleValues values{catalogue};
  std::mt19937 random{20'261'121};
  std::size_t compiled = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string expression;
    for (std::size_t count = random() % 9; count > 0; --count) {
      expression += pieces[random() % pieces.size()];
      if (random() % 4 != 0) expression += ' ';
    }
    const auto filter = DisplayFilter::compile(expression, catalogue);
    if (filter) {
      ++compiled;
      static_cast<void>(filter->matches(values));
    } else {
      EXPECT_GE(filter.error().column, 1U) << expression;
      EXPECT_LE(filter.error().column, expression.size() + 1) << expression;
      EXPECT_FALSE(filter.error().expected.empty()) << expression;
    }
  }
  EXPECT_GT(compiled, 100U);
}

TEST(DisplayFilterTest, EvaluationAllocatesNothing) {
  const FieldCatalogue catalogue = wire_catalogue();
  const auto filter = DisplayFilter::compile(
      "bth.psn in {1, 5..9} or roce.src == 2001:db8::/32 and not aeth or eth.src == 02:00:00:00:00:09 or "
      "cm_drep.private_data contains \"nothing of the kind in there\" or frame.file == \"a file with a long name\" or "
      "ip.ttl != 64 or vlan.vid == 4095 or lldp_org.subtype == 250 or bth.opcode contains XRC",
      catalogue);
  ASSERT_TRUE(filter.has_value()) << to_string(filter.error());
  std::vector<std::vector<std::byte>> frames;
  for (const std::string& hex : all_frames()) frames.push_back(roce::test::from_hex(hex));
  packet_text::FrameInfo frame;
  frame.file = "another file, whose name is just as long";
  const std::uint64_t before = roce::test::heap_allocations();
  std::size_t passed = 0;
  for (const std::vector<std::byte>& bytes : frames) {
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    const packet_text::DecodedPacket decoded{frame, packet, packet, {}};
    passed += filter->matches(PacketValues{decoded}) ? 1 : 0;
  }
  EXPECT_EQ(roce::test::heap_allocations(), before);
  EXPECT_GT(passed, 0U);
  EXPECT_LT(passed, frames.size());
}

}  // namespace
}  // namespace roce::analyze::test
