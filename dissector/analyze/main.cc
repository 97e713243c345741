// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <exception>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/cmd_decode.h"
#include "analyze/cmd_summary.h"
#include "analyze/copy_commands.h"
#include "analyze/exit_code.h"
#include "analyze/filter_fields.h"
#include "analyze/list_commands.h"

namespace {

using roce::analyze::ExitCode;

/// Without a command word, files are summed up. False: the first word is neither.
bool complete_command(const CLI::App& app, std::vector<std::string>& arguments) {
  if (arguments.empty()) return true;
  const std::string& first = arguments.front();
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands(nullptr)) commands.push_back(command->get_name());
  const bool is_known = std::find(commands.begin(), commands.end(), first) != commands.end();
  if (is_known || first == "--help" || first == "-h" || first == "--version") return true;
  std::error_code ignored;
  const bool looks_like_command = first.find_first_of("-./") == std::string::npos;
  if (looks_like_command && !std::filesystem::exists(first, ignored)) {
    const std::vector<std::string_view> names(commands.begin(), commands.end());
    const std::vector<std::string> alike = roce::analyze::nearest_names(first, names);
    fmt::print(stderr, "roce-analyze: there is neither a command nor a file '{}'; {}\n", first,
               alike.empty() ? "--help lists the commands" : fmt::format("did you mean {}?", alike.front()));
    return false;
  }
  arguments.insert(arguments.begin(), "summary");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{
      "Judges captures of RDMA over Converged Ethernet, and decodes them.\n"
      "roce-analyze FILE... says what is in them and what is wrong."};
  app.name("roce-analyze");
  app.set_version_flag("--version", "roce-analyze " ROCE_VERSION);
  app.require_subcommand(1);
  ExitCode code = ExitCode::ok;
  roce::analyze::add_summary(app, code);
  roce::analyze::add_streams(app, code);
  roce::analyze::add_messages(app, code);
  roce::analyze::add_events(app, code);
  roce::analyze::add_latency(app, code);
  roce::analyze::add_timeline(app, code);
  roce::analyze::add_counters(app, code);
  roce::analyze::add_join(app, code);
  roce::analyze::add_rules(app, code);
  roce::analyze::add_extract(app, code);
  roce::analyze::add_annotate(app, code);
  roce::analyze::add_decode(app, code);
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!complete_command(app, arguments)) return static_cast<int>(ExitCode::usage);
    // CLI11 takes them from the back.
    std::reverse(arguments.begin(), arguments.end());
    app.parse(std::move(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-analyze: {}\n", error.what());
    return static_cast<int>(ExitCode::output);
  }
  return static_cast<int>(code);
}
