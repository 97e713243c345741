// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/commands/commands.h"
#include "command_line/outcome.h"
#include "command_line/program.h"
#include "command_line/spelling.h"
#include "files/standard_streams.h"

namespace {

using roce::ExitCode;

constexpr const char* kExamples = R"(Examples:
  roce-analyze trace.pcapng                            what is in it and what is wrong, the worst first
  roce-analyze ring/ other-host.pcapng                 all captures of a folder, and the same traffic seen elsewhere
  roce-analyze events --severity error trace.pcapng    each packet that was lost, with its PSN and frame
  roce-analyze --follow ring/                          the same while a capture goes on, until Ctrl-C)";

/// Inserts `summary` if the first word is a file or an option. False: it is neither, and not a command.
bool complete_command(const roce::command_line::Program& program, std::vector<std::string>& arguments) {
  if (arguments.empty()) {
    std::fputs("roce-analyze: a capture file or a command is missing; try roce-analyze FILE, or --help\n", stderr);
    return false;
  }
  const std::string& first = arguments.front();
  const std::vector<std::string> commands = program.subcommands();
  const bool is_known = std::find(commands.begin(), commands.end(), first) != commands.end();
  if (is_known || first == "--help" || first == "-h" || first == "--version") return true;
  std::error_code ignored;
  const bool looks_like_command = first.find_first_of("-./") == std::string::npos;
  if (looks_like_command && !std::filesystem::exists(first, ignored)) {
    const std::vector<std::string_view> names(commands.begin(), commands.end());
    const std::vector<std::string> alike = roce::command_line::nearest_names(first, names);
    fmt::print(stderr, "roce-analyze: there is neither a command nor a file '{}'; {}\n", first,
               alike.empty() ? "--help lists the commands" : fmt::format("did you mean {}?", alike.front()));
    return false;
  }
  arguments.insert(arguments.begin(), "summary");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  roce::files::begin_program();
  roce::command_line::Program program{"roce-analyze",
                                      "Judges captures of RDMA over Converged Ethernet, and decodes them.\n"
                                      "roce-analyze FILE... says what is in them and what is wrong."};
  program.set_version("roce-analyze " ROCE_VERSION);
  program.require_subcommand();
  program.footer(kExamples);
  ExitCode code = ExitCode::ok;
  roce::analyze::add_summary(program, code);
  roce::analyze::add_serve(program, code);
  roce::analyze::add_streams(program, code);
  roce::analyze::add_messages(program, code);
  roce::analyze::add_events(program, code);
  roce::analyze::add_latency(program, code);
  roce::analyze::add_timeline(program, code);
  roce::analyze::add_waits(program, code);
  roce::analyze::add_nvme(program, code);
  roce::analyze::add_counters(program, code);
  roce::analyze::add_paths(program, code);
  roce::analyze::add_incast(program, code);
  roce::analyze::add_join(program, code);
  roce::analyze::add_rules(program, code);
  roce::analyze::add_export(program, code);
  roce::analyze::add_extract(program, code);
  roce::analyze::add_annotate(program, code);
  roce::analyze::add_decode(program, code);
  try {
    std::vector<std::string> arguments(argv + 1, argv + argc);
    if (!complete_command(program, arguments) || !program.parse(std::move(arguments))) {
      return static_cast<int>(ExitCode::usage);
    }
  } catch (const std::bad_alloc&) {
    std::fputs(
        "roce-analyze: not enough memory; a smaller --max-streams, or a part of the time (--from, --to), takes less\n",
        stderr);
    return static_cast<int>(ExitCode::failed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-analyze: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  return roce::files::end_program("roce-analyze", static_cast<int>(code), static_cast<int>(ExitCode::failed));
}
