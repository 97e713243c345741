// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "analyze/cmd_decode.h"
#include "analyze/exit_code.h"

int main(int argc, char** argv) {
  using roce::analyze::ExitCode;
  CLI::App app{"Decodes captures of RDMA over Converged Ethernet and judges them."};
  app.name("roce-analyze");
  app.set_version_flag("--version", "roce-analyze " ROCE_VERSION);
  app.require_subcommand(1);
  ExitCode code = ExitCode::ok;
  roce::analyze::add_decode(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-analyze: {}\n", error.what());
    return static_cast<int>(ExitCode::output);
  }
  return static_cast<int>(code);
}
