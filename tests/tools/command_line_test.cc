// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "command_line/program.h"

namespace roce::command_line {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A byte wide, and with control characters for values.
enum class Colour : std::uint8_t { red, green = 7, blue = 10 };

/// A program with one command, `paint`, and what its command line said.
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
  /// What standard error has of a command line that is wrong.
  [[nodiscard]] std::string mistake(std::vector<std::string> arguments) {
    ::testing::internal::CaptureStderr();
    const bool right = parse(std::move(arguments));
    const std::string text = ::testing::internal::GetCapturedStderr();
    EXPECT_FALSE(right);
    EXPECT_EQ(runs_, 0);
    return text;
  }
  /// Likewise standard output, of one that is right.
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
  EXPECT_THAT(mistake({"--byte", "256"}), HasSubstr("256 not in range 0 to 255"));
  EXPECT_THAT(mistake({"--port", "0"}), HasSubstr("0 not in range 1 to 65535"));
  EXPECT_THAT(mistake({"--seconds", "x"}), HasSubstr("x not in range 0.5"));
  EXPECT_TRUE(
      parse({"--byte", "200", "--port", "4791", "--large", "1099511627776", "--seed", "7", "--seconds", "1.5"}));
  EXPECT_EQ(byte, 200);
  EXPECT_EQ(port, 4791);
  EXPECT_EQ(large, 1'099'511'627'776U);
  EXPECT_EQ(seed, 7U);
  EXPECT_EQ(seconds, 1.5);
}

TEST_F(CommandLine, ChoosesByWord) {
  Colour colour{};
  paint_.add_choice("--colour", colour, colours_, "Colour").type_name("COLOUR");
  EXPECT_EQ(mistake({"--colour", "pink"}),
            "--colour: pink not in {red,green,blue}\nRun with --help for more information.\n");
  EXPECT_THAT(mistake({"--colour", "Green"}), HasSubstr("Green not in"));
  // The value itself is none of the words.
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
  EXPECT_THAT(mistake({"--mtu", "257"}), HasSubstr("257 not in {256,512}"));
  EXPECT_THAT(mistake({"--word", "now"}), HasSubstr("say please, not now"));
  const std::string help = shown("--help");
  EXPECT_THAT(help, HasSubstr("{small,large}"));
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

}  // namespace
}  // namespace roce::command_line
