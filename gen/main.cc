// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <exception>

#include "gen/cmd_atomic.h"
#include "gen/cmd_flush.h"
#include "gen/cmd_gids.h"
#include "gen/cmd_peer.h"
#include "gen/cmd_pingpong.h"
#include "gen/cmd_read.h"
#include "gen/cmd_relay.h"
#include "gen/cmd_send.h"
#include "gen/cmd_ud.h"
#include "gen/cmd_write.h"
#include "gen/exit_code.h"

int main(int argc, char** argv) {
  using roce::gen::ExitCode;
  CLI::App app{"Speaks RDMA over Converged Ethernet: a live peer, generator and relay without an RNIC."};
  app.name("roce-gen");
  app.set_version_flag("--version", "roce-gen " ROCE_VERSION);
  app.require_subcommand(1);
  app.set_config("--config", "",
                 "Options from a file: a section a command, OPTION = VALUE, e.g. [peer] interface = eth0")
      ->type_name("FILE");
  ExitCode code = ExitCode::ok;
  roce::gen::add_peer(app, code);
  roce::gen::add_pingpong(app, code);
  roce::gen::add_send(app, code);
  roce::gen::add_write(app, code);
  roce::gen::add_read(app, code);
  roce::gen::add_atomic(app, code);
  roce::gen::add_flush(app, code);
  roce::gen::add_ud(app, code);
  roce::gen::add_relay(app, code);
  roce::gen::add_gids(app, code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : static_cast<int>(ExitCode::usage);
  } catch (const std::exception& error) {
    fmt::print(stderr, "roce-gen: {}\n", error.what());
    return static_cast<int>(ExitCode::failed);
  }
  return static_cast<int>(code);
}
