// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line/program.h"

namespace roce::command_line {
namespace {

using ::testing::ContainsRegex;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

// One byte wide, with values that are control characters.
enum class Colour : std::uint8_t { red, green = 7, blue = 10 };

/// A program with one command, `paint`, and the results of parsing its command line.
class CommandLine : public ::testing::Test {
 protected:
  CommandLine() {
    program_.require_subcommand();
    paint_.callback([this] { ++runs_; });
  }

  [[nodiscard]] bool parse(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), "paint");
    return program_.parse(std::move(arguments));
  }
  /// Returns the text on standard error for a command line that is wrong.
  [[nodiscard]] std::string mistake(std::vector<std::string> arguments) {
    ::testing::internal::CaptureStderr();
    const bool right = parse(std::move(arguments));
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_FALSE(right);
    EXPECT_EQ(runs_, 0);
    return text;
  }
  /// Returns the text on standard output for an argument that is right.
  [[nodiscard]] std::string shown(const std::string& argument) {
    ::testing::internal::CaptureStdout();
    const bool right = parse({argument});
    const std::string text = ::testing::internal::GetCapturedStdout();
    EXPECT_TRUE(right);
    EXPECT_EQ(runs_, 0);
    return text;
  }

  Choices<Colour> colours_{{"red", Colour::red}, {"green", Colour::green}, {"blue", Colour::blue}};
  Program program_{"painter", "Paints."};
  Command paint_ = program_.add_subcommand("paint", "Paint something");
  int runs_ = 0;
};

TEST_F(CommandLine, RunsTheCommandOnceItIsRight) {
  std::string file;
  bool twice = false;
  paint_.add_option("FILE", file, "What to paint").required();
  paint_.add_flag("-t,--twice", twice, "Two layers");
  EXPECT_THAT(mistake({}), HasSubstr("FILE is required"));
  EXPECT_TRUE(parse({"wall", "-t"}));
  EXPECT_EQ(file, "wall");
  EXPECT_TRUE(twice);
  EXPECT_EQ(runs_, 1);
  EXPECT_THAT(program_.subcommands(), ElementsAre("paint"));
}

TEST_F(CommandLine, TakesTheArgumentsOfMain) {
  std::string file;
  paint_.add_option("FILE", file, "What to paint");
  const std::vector<const char*> arguments{"painter", "paint", "wall"};
  EXPECT_TRUE(program_.parse(static_cast<int>(arguments.size()), arguments.data()));
  EXPECT_EQ(file, "wall");
}

TEST_F(CommandLine, LeavesAnotherProgramItsArguments) {
  Program wrapper{"wrapper", "Runs another."};
  std::string colour;
  std::vector<std::string> rest;
  std::vector<std::string> seen;
  wrapper.add_option("--colour", colour, "Colour");
  wrapper.set_rest(rest);
  wrapper.callback([&] { seen = rest; });
  EXPECT_TRUE(wrapper.parse({"--colour", "red", "other", "--colour", "blue", "-x", "--", "y"}));
  EXPECT_EQ(colour, "red");
  EXPECT_THAT(rest, ElementsAre("other", "--colour", "blue", "-x", "--", "y"));
  EXPECT_EQ(seen, rest);
}

TEST_F(CommandLine, HelpAndVersionRunNothing) {
  program_.set_version("painter 1.2");
  paint_.footer("Paint dries.");
  EXPECT_THAT(shown("--help"), HasSubstr("Paint dries."));
  ::testing::internal::CaptureStdout();
  EXPECT_TRUE(program_.parse({"--version"}));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "painter 1.2\n");
}

TEST_F(CommandLine, KeepsWhatItDoesNotName) {
  std::uint8_t layers = 3;
  std::optional<std::uint32_t> seed;
  Colour colour = Colour::blue;
  std::vector<Colour> others{Colour::red};
  paint_.add_option("--layers", layers, "Layers");
  paint_.add_option("--seed", seed, "Seed");
  paint_.add_choice("--colour", colour, colours_, "Colour");
  paint_.add_choices("--other", others, colours_, "Others");
  EXPECT_TRUE(parse({}));
  EXPECT_EQ(layers, 3);
  EXPECT_EQ(seed, std::nullopt);
  EXPECT_EQ(colour, Colour::blue);
  EXPECT_THAT(others, ElementsAre(Colour::red));
}

