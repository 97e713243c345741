// SPDX-License-Identifier: BSD-2-Clause
// The only file that compiles CLI11: each file that includes its header costs ten seconds or more.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <limits>
#include <memory>
#include <set>
#include <stdexcept>
#include <type_traits>
#include <utility>

#include "command_line/command.h"
#include "command_line/number_text.h"
#include "command_line/option.h"
#include "command_line/program.h"
#include "command_line/spelling.h"

namespace roce::command_line {

namespace {

/// Returns the index of a word that the check of its option let pass.
std::size_t place_of(const std::string& word, const std::vector<std::string>& words) {
  return static_cast<std::size_t>(std::find(words.begin(), words.end(), word) - words.begin());
}

/// The name of the check that each option with a number has.
constexpr const char* kNumberCheck = "number";

/// Shows an option as its name and its kind of value, and all that is to be known of the value behind the description.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    if (!option->get_option_text().empty()) return " " + option->get_option_text();
    if (option->get_type_size() == 0) return {};
    std::string text;
    if (!option->get_type_name().empty()) text += " " + get_label(option->get_type_name());
    if (option->get_expected_max() == CLI::detail::expected_max_vector_size) text += " ...";
    if (option->get_required()) text += " " + get_label("REQUIRED");
    return text;
  }

  std::string make_option_desc(const CLI::Option* option) const override {
    std::string text = option->get_description();
    const auto add = [&](const std::string& note) { text += (text.empty() ? "[" : " [") + note + "]"; };
    if (option->get_type_size() != 0 && !option->get_default_str().empty()) {
      add("default: " + option->get_default_str());
    }
    if (!option->get_needs().empty()) add("needs " + names_of(option->get_needs()));
    if (!option->get_excludes().empty()) add("not with " + names_of(option->get_excludes()));
    return text;
  }

 private:
  static std::string names_of(const std::set<CLI::Option*>& options) {
    // Not in the order of their places in memory.
    std::set<std::string> names;
    for (const CLI::Option* each : options) names.insert(each->get_name());
    std::string list;
    for (const std::string& name : names) list += (list.empty() ? "" : ", ") + name;
    return list;
  }
};

/// Shows in the help what the values of an option may be.
void show_allowed(CLI::Option& option, const std::string& allowed) {
  const std::string& text = option.get_description();
  option.description(text + (text.empty() ? "[" : " [") + allowed + "]");
}

/// Makes a check that refuses text that `read_number` does not read, and values that `is_right` refuses.
template <typename T, typename Predicate>
CLI::Validator number_check(const std::string& allowed, Predicate is_right) {
  const auto find_mistake = [=](const std::string& text) {
    const std::optional<T> value = read_number<T>(text);
    return value && is_right(*value) ? std::string{} : "expected " + allowed + ", found " + quote(text);
  };
  return {find_mistake, "", kNumberCheck};
}

template <typename T>
std::string bounds_text(T least, T most) {
  return number_text(least) + " to " + number_text(most);
}

template <typename T>
CLI::Validator range_check(T least, T most) {
  constexpr bool is_whole = std::is_integral_v<T>;
  const bool is_limited = is_whole || least != std::numeric_limits<T>::lowest();
  std::string allowed = is_whole ? "a whole number" : "a number";
  if (is_limited) allowed += " from " + bounds_text(least, most);
  return number_check<T>(allowed, [=](T value) { return value >= least && value <= most; });
}

/// Adds a check behind the option's own, which reports what is not a number.
template <typename Predicate>
void add_bound(CLI::Option& option, const std::string& bound, Predicate is_right) {
  option.check([=](const std::string& text) {
    const std::optional<std::uint64_t> whole = read_number<std::uint64_t>(text);
    const double value = whole ? static_cast<double>(*whole) : read_number<double>(text).value_or(-1);
    return is_right(value) ? std::string{} : "expected a number " + bound + ", found " + quote(text);
  });
  show_allowed(option, bound);
}

/// Replaces the check that the option has had since it was added.
void set_number_check(CLI::Option& option, const CLI::Validator& check) {
  *option.get_validator(kNumberCheck) = check;
}

