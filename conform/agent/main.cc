// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/core.h>

#include <cstdio>
#include <exception>

#include "command_line/ending.h"
#include "command_line/program.h"
#include "conform/agent/agent.h"

namespace {

constexpr const char* kExamples =
    "Examples:\n"
    "  roce-agent --device rxe0                 on a Unix socket, for clients on this machine\n"
    "  roce-agent --device mlx5_0 --gid-index 3 --listen 192.0.2.1:4790 --token-file secret --peer 192.0.2.9\n"
    "                                           on TCP, for one other machine; secret: a file of mode 600\n"
    "  echo '{\"op\": \"hello\", \"version\": 2}' | nc -NU /tmp/roce-agent-0-rxe0.sock\n"
    "                                           what the device can do\n"
    "Exit code: 0 ended by SIGINT or SIGTERM, 1 failed while it served, 2 wrong command line or no such device.";

void add_options(roce::command_line::Program& program, roce::conform::AgentOptions& options) {
  program.add_option("--device", options.place.device, "RDMA device, as ibv_devices lists them")
      .type_name("NAME")
      .required();
  program.add_option("--port", options.place.port, "Port of the device").range(1, 255).capture_default_str();
  program
      .add_option("--gid-index", options.place.gid_index,
                  "GID to send from (default: the first of RoCE v2, IPv4 before IPv6)")
      .type_name("NUMBER");
  program
      .add_option("--control", options.control,
                  "Unix socket of the control protocol (default: roce-agent-DEVICE.sock in $XDG_RUNTIME_DIR, or "
                  "/tmp/roce-agent-UID-DEVICE.sock)")
      .type_name("PATH");
  program.add_option("--listen", options.listen, "Address of this machine and TCP port instead; needs --token-file")
      .type_name("ADDRESS:PORT")
      .excludes("--control");
  program.add_option("--token-file", options.token_file, "File with the secret that clients on TCP have to know")
      .type_name("FILE");
  program.add_option("--peer", options.peer, "Refuse connections from all hosts but this one").type_name("ADDRESS");
  program.add_flag("--any-address", options.any_address, "Allow --listen to name all addresses (0.0.0.0 or [::])");
  program
      .add_option("--memory-limit", options.memory_limit,
                  "Memory that all clients have together, in bytes, or with k, M or G")
      .type_name("SIZE")
      .capture_default_str();
  program.add_option("--max-qp", options.max_qps, "Queue pairs that all clients have together")
      .range(1U, 1U << 20)
      .capture_default_str();
  program.add_flag("--json", options.json, "Print notes as JSON on standard output");
  program.footer(kExamples);
}

}  // namespace

int main(int argc, char** argv) {
  using roce::ExitCode;
  roce::command_line::Program program{
      "roce-agent",
      "Serves the control protocol (docs/control.md) from a real RDMA device, for roce-conform and others."};
  program.set_version("roce-agent " ROCE_VERSION);
  roce::conform::AgentOptions options;
  add_options(program, options);
  ExitCode code = ExitCode::ok;
  program.callback([&] { code = roce::command_line::ending_of("roce-agent", roce::conform::run_agent(options)); });
  try {
    if (!program.parse(argc, argv)) return static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-agent: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  if (code == ExitCode::ok && (std::fflush(stdout) != 0 || std::ferror(stdout) != 0)) {
    fmt::print(stderr, "roce-agent: cannot write standard output\n");
    code = ExitCode::failed;
  }
  return static_cast<int>(code);
}