TEST_F(CommandLine, ReadsNumbersOfEachWidth) {
  std::uint8_t byte = 0;
  std::uint16_t port = 0;
  std::uint64_t large = 0;
  std::optional<std::uint32_t> seed;
  double seconds = 0;
  paint_.add_option("--byte", byte, "").range(0, 255);
  paint_.add_option("--port", port, "").range(1, 65535);
  paint_.add_option("--large", large, "").range(std::uint64_t{1}, std::uint64_t{1} << 40);
  paint_.add_option("--seed", seed, "");
  paint_.add_option("--seconds", seconds, "").range(0.5, 2.0);
  EXPECT_THAT(mistake({"--byte", "256"}), HasSubstr("--byte: expected a whole number from 0 to 255, found '256'"));
  EXPECT_THAT(mistake({"--port", "0"}), HasSubstr("--port: expected a whole number from 1 to 65535, found '0'"));
  EXPECT_THAT(mistake({"--seconds", "x"}), HasSubstr("--seconds: expected a number from 0.5 to 2, found 'x'"));
  EXPECT_TRUE(
      parse({"--byte", "200", "--port", "4791", "--large", "1099511627776", "--seed", "7", "--seconds", "1.5"}));
  EXPECT_EQ(byte, 200);
  EXPECT_EQ(port, 4791);
  EXPECT_EQ(large, 1'099'511'627'776U);
  EXPECT_EQ(seed, 7U);
  EXPECT_EQ(seconds, 1.5);
}

