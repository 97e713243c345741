// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line/command.h"

namespace roce::command_line {

/// A program: the command above all others, and the owner of all commands and of their options.
class Program : public Command {
 public:
  /// Makes a program whose `--help` begins with `text`.
  Program(const std::string& name, const std::string& text);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Adds `--version`, which prints this line.
  void set_version(const std::string& line);
  /// Adds an option that names an INI or TOML file of further options: a section per command, OPTION = VALUE. Values on
  /// the command line take precedence.
  Option set_config(const std::string& names, const std::string& text);
  /// Ends the options of the program at the first argument that is none of them. That one and all behind it are put
  /// into `words` as they are: another program and its arguments. `words` has to live until the program has parsed.
  void set_rest(std::vector<std::string>& words);
  /// Makes a command line without a subcommand wrong.
  void require_subcommand();
  /// Returns the names of the subcommands in the order in which they were added.
  [[nodiscard]] std::vector<std::string> subcommands() const;

  /// Sets the values of options and runs the callbacks of the commands. `--help` and `--version` print to standard
  /// output instead. False if the command line is wrong, after printing the mistake to standard error.
  [[nodiscard]] bool parse(std::vector<std::string> arguments);
  /// Parses the arguments of `main` in the same way.
  [[nodiscard]] bool parse(int argc, const char* const* argv);

 private:
  explicit Program(std::unique_ptr<CLI::App> owned);

  std::unique_ptr<CLI::App> owned_;
  std::vector<std::string>* rest_ = nullptr;
};

}  // namespace roce::command_line
