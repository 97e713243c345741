// SPDX-License-Identifier: BSD-2-Clause
#include "gen/pingpong/options.h"

#include "command_line/command.h"

namespace roce::gen {

void add_pingpong_options(command_line::Command& command, PingpongOptions& options, std::uint16_t& port) {
  command
      .add_choice(
          "-k,--kind", options.kind,
          {{"rc", PingpongKind::rc}, {"uc", PingpongKind::uc}, {"ud", PingpongKind::ud}, {"srq", PingpongKind::srq}},
          "Which ibv_KIND_pingpong the other end is: rc, uc, ud or srq", command_line::LetterCase::ignored)
      .default_str("rc")
      .type_name("KIND");
  command.add_option("-p,--port", port, "TCP port of the handshake").range(1, 65535).capture_default_str();
  command.add_option("-n,--iters", options.iterations, "Messages each way, as at the other end")
      .range(1U, 1'000'000'000U)
      .capture_default_str();
  command.add_option("-s,--size", options.size, "Bytes of a message, as at the other end (ibv_ud_pingpong: 1024)")
      .range(1U, 1U << 24)
      .capture_default_str();
  command.add_option("-m,--mtu", options.path_mtu, "Path MTU, as at the other end")
      .one_of({256U, 512U, 1024U, 2048U, 4096U})
      .capture_default_str();
  command.add_flag("!--no-compare", options.compare,
                   "Take messages of any size and content, as the pingpong programs do without -c");
}

}  // namespace roce::gen
