// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "command_line/command.h"

namespace roce::command_line {

/// A program: the command that has all others below it, and the owner of them and of their options.
class Program : public Command {
 public:
  /// `text` is how `--help` begins.
  Program(const std::string& name, const std::string& text);
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program();

  /// Adds `--version`, which prints this line.
  void set_version(const std::string& line);
  /// Adds an option that names an INI or TOML file of further options: a section a command, OPTION = VALUE. What the
  /// command line has counts.
  Option set_config(const std::string& names, const std::string& text);
  /// A command line without a subcommand is wrong.
  void require_subcommand();
  /// The names of the subcommands in the order in which they were added.
  [[nodiscard]] std::vector<std::string> subcommands() const;

  /// Sets the values of options and runs the callbacks of the commands. `--help` and `--version` print to standard
  /// output instead. False: the command line is wrong, and standard error says how.
  [[nodiscard]] bool parse(std::vector<std::string> arguments);
  /// Likewise the arguments of `main`.
  [[nodiscard]] bool parse(int argc, const char* const* argv);

 private:
  explicit Program(std::unique_ptr<CLI::App> owned);

  std::unique_ptr<CLI::App> owned_;
};

}  // namespace roce::command_line
