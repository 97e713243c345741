// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/core.h>

#include <exception>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "verbs/run/run.h"

namespace {

constexpr const char* kExamples =
    "Behind the options come the program and its arguments, which it gets as they are:\n"
    "  roce-run --address 127.0.0.2 ib_send_bw\n"
    "  roce-run --address 127.0.0.3 ib_send_bw 127.0.0.2\n"
    "The address is on this machine, and has to be free of other RoCE programs; 255 processes may share it.\n"
    "Without one, the program sees a device for each interface that has an address.";

}  // namespace

int main(int argc, char** argv) {
  using roce::ExitCode;
  roce::command_line::Program program{
      "roce-run", "Runs a program that uses RDMA verbs without an RDMA device: its RoCE v2 goes over UDP."};
  program.set_version("roce-run " ROCE_VERSION);
  roce::verbs::RunOptions options;
  program.add_option("--address", options.address, "Give the program one device, at this address of this machine")
      .type_name("ADDRESS");
  program.add_flag("--check", options.only_check, "Say what will work, and run nothing");
  program.set_rest(options.program);
  program.footer(kExamples);
  ExitCode code = ExitCode::ok;
  program.callback([&] { code = roce::command_line::ending_of("roce-run", roce::verbs::run(options)); });
  try {
    if (!program.parse(argc, argv)) return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-run: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(code);
}
