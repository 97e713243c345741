// SPDX-License-Identifier: BSD-2-Clause
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyze/commands/commands.h"
#include "analyze/ranks/communicator.h"
#include "analyze/ranks/ranked_run.h"
#include "command_line/outcome.h"
#include "command_line/program.h"
#include "files/standard_streams.h"

namespace {

using roce::ExitCode;

constexpr const char* kExamples = R"(Examples:
  mpirun -n 8 roce-analyze-mpi summary ring/              what roce-analyze says, by eight processes
  mpirun -n 8 roce-analyze-mpi --state job summary ring/  ... and to go on from if it ends early
  srun -n 64 roce-analyze-mpi events --json --point a=/cap/a --point b=/cap/b
Each rank needs the same files at the same places.)";

/// Sends standard output and standard error of this process nowhere. Returns another descriptor of standard error.
int silence() {
  const int kept = dup(STDERR_FILENO);
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (nowhere >= 0) {
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
  }
  return kept;
}

ExitCode run(int argc, char** argv, roce::analyze::KeptShares& kept, roce::analyze::RankedRun& engine) {
  roce::command_line::Program program{
      "roce-analyze-mpi",
      "Gives what roce-analyze gives, by the ranks of an MPI job, each of which follows "
      "some of the pairs of hosts."};
  program.set_version("roce-analyze-mpi " ROCE_VERSION);
  program.require_subcommand();
  const auto state = program
                         .add_option("--state", kept.folder,
                                     "Keep what is finished in this folder, and go on from it: "
                                     "the same job, with any number of ranks")
                         .type_name("FOLDER");
  program.add_option("--shares", kept.shares, "Into which the work is divided, whatever the number of ranks")
      .range(std::uint32_t{1}, std::uint32_t{roce::analyze::JobState::kMostShares})
      .type_name("N")
      .capture_default_str()
      .needs(state);
  program.footer(kExamples);
  ExitCode code = ExitCode::ok;
  roce::analyze::add_summary(program, code, &engine);
  roce::analyze::add_streams(program, code, &engine);
  roce::analyze::add_events(program, code, &engine);
  std::vector<std::string> arguments(argv + 1, argv + argc);
  const std::vector<std::string> commands = program.subcommands();
  const auto command = std::ranges::find_first_of(arguments, commands);
  kept.command = fmt::format("{}", fmt::join(command, arguments.end(), " "));
  return program.parse(std::move(arguments)) ? code : ExitCode::usage;
}

}  // namespace

int main(int argc, char** argv) {
  roce::files::begin_program();
  ExitCode code = ExitCode::ok;
  bool is_first = true;
  {
    const roce::analyze::Communicator ranks{argc, argv};
    is_first = ranks.rank() == 0;
    const int errors = is_first ? STDERR_FILENO : silence();
    roce::analyze::KeptShares kept;
    roce::analyze::RankedRun engine{ranks, kept};
    // Once ranks are at work, the others wait for the results of each: one that cannot go on ends them all.
    const auto give_up = [&](std::string_view why) {
      const std::string line = fmt::format("roce-analyze-mpi: {}\n", why);
      static_cast<void>(!write(errors, line.data(), line.size()));
      if (ranks.size() > 1) roce::analyze::Communicator::abort(static_cast<int>(ExitCode::failed));
      code = ExitCode::failed;
    };
    try {
      code = run(argc, argv, kept, engine);
      engine.leave();
    } catch (const roce::analyze::ShareSent&) {
      code = ExitCode::ok;
    } catch (const roce::analyze::RunRefused& why) {
      if (is_first) fmt::print(stderr, "roce-analyze-mpi: {}\n", why.what());
      code = ExitCode::failed;
    } catch (const std::bad_alloc&) {
      give_up(fmt::format("not enough memory in rank {}; more ranks, or a smaller --max-streams, take less in each",
                          ranks.rank()));
    } catch (const std::exception& error) {
      give_up(error.what());
    }
  }
  // One rank says how it went: mpirun tells the code of a rank that failed.
  if (!is_first) return static_cast<int>(ExitCode::ok);
  return roce::files::end_program("roce-analyze-mpi", static_cast<int>(code), static_cast<int>(ExitCode::failed));
}
