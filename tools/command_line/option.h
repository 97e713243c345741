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

/// Whether `--help` lists the words that an option takes.
enum class Listing : std::uint8_t { shown, hidden };

/// An option, a flag or a positional argument of a command: a handle, valid as long as its `Program`. Names and
/// meanings are CLI11's where nothing else is said. Functions return the option, to say several things of it in one
/// expression.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// What `--help` calls the value instead of its type: FILE, NUMBER.
  Option type_name(const std::string& name);
  /// The headline in `--help` that it stands under.
  Option group(const std::string& headline);
  /// `--help` shows the present value of the variable as the default.
  Option capture_default_str();
  /// `--help` shows this as the default.
  Option default_str(const std::string& text);

  /// A command line without it is wrong.
  Option required();
  /// A command line with both is wrong.
  Option excludes(Option other);
  /// Likewise; `name` is one of the names of an option that the command already has.
  Option excludes(const std::string& name);
  /// A command line with this one and without the other is wrong.
  Option needs(Option other);

  /// Each occurrence has so many values.
  Option expected(int values);
  /// The values of all occurrences count, not those of one.
  Option take_all();
  /// False: an occurrence of a list takes one value, and what follows is left to the positional arguments.
  Option allow_extra_args(bool allow);

  /// Values from `least` to `most`, both included; `--help` says so.
  Option range(int least, int most);
  Option range(std::uint32_t least, std::uint32_t most);
  Option range(std::uint64_t least, std::uint64_t most);
  Option range(double least, double most);
  /// Values of 0 and more; `--help` says so.
  Option not_negative();
  /// Values above 0; `--help` says so.
  Option positive();
  /// One of these numbers; `--help` lists them.
  Option one_of(std::initializer_list<std::uint32_t> numbers);
  /// One of these words.
  Option one_of(const std::vector<std::string>& words, Listing listing = Listing::shown);
  /// Values of which `find_mistake` returns "", and not what is wrong with them.
  Option check(std::function<std::string(const std::string& value)> find_mistake);

 private:
  friend class Command;

  CLI::Option* option_;
};

}  // namespace roce::command_line
