// SPDX-License-Identifier: BSD-2-Clause
// Expressions of cases: values, precedence, PSNs, and what the errors say.
#include "conform/language/expression.h"

#include <gmock/gmock.h>

#include <map>

namespace roce::conform {
namespace {

using testing::HasSubstr;

class Names final : public Scope {
 public:
  [[nodiscard]] std::optional<Value> find(std::string_view name) const override {
    const auto found = values.find(name);
    if (found == values.end()) return std::nullopt;
    return found->second;
  }

  std::map<std::string, Value, std::less<>> values{{"E", Value::psn(0xFF'FFFF)},
                                                   {"n", Value::number(5)},
                                                   {"op", Value::word("SEND_ONLY")},
                                                   {"R.va", Value::number(0x1000)},
                                                   {"mtu", Value::number(1024)}};
};

class Expressions : public testing::Test {
 protected:
  std::string value(std::string_view text) {
    const Evaluated<Expression> expression = Expression::read(text);
    if (!expression) return "error: " + expression.error();
    const Evaluated<Value> value = expression->evaluate(names_);
    return value ? to_string(*value) : "error: " + value.error();
  }

  Names names_;
};

TEST_F(Expressions, BindAsInC) {
  EXPECT_EQ(value("1 + 2 * 3"), "7");
  EXPECT_EQ(value("(1 + 2) * 3"), "9");
  EXPECT_EQ(value("10 - 2 - 3"), "5");
  EXPECT_EQ(value("1 << 4 | 0x3"), "19");
  EXPECT_EQ(value("6 & 3 ^ 1"), "3");
  EXPECT_EQ(value("7 % 4 == 3 and not 1 > 2"), "1");
  EXPECT_EQ(value("0 or 0 == 1"), "0");
  EXPECT_EQ(value("2 <= 1 << 1"), "1");
}

TEST_F(Expressions, HaveTimesInNanoseconds) {
  EXPECT_EQ(value("20ms + 5us"), "20005000");
  EXPECT_EQ(value("ack_timeout(14)"), "67108864");
  EXPECT_EQ(value("rnr_wait(12)"), "640000");
  EXPECT_EQ(value("rnr_wait(0)"), "655360000");
}

TEST_F(Expressions, CountPsnsModulo24Bits) {
  EXPECT_EQ(value("$E + 1"), "0");
  EXPECT_EQ(value("1 + $E"), "0");
  EXPECT_EQ(value("psn(0) - 1"), "16777215");
  EXPECT_EQ(value("$n - 6"), "18446744073709551615");
}

TEST_F(Expressions, TakeWordsAndMembers) {
  EXPECT_EQ(value("$op == SEND_ONLY"), "1");
  EXPECT_EQ(value("$op != SEND_ONLY"), "0");
  EXPECT_EQ(value("$R.va + 0x10"), "4112");
  EXPECT_EQ(value("if($n > 4, many, few)"), "many");
}

TEST_F(Expressions, HaveFunctions) {
  EXPECT_EQ(value("packets(0)"), "1");
  EXPECT_EQ(value("packets(1024)"), "1");
  EXPECT_EQ(value("packets(1025)"), "2");
  EXPECT_EQ(value("min(3, 2) + max(3, 2)"), "5");
  EXPECT_EQ(value("bytes(1, 4)").size(), 8U);
  EXPECT_NE(value("bytes(1, 4)"), value("bytes(2, 4)"));
}

TEST_F(Expressions, SayWhatIsWrong) {
  EXPECT_THAT(value("$missing + 1"), HasSubstr("there is no value $missing"));
  EXPECT_THAT(value("1 +"), HasSubstr("expected a value at the end"));
  EXPECT_THAT(value("(1"), HasSubstr("expected ')'"));
  EXPECT_THAT(value("1 2"), HasSubstr("expected an operator, found '2'"));
  EXPECT_THAT(value("12xy"), HasSubstr("expected a number or a time such as 20ms, found '12xy'"));
  EXPECT_THAT(value("nothing(1)"), HasSubstr("there is no function nothing; there are: psn"));
  EXPECT_THAT(value("min(1)"), HasSubstr("min takes 2 arguments, found 1"));
  EXPECT_THAT(value("$op + 1"), HasSubstr("+ takes numbers, found SEND_ONLY"));
  EXPECT_THAT(value("1 / ($n - 5)"), HasSubstr("division by 0"));
  EXPECT_THAT(value("ack_timeout(32)"), HasSubstr("takes a code from 0 to 31, found 32"));
  EXPECT_THAT(value("bytes(1, 9999999)"), HasSubstr("at most 1048576"));
  EXPECT_THAT(value(std::string(1000, '(')), HasSubstr("more than 64 levels"));
}

TEST_F(Expressions, OfAScalarAreOnesOnlyWithADollarOrAParenthesis) {
  for (const std::string_view text : {"0102ff", "0011", "0x60", "02:00:00:00:00:01", "192.0.2.1", "not a thing"}) {
    EXPECT_EQ(to_string(*Expression::read_scalar(text)->evaluate(names_)), text);
  }
  EXPECT_EQ(to_string(*Expression::read_scalar("$n + 1")->evaluate(names_)), "6");
}

}  // namespace
}  // namespace roce::conform
