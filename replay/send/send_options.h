// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "command_line/command.h"
#include "command_line/outcome.h"
#include "replay/rewrite/rewrite_options.h"
#include "replay/send/pacing.h"
#include "roce/link/xdp_link.h"

namespace roce::replay {

/// The ways in which frames are sent, as `--link` names them.
enum class SendLink : std::uint8_t { raw, xdp, udp };

/// Options of `roce-replay send`.
struct SendOptions {
  std::vector<std::string> files;
  std::string interface;        ///< that of side A, or of all frames if there is no other
  std::string other_interface;  ///< that of side B
  std::vector<std::string> side_a;
  std::string write;  ///< capture file that gets the frames instead
  SendLink link = SendLink::raw;
  link::XdpLinkOptions::Mode xdp_mode = link::XdpLinkOptions::Mode::automatic;
  double speed = 1;
  std::uint64_t pps = 0;
  std::string rate;
  bool topspeed = false;
  std::string start_at;
  std::uint64_t loops = 1;
  bool keep_psn = false;
  bool preload = false;
  bool stream = false;
  std::uint64_t memory_mib = 1024;
  bool skip_unfit = false;
  RewriteOptions rewrite;
  bool dry_run = false;
  bool json = false;
};

/// Adds the options to a command.
void add_send_options(command_line::Command& command, SendOptions& options);

/// Returns what is to be changed in the frames; none if nothing is. Failures: those of `read_rewrite_rules`.
[[nodiscard]] Outcome<std::optional<RewriteRules>> rules_of(const SendOptions& options);

/// Returns the pace that the options ask for. Failure: a rate that is not valid.
[[nodiscard]] Outcome<Pace> pace_of(const SendOptions& options);

}  // namespace roce::replay
