// SPDX-License-Identifier: BSD-2-Clause
// Holds UDP port 4791 of an address for the programs there. The first of them starts it, from inside a foreign process.
#include <fcntl.h>
#include <fmt/core.h>
#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <optional>
#include <string>
#include <utility>

#include "command_line/number_text.h"
#include "command_line/outcome.h"
#include "command_line/program.h"
#include "verbs/devices/places.h"
#include "verbs/portd/port_host.h"

namespace {

using roce::ExitCode;
using roce::Outcome;

/// Programs that come one after the other find the same daemon.
constexpr std::chrono::milliseconds kIdle{2000};

struct Options {
  std::string address;
  std::string interface;
  bool foreground = false;
};

/// Leaves what came from the process that started this one: its open files, and how it treats signals.
void leave_inheritance() {
  ::closefrom(STDERR_FILENO + 1);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number = 1; number < NSIG; ++number) ::signal(number, SIG_DFL);
}

/// Goes on in the background; the process that was started ends well.
[[nodiscard]] Outcome<void> go_to_background() {
  const pid_t child = ::fork();
  if (child < 0) return roce::cannot(fmt::format("cannot go to the background: {}", std::strerror(errno)));
  if (child > 0) ::_exit(0);
  ::setsid();
  const int nothing = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) ::dup2(nothing, file);
  if (::chdir("/") != 0) return roce::cannot(fmt::format("cannot change to /: {}", std::strerror(errno)));
  return {};
}

[[nodiscard]] Outcome<ExitCode> serve(const Options& options) {
  const auto places = roce::verbs::find_places(options.address);
  if (!places) return roce::cannot(fmt::format("--address: {}", places.error()));
  roce::verbs::Place place = places->front();
  if (!options.interface.empty()) place.interface = options.interface;
  auto host = roce::verbs::PortHost::open(place);
  if (!host) return roce::cannot(host.error().message);
  if (!*host) return ExitCode::ok;
  if (!options.foreground) {
    if (Outcome<void> gone = go_to_background(); !gone) return tl::unexpected(gone.error());
  }
  (*host)->run(kIdle);
  return ExitCode::ok;
}

}  // namespace

int main(int argc, char** argv) {
  leave_inheritance();
  roce::command_line::Program program{"roce-portd",
                                      "Holds UDP port 4791 of an address for all programs that roce-run runs there."};
  program.set_version("roce-portd " ROCE_VERSION);
  Options options;
  program.add_option("--address", options.address, "Hold the port at this address of this machine")
      .type_name("ADDRESS");
  program.add_option("--interface", options.interface, "Name the interface that has the address").type_name("IFACE");
  program.add_flag("--foreground", options.foreground, "Stay in the foreground");
  program.footer(
      "Programs start it when they need it, and it ends two seconds after the last of them.\n"
      "  roce-portd --address 127.0.0.2 --foreground");
  ExitCode code = ExitCode::ok;
  // The program that started it reads why it failed from its output.
  program.callback([&] {
    const Outcome<ExitCode> ended = serve(options);
    if (!ended) fmt::print("{}\n", ended.error().message);
    code = ended ? *ended : ExitCode::usage;
  });
  try {
    if (!program.parse(argc, argv)) return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print("roce-portd: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(code);
}