TEST_F(CommandLine, RefusesWhatIsNoNumberOfItsWidth) {
  std::uint8_t byte = 1;
  int small = 1;
  std::uint32_t word = 1;
  std::uint64_t large = 1;
  std::optional<std::uint64_t> seed;
  double seconds = 1;
  paint_.add_option("--byte", byte, "");
  paint_.add_option("--small", small, "");
  paint_.add_option("--word", word, "");
  paint_.add_option("--large", large, "");
  paint_.add_option("--seed", seed, "");
  paint_.add_option("--seconds", seconds, "");
  const std::vector<std::string> no_numbers{"",    " 5",  "5 ",  "+5",   "5x",  "x",   "0x",   "0x-1", "--1",
                                            "1'0", "1_0", "0b1", "0o10", "nan", "inf", "-inf", "5\n",  "1,5"};
  for (const char* name : {"--byte", "--small", "--word", "--large", "--seed", "--seconds"}) {
    for (const std::string& value : no_numbers) {
      const std::string said = mistake({name, value});
      EXPECT_THAT(said, ::testing::StartsWith("painter paint: " + std::string{name} + ": expected a ")) << value;
      EXPECT_THAT(said, ::testing::ContainsRegex(", found '.*'\n$"));
      EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 1) << said;
    }
  }
  for (const char* name : {"--byte", "--small", "--word", "--large", "--seed"}) {
    for (const char* value : {"1e3", "1.0", "18446744073709551616", "-18446744073709551615", "0x10000000000000000"}) {
      EXPECT_THAT(mistake({name, value}), HasSubstr(std::string{"found '"} + value + "'")) << name;
    }
  }
  for (const char* name : {"--byte", "--word", "--large", "--seed"}) {
    for (const char* value : {"-1", "-0x1"}) EXPECT_THAT(mistake({name, value}), HasSubstr("whole number from 0 to "));
  }
  EXPECT_THAT(mistake({"--word", "4294967296"}), HasSubstr("from 0 to 4294967295, found '4294967296'"));
  EXPECT_THAT(mistake({"--small", "-2147483649"}), HasSubstr("from -2147483648 to 2147483647"));
  EXPECT_EQ(mistake({"--seconds", "1e999"}), "painter paint: --seconds: expected a number, found '1e999'\n");
  EXPECT_THAT(mistake({"--word", std::string(100'000, '1')}), ::testing::SizeIs(::testing::Lt(200U)));
}

TEST_F(CommandLine, ReadsNumbersAsTheyLook) {
  int small = 0;
  std::uint32_t word = 0;
  std::uint64_t large = 0;
  double seconds = 0;
  paint_.add_option("--small", small, "");
  paint_.add_option("--word", word, "");
  paint_.add_option("--large", large, "");
  paint_.add_option("--seconds", seconds, "");
  // Leading zeros do not make a number octal.
  EXPECT_TRUE(parse({"--small", "-7", "--word", "010", "--large", "0xFFFFFFFFFFFFFFFF", "--seconds", "-1e3"}));
  EXPECT_EQ(small, -7);
  EXPECT_EQ(word, 10U);
  EXPECT_EQ(large, UINT64_MAX);
  EXPECT_EQ(seconds, -1000);
}

TEST_F(CommandLine, ShowsWhatNumbersMayBe) {
  double seconds = 0.5;
  std::uint32_t count = 3;
  std::uint32_t mtu = 1024;
  paint_.add_option("--seconds", seconds, "So long").range(1e-6, 1e6).capture_default_str();
  paint_.add_option("--count", count, "").range(1U, 1U << 24).capture_default_str();
  paint_.add_option("--mtu", mtu, "").one_of({256U, 1024U}).type_name("BYTES").excludes("--count");
  const std::string help = shown("--help");
  EXPECT_THAT(help, ContainsRegex("--seconds FLOAT +So long \\[0.000001 to 1000000\\] \\[default: 0.5\\]"));
  EXPECT_THAT(help, ContainsRegex("--count UINT +\\[1 to 16777216\\] \\[default: 3\\] \\[not with --mtu\\]"));
  EXPECT_THAT(help, ContainsRegex("--mtu BYTES +\\[256, 1024\\] \\[not with --count\\]"));
  double above = 1;
  int least = 0;
  paint_.add_option("--above", above, "").positive();
  paint_.add_option("--least", least, "").not_negative();
  for (const char* value : {"0", "-0.5", "-1"}) {
    EXPECT_THAT(mistake({"--above", value}), HasSubstr(std::string{"expected a number above 0, found '"} + value));
  }
  EXPECT_THAT(mistake({"--above", "1e999"}), HasSubstr("--above: expected a number, found '1e999'"));
  EXPECT_THAT(mistake({"--least", "-1"}), HasSubstr("--least: expected a number of 0 or more, found '-1'"));
  EXPECT_THAT(mistake({"--seconds", "-1"}), HasSubstr("expected a number from 0.000001 to 1000000, found '-1'"));
}

TEST_F(CommandLine, NamesWhatIsNear) {
  std::uint32_t loops = 0;
  std::string wall;
  bool twice = false;
  paint_.add_option("--loops", loops, "");
  paint_.add_flag("!--not-twice", twice, "");
  paint_.add_option("--wall", wall, "").required();
  program_.add_subcommand("paper", "Paper something");
  EXPECT_EQ(mistake({"--lops", "5"}), "painter paint: there is no option '--lops', did you mean --loops?\n");
  EXPECT_EQ(mistake({"--lops=5"}), "painter paint: there is no option '--lops', did you mean --loops?\n");
  EXPECT_EQ(mistake({"--no-twice"}), "painter paint: there is no option '--no-twice', did you mean --not-twice?\n");
  EXPECT_EQ(mistake({"--nothing-like-it"}), "painter paint: there is no option '--nothing-like-it'\n");
  EXPECT_EQ(mistake({"--wall", "north", "so\nuth"}), "painter paint: unexpected argument 'so\\x0auth'\n");
  const auto of_program = [&](std::vector<std::string> arguments) {
    ::testing::internal::CaptureStderr();
    EXPECT_FALSE(program_.parse(std::move(arguments)));
    return ::testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(of_program({"pint", "--wall", "x"}), "painter: there is no command 'pint', did you mean paint?\n");
  EXPECT_EQ(of_program({"scrape"}), "painter: there is no command 'scrape'; --help lists them\n");
  EXPECT_EQ(of_program({}), "painter: a command is missing; --help lists them\n");
  EXPECT_EQ(of_program({"--hepl"}), "painter: there is no option '--hepl', did you mean --help?\n");
  EXPECT_EQ(of_program({std::string(1'000'000, 'x')}).size(), 114U);
}

TEST_F(CommandLine, ChoosesByWord) {
  Colour colour{};
  paint_.add_choice("--colour", colour, colours_, "Colour").type_name("COLOUR");
  EXPECT_EQ(mistake({"--colour", "pink"}), "painter paint: --colour: pink not in {red,green,blue}\n");
  EXPECT_THAT(mistake({"--colour", "Green"}), HasSubstr("Green not in"));
  // The numeric value of a word is not accepted in place of the word.
  EXPECT_THAT(mistake({"--colour", "\a"}), HasSubstr("not in {red,green,blue}"));
  EXPECT_TRUE(parse({"--colour", "green"}));
  EXPECT_EQ(colour, Colour::green);
}

TEST_F(CommandLine, ChoosesInAnyCase) {
  Colour colour{};
  paint_.add_choice("--colour", colour, colours_, "Colour", LetterCase::ignored);
  EXPECT_THAT(mistake({"--colour", "Pink"}), HasSubstr("not in {red,green,blue}"));
  EXPECT_TRUE(parse({"--colour", "Green"}));
  EXPECT_EQ(colour, Colour::green);
}

TEST_F(CommandLine, ChoosesSeveralAndLeavesTheFiles) {
  std::vector<Colour> colours{Colour::red};
  std::vector<std::string> files;
  paint_.add_option("FILE", files, "Files");
  paint_.add_choices("--colour", colours, colours_, "Colours").expected(1).take_all().allow_extra_args(false);
  EXPECT_TRUE(parse({"--colour", "blue", "wall", "--colour", "green", "door"}));
  EXPECT_THAT(colours, ElementsAre(Colour::blue, Colour::green));
  EXPECT_THAT(files, ElementsAre("wall", "door"));
}

TEST_F(CommandLine, ChecksValues) {
  std::string size;
  std::string finish;
  std::string word;
  std::uint32_t mtu = 0;
  paint_.add_option("--size", size, "").one_of({"small", "large"});
  paint_.add_option("--finish", finish, "").one_of({"dull", "bright"}, Listing::hidden);
  paint_.add_option("--mtu", mtu, "").one_of({256U, 512U});
  paint_.add_option("--word", word, "").check([](const std::string& value) {
    return value == "please" ? std::string{} : "say please, not " + value;
  });
  EXPECT_THAT(mistake({"--size", "huge"}), HasSubstr("huge not in {small,large}"));
  EXPECT_THAT(mistake({"--finish", "wet"}), HasSubstr("wet not in {dull,bright}"));
  EXPECT_THAT(mistake({"--mtu", "257"}), HasSubstr("--mtu: expected one of 256, 512, found '257'"));
  EXPECT_THAT(mistake({"--word", "now"}), HasSubstr("say please, not now"));
  const std::string help = shown("--help");
  EXPECT_THAT(help, HasSubstr("[small, large]"));
  EXPECT_THAT(help, ::testing::Not(HasSubstr("{dull,bright}")));
  EXPECT_TRUE(parse({"--size", "small", "--finish", "dull", "--mtu", "512", "--word", "please"}));
  EXPECT_EQ(mtu, 512U);
}

TEST_F(CommandLine, KnowsWhatGoesTogether) {
  bool json = false;
  bool csv = false;
  std::string before;
  std::string after;
  const Option of_after = paint_.add_option("--after", after, "");
  paint_.add_option("--before", before, "").needs(of_after);
  paint_.add_flag("--json", json, "");
  paint_.add_flag("--csv", csv, "").excludes("--json").excludes(of_after);
  EXPECT_THAT(mistake({"--before", "x"}), HasSubstr("--before requires --after"));
  EXPECT_THAT(mistake({"--csv", "--json"}), HasSubstr("excludes"));
  EXPECT_THAT(mistake({"--csv", "--after", "x"}), HasSubstr("excludes"));
  EXPECT_TRUE(parse({"--json", "--before", "x", "--after", "y"}));
}

TEST_F(CommandLine, ExceptionsOfTheCommandPass) {
  paint_.callback([] { throw std::runtime_error("no paint"); });
  EXPECT_THROW(static_cast<void>(parse({})), std::runtime_error);
}

TEST_F(CommandLine, ANameTwiceIsAMistakeOfTheProgram) {
  std::string file;
  paint_.add_option("--file", file, "");
  EXPECT_THROW(paint_.add_option("--file", file, ""), std::runtime_error);
}

// CLI11 of Debian 12 accepts a blank in a name, that of Debian 13 does not.
TEST_F(CommandLine, ABlankInANameIsAMistakeOfTheProgram) {
  std::string file;
  std::vector<std::string> files;
  std::uint32_t number = 0;
  Colour colour{};
  std::vector<Colour> colours;
  EXPECT_THROW(paint_.add_option("A B", file, ""), std::runtime_error);
  EXPECT_THROW(paint_.add_option("A B", files, ""), std::runtime_error);
  EXPECT_THROW(paint_.add_option("A B", number, ""), std::runtime_error);
  EXPECT_THROW(paint_.add_choice("A B", colour, colours_, ""), std::runtime_error);
  EXPECT_THROW(paint_.add_choices("A B", colours, colours_, ""), std::runtime_error);
}

}  // namespace
}  // namespace roce::command_line