template <typename T>
void set_range(CLI::Option& option, T least, T most) {
  set_number_check(option, range_check(least, most));
  show_allowed(option, bounds_text(least, most));
}

/// Checks the name of a positional argument, because what CLI11 refuses depends on its version.
void check_names(const std::string& names) {
  if (names.starts_with('-') || names.starts_with('!')) return;
  const bool is_right =
      std::ranges::all_of(names, [](unsigned char c) { return std::isalnum(c) != 0 || c == '-' || c == '_'; });
  if (!is_right)
    throw std::runtime_error("the argument " + quote(names) + " needs a name of letters, digits, '-' and '_'");
}

/// Adds an option of a number of type T, for a variable that can be assigned one. CLI11's own conversions would let -1
/// pass as the largest number, and read 010, 0b1 or 1'000 in a way that depends on its version.
template <typename T, typename Variable>
CLI::Option* add_number(CLI::App& app, const std::string& names, Variable& value, const std::string& text) {
  check_names(names);
  CLI::callback_t take = [&value](const CLI::results_t& results) {
    const std::optional<T> number = read_number<T>(results.front());
    if (number) value = *number;
    return number.has_value();
  };
  std::function<std::string()> show;
  if constexpr (std::is_same_v<T, Variable>) show = [&value] { return number_text(value); };
  CLI::Option* option = app.add_option(names, std::move(take), text, false, std::move(show));
  option->type_name(CLI::detail::type_name<T>());
  option->check(range_check(std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
  return option;
}

/// Returns ", did you mean NAME?" for the name that is nearest to `wanted`, or an empty string.
std::string guess(const std::string& wanted, const std::vector<std::string>& names) {
  const std::vector<std::string> nearest =
      nearest_names(wanted, std::vector<std::string_view>(names.begin(), names.end()));
  return nearest.empty() ? "" : ", did you mean " + nearest.front() + "?";
}

std::vector<std::string> long_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// Describes what is wrong with an argument that nothing takes.
std::string unknown_argument(const CLI::App& command, const std::string& argument) {
  const bool has_commands = !command.get_subcommands(nullptr).empty();
  if (argument.starts_with('-')) {
    const std::string name = argument.substr(0, argument.find('='));
    return "there is no option " + quote(name) + guess(name, long_names(command));
  }
  if (!has_commands) return "unexpected argument " + quote(argument);
  std::vector<std::string> names;
  for (const CLI::App* below : command.get_subcommands(nullptr)) names.push_back(below->get_name());
  const std::string guessed = guess(argument, names);
  return "there is no command " + quote(argument) + (guessed.empty() ? "; --help lists them" : guessed);
}

/// Returns one line about a command line that is wrong: the command, and its mistake.
std::string mistake_of(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App* command = &program;
  std::string text = program.get_name();
  while (!command->get_subcommands().empty()) {
    command = command->get_subcommands().front();
    text += " " + command->get_name();
  }
  text += ": ";
  // A misspelt option is missing, too, under its right name; the misspelling is reported first.
  const std::vector<std::string> unknown = command->remaining();
  if (!unknown.empty()) return text + unknown_argument(*command, unknown.front());
  if (command == &program && program.get_require_subcommand_min() > 0)
    return text + "a command is missing; --help lists them";
  return text + error.what();
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
  set_range(*option_, least, most);
  return *this;
}

Option Option::range(std::uint32_t least, std::uint32_t most) {
  set_range(*option_, least, most);
  return *this;
}

Option Option::range(std::uint64_t least, std::uint64_t most) {
  set_range(*option_, least, most);
  return *this;
}

Option Option::range(double least, double most) {
  set_range(*option_, least, most);
  return *this;
}

Option Option::not_negative() {
  add_bound(*option_, "of 0 or more", [](double value) { return value >= 0; });
  return *this;
}

Option Option::positive() {
  add_bound(*option_, "above 0", [](double value) { return value > 0; });
  return *this;
}

Option Option::one_of(std::initializer_list<std::uint32_t> numbers) {
  std::string list;
  for (const std::uint32_t number : numbers) list += (list.empty() ? "" : ", ") + number_text(number);
  const std::vector<std::uint32_t> members(numbers);
  const auto is_member = [members](std::uint32_t value) { return std::ranges::count(members, value) != 0; };
  set_number_check(*option_, number_check<std::uint32_t>("one of " + list, is_member));
  show_allowed(*option_, list);
  return *this;
}

Option Option::one_of(const std::vector<std::string>& words, Listing listing) {
  option_->check(CLI::IsMember{words}.description(""));
  if (listing == Listing::shown) {
    std::string list;
    for (const std::string& word : words) list += (list.empty() ? "" : ", ") + word;
    show_allowed(*option_, list);
  }
  return *this;
}

Option Option::check(std::function<std::string(const std::string& value)> find_mistake) {
  option_->check(std::move(find_mistake));
  return *this;
}

Option Command::add_option(const std::string& names, std::string& value, const std::string& text) {
  check_names(names);
  return Option{*app_->add_option(names, value, text)};
}

Option Command::add_option(const std::string& names, int& value, const std::string& text) {
  return Option{*add_number<int>(*app_, names, value, text)};
}

Option Command::add_option(const std::string& names, double& value, const std::string& text) {
  return Option{*add_number<double>(*app_, names, value, text)};
}

Option Command::add_option(const std::string& names, std::uint8_t& value, const std::string& text) {
  return Option{*add_number<std::uint8_t>(*app_, names, value, text)};
}

Option Command::add_option(const std::string& names, std::uint16_t& value, const std::string& text) {
  return Option{*add_number<std::uint16_t>(*app_, names, value, text)};
}

Option Command::add_option(const std::string& names, std::uint32_t& value, const std::string& text) {
  return Option{*add_number<std::uint32_t>(*app_, names, value, text)};
}

Option Command::add_option(const std::string& names, std::uint64_t& value, const std::string& text) {
  return Option{*add_number<std::uint64_t>(*app_, names, value, text)};
}

Option Command::add_option(const std::string& names, std::optional<std::uint32_t>& value, const std::string& text) {
  return Option{*add_number<std::uint32_t>(*app_, names, value, text)};
}

Option Command::add_option(const std::string& names, std::optional<std::uint64_t>& value, const std::string& text) {
  return Option{*add_number<std::uint64_t>(*app_, names, value, text)};
}

Option Command::add_option(const std::string& names, std::vector<std::string>& values, const std::string& text) {
  check_names(names);
  return Option{*app_->add_option(names, values, text)};
}

Option Command::add_flag(const std::string& names, bool& value, const std::string& text) {
  return Option{*app_->add_flag(names, value, text)};
}

// CLI11's own transformer of words would use the values as text and show them in its errors: as control characters,
// if an enumeration is one byte wide.
Option Command::add_word(const std::string& names, const std::vector<std::string>& words, const std::string& text,
                         LetterCase letters, const std::function<void(std::size_t)>& take) {
  check_names(names);
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
  check_names(names);
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

Program::Program(std::unique_ptr<CLI::App> owned) : Command(*owned), owned_(std::move(owned)) {
  // Commands that are added take it over.
  app().formatter(std::make_shared<HelpFormat>());
}

Program::~Program() = default;

void Program::set_version(const std::string& line) {
  app().set_version_flag("--version", line);
}

Option Program::set_config(const std::string& names, const std::string& text) {
  return Option{*app().set_config(names, "", text)};
}

void Program::set_rest(std::vector<std::string>& words) {
  app().prefix_command();
  rest_ = &words;
  app().parse_complete_callback([this] { *rest_ = app().remaining(); });
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
    // CLI11 takes them in reverse order.
    std::reverse(arguments.begin(), arguments.end());
    app().parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    // A request for help is a ParseError too.
    if (error.get_exit_code() == static_cast<int>(CLI::ExitCodes::Success)) return app().exit(error) == 0;
    std::fprintf(stderr, "%s\n", mistake_of(app(), error).c_str());
    return false;
  }
  return true;
}

bool Program::parse(int argc, const char* const* argv) {
  return parse(std::vector<std::string>(argv + std::min(argc, 1), argv + argc));
}

}  // namespace roce::command_line
