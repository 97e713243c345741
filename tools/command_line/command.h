// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/option.h"

namespace CLI {
class App;
}

namespace roce::command_line {

/// The words that an option takes and the value of each, in the order in which an error lists them.
template <typename T>
using Choices = std::vector<std::pair<std::string, T>>;

/// The treatment of upper and lower case, by which `RAW` is or is not `raw`.
enum class LetterCase : std::uint8_t { matters, ignored };

/// A command with its options: a handle, valid as long as its `Program`.
///
/// `names` are the names of an option, separated by commas ("-v,--verbose"), or without dashes the name of a positional
/// argument. `--help` shows `text`. The `value` is set while the program parses, has to live until then, and stays as
/// it is if the command line does not have the option. `read_number` reads numbers. A name that is already taken, and
/// any character but letters, digits, - and _ in the name of a positional argument, throw std::runtime_error.
class Command {
 public:
  explicit Command(CLI::App& app) : app_(&app) {}

  Option add_option(const std::string& names, std::string& value, const std::string& text);
  Option add_option(const std::string& names, int& value, const std::string& text);
  Option add_option(const std::string& names, double& value, const std::string& text);
  Option add_option(const std::string& names, std::uint8_t& value, const std::string& text);
  Option add_option(const std::string& names, std::uint16_t& value, const std::string& text);
  Option add_option(const std::string& names, std::uint32_t& value, const std::string& text);
  Option add_option(const std::string& names, std::uint64_t& value, const std::string& text);
  Option add_option(const std::string& names, std::optional<std::uint32_t>& value, const std::string& text);
  Option add_option(const std::string& names, std::optional<std::uint64_t>& value, const std::string& text);
  /// Adds a list, which gets at least one value if the command line has it.
  Option add_option(const std::string& names, std::vector<std::string>& values, const std::string& text);
  /// Adds a flag, which becomes true if the command line has it.
  Option add_flag(const std::string& names, bool& value, const std::string& text);
  /// Adds an option for one word of a list, which sets the word's value. `--help` has the words only if `text` does.
  template <typename T>
  Option add_choice(const std::string& names, T& value, const Choices<T>& choices, const std::string& text,
                    LetterCase letters = LetterCase::matters) {
    return add_word(names, words_of(choices), text, letters,
                    [&value, choices](std::size_t which) { value = choices[which].second; });
  }
  /// Adds an option for any number of such words.
  template <typename T>
  Option add_choices(const std::string& names, std::vector<T>& values, const Choices<T>& choices,
                     const std::string& text) {
    return add_words(names, words_of(choices), text, [&values, choices](const std::vector<std::size_t>& chosen) {
      values.clear();
      for (const std::size_t which : chosen) values.push_back(choices[which].second);
    });
  }

  /// Sets the end of `--help`.
  void footer(const std::string& text);
  /// Sets what runs once a command line with this command is parsed and right. Its exceptions leave `Program::parse`.
  void callback(std::function<void()> run);
  /// Adds a command below this one; `text` is one line.
  Command add_subcommand(const std::string& name, const std::string& text);

 protected:
  [[nodiscard]] CLI::App& app() const { return *app_; }

 private:
  template <typename T>
  [[nodiscard]] static std::vector<std::string> words_of(const Choices<T>& choices) {
    std::vector<std::string> words;
    for (const auto& choice : choices) words.push_back(choice.first);
    return words;
  }
  // The functions are called with indices into `words`.
  Option add_word(const std::string& names, const std::vector<std::string>& words, const std::string& text,
                  LetterCase letters, const std::function<void(std::size_t)>& take);
  Option add_words(const std::string& names, const std::vector<std::string>& words, const std::string& text,
                   const std::function<void(const std::vector<std::size_t>&)>& take);

  CLI::App* app_;
};

}  // namespace roce::command_line
