// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace CLI {
class Option;
}

namespace roce::command_line {

/// The listing in `--help` of the words that an option takes.
enum class Listing : std::uint8_t { shown, hidden };

/// An option, a flag or a positional argument of a command: a handle, valid as long as its `Program`. Names and
/// meanings are CLI11's unless stated otherwise. Functions return the option, so that several can be called in one
/// expression.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// Sets the name of the value in `--help`, instead of its type: FILE, NUMBER.
  Option type_name(const std::string& name);
  /// Sets the headline in `--help` under which the option is listed.
  Option group(const std::string& headline);
  /// Makes `--help` show the present value of the variable as the default.
  Option capture_default_str();
  /// Makes `--help` show this text as the default.
  Option default_str(const std::string& text);

  /// Makes a command line without the option wrong.
  Option required();
  /// Makes a command line with both options wrong.
  Option excludes(Option other);
  /// Makes a command line with both wrong; `name` is one of the names of an option that the command already has.
  Option excludes(const std::string& name);
  /// Makes a command line with this option and without the other one wrong.
  Option needs(Option other);

  /// Sets the number of values of each occurrence.
  Option expected(int values);
  /// Makes the values of all occurrences count, not those of one.
  Option take_all();
  /// With false, limits an occurrence of a list to one value, and leaves the rest to the positional arguments.
  Option allow_extra_args(bool allow);

  /// Limits the value to `least` to `most`, both included, which `--help` shows.
  Option range(int least, int most);
  Option range(std::uint32_t least, std::uint32_t most);
  Option range(std::uint64_t least, std::uint64_t most);
  Option range(double least, double most);
  /// Limits the value to 0 and more, which `--help` shows.
  Option not_negative();
  /// Limits the value to numbers above 0, which `--help` shows.
  Option positive();
  /// Limits the value to one of these numbers, which `--help` lists.
  Option one_of(std::initializer_list<std::uint32_t> numbers);
  /// Limits the value to one of these words.
  Option one_of(const std::vector<std::string>& words, Listing listing = Listing::shown);
  /// Takes only values for which `find_mistake` returns ""; otherwise it returns what is wrong with the value.
  Option check(std::function<std::string(const std::string& value)> find_mistake);

 private:
  friend class Command;

  CLI::Option* option_;
};

}  // namespace roce::command_line
