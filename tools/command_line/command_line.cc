// SPDX-License-Identifier: BSD-2-Clause
// All of CLI11 that the programs compile: each file that includes its header costs ten seconds or more.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <utility>

#include "command_line/command.h"
#include "command_line/option.h"
#include "command_line/program.h"

namespace roce::command_line {

namespace {

/// The place of a word that the check of its option let pass.
std::size_t place_of(const std::string& word, const std::vector<std::string>& words) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

}  // namespace

Option Option::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

Option Option::group(const std::string& headline) {
  option_->group(headline);
  return *this;
}

Option Option::capture_default_str() {
  option_->capture_default_str();
  return *this;
}

Option Option::default_str(const std::string& text) {
  option_->default_str(text);
  return *this;
}

Option Option::required() {
  option_->required();
  return *this;
}

Option Option::excludes(Option other) {
  option_->excludes(other.option_);
  return *this;
}

Option Option::excludes(const std::string& name) {
  option_->excludes(name);
  return *this;
}

Option Option::needs(Option other) {
  option_->needs(other.option_);
  return *this;
}

Option Option::expected(int values) {
  option_->expected(values);
  return *this;
}

Option Option::take_all() {
  option_->take_all();
  return *this;
}

Option Option::allow_extra_args(bool allow) {
  option_->allow_extra_args(allow);
  return *this;
}

Option Option::range(int least, int most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::range(std::uint32_t least, std::uint32_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::range(std::uint64_t least, std::uint64_t most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::range(double least, double most) {
  option_->check(CLI::Range(least, most));
  return *this;
}

Option Option::not_negative() {
  option_->check(CLI::NonNegativeNumber);
  return *this;
}

Option Option::positive() {
  option_->check(CLI::PositiveNumber);
  return *this;
}

Option Option::one_of(std::initializer_list<std::uint32_t> numbers) {
  option_->check(CLI::IsMember(numbers));
  return *this;
}

Option Option::one_of(const std::vector<std::string>& words, Listing listing) {
  CLI::IsMember check{words};
  if (listing == Listing::hidden) check.description("");
  option_->check(check);
  return *this;
}

Option Option::check(std::function<std::string(const std::string& value)> find_mistake) {
  option_->check(std::move(find_mistake));
  return *this;
}

Option Command::add_option(const std::string& names, std::string& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, int& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, double& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, std::uint8_t& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, std::uint16_t& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, std::uint32_t& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, std::uint64_t& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, std::optional<std::uint32_t>& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}
Option Command::add_option(const std::string& names, std::optional<std::uint64_t>& value, const std::string& text) {
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, std::vector<std::string>& values, const std::string& text) {
  return Option{*app_->add_option(names, values, text)};
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& text) {
  return Option{*app_->add_flag(names, value, text)};
}

// CLI11's own transformer of words would go by the values as text, and show them in its errors: control characters,
// where an enumeration is a byte wide.
Option Command::add_word(const std::string& names, const std::vector<std::string>& words, const std::string& text,
                         LetterCase letters, const std::function<void(std::size_t)>& take) {
  CLI::callback_t find = [words, take](const CLI::results_t& chosen) {
    take(place_of(chosen.front(), words));
    return true;
  };
  CLI::Option* option = app_->add_option(names, std::move(find), text);
  option->type_name(CLI::detail::type_name<std::string>());
  if (letters == LetterCase::ignored) {
    option->transform(CLI::IsMember(words, CLI::ignore_case).description(""));
  } else {
    option->check(CLI::IsMember(words).description(""));
  }
  return Option{*option};
}

Option Command::add_words(const std::string& names, const std::vector<std::string>& words, const std::string& text,
                          const std::function<void(const std::vector<std::size_t>&)>& take) {
  CLI::callback_t find = [words, take](const CLI::results_t& chosen) {
    std::vector<std::size_t> places(chosen.size());
    std::ranges::transform(chosen, places.begin(), [&](const std::string& word) { return place_of(word, words); });
    take(places);
    return true;
  };
  CLI::Option* option = app_->add_option(names, std::move(find), text);
  option->type_name(CLI::detail::type_name<std::string>())->expected(CLI::detail::expected_max_vector_size);
  option->check(CLI::IsMember(words).description(""));
  return Option{*option};
}

void Command::footer(const std::string& text) {
  app_->footer(text);
}

void Command::callback(std::function<void()> run) {
  app_->callback(std::move(run));
}

Command Command::add_subcommand(const std::string& name, const std::string& text) {
  return Command{*app_->add_subcommand(name, text)};
}

Program::Program(const std::string& name, const std::string& text) : Program(std::make_unique<CLI::App>(text, name)) {}

Program::Program(std::unique_ptr<CLI::App> owned) : Command(*owned), owned_(std::move(owned)) {}

Program::~Program() = default;

void Program::set_version(const std::string& line) {
  app().set_version_flag("--version", line);
}

Option Program::set_config(const std::string& names, const std::string& text) {
  return Option{*app().set_config(names, "", text)};
}

void Program::require_subcommand() {
  app().require_subcommand(1);
}

std::vector<std::string> Program::subcommands() const {
  std::vector<std::string> names;
  for (const CLI::App* command : app().get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

bool Program::parse(std::vector<std::string> arguments) {
  try {
    // CLI11 takes them from the back.
    std::reverse(arguments.begin(), arguments.end());
    app().parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    // Asking for help is a ParseError too.
    return app().exit(error) == 0;
  }
  return true;
}

bool Program::parse(int argc, const char* const* argv) {
  return parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

}  // namespace roce::command_line
