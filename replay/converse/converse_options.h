// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "options/program_options.h"
#include "replay/converse/conversation.h"

namespace roce::replay {

/// The way in which the queue pairs of a conversation find each other.
enum class ConnectBy : std::uint8_t { control, pingpong, cm, numbers };

/// Options of `roce-replay converse`.
struct ConverseOptions {
  std::string file;
  std::string as = "requester";  ///< which side is ours: `requester` (sent the first request) or `responder`
  options::ProgramOptions endpoint;
  std::string control;  ///< control socket, or HOST:PORT, of a roce-gen peer
  std::string token_file;
  std::string to;  ///< the live peer's address
  std::uint16_t pingpong_port = 0;
  std::uint16_t cm_port = 0;
  std::uint32_t remote_qp = 0;  ///< with `numbers`; 0: it is read from standard input, with the PSN
  std::uint32_t remote_psn = 0;
  std::optional<std::uint32_t> stream;     ///< the connection to play; none: all that can be played again
  std::vector<std::string> remote_memory;  ///< `RKEY:ADDRESS=RKEY:ADDRESS`
  std::uint32_t path_mtu = 0;              ///< bytes; 0: the captured one, or 1024 if that is unknown
  double speed = 1;
  double silence = 30;                             ///< seconds without progress after which to give up
  std::uint64_t memory_mib = kUsualMemory >> 20U;  ///< MiB, for all connections together
  std::uint64_t output_mib = 256;                  ///< MiB of plans and details that are printed at most
  bool listen = false;                             ///< wait for the peer to connect; the responder does anyway
  bool connect = false;                            ///< connect to the peer; the requester does anyway
  bool dry_run = false;
  bool details = false;  ///< the dry run prints all requests, with their data

  [[nodiscard]] ConnectBy connect_by() const {
    if (!control.empty()) return ConnectBy::control;
    if (pingpong_port != 0) return ConnectBy::pingpong;
    return cm_port != 0 ? ConnectBy::cm : ConnectBy::numbers;
  }
  [[nodiscard]] std::uint64_t memory() const { return memory_mib << 20U; }
  [[nodiscard]] std::uint8_t side() const { return as == "requester" ? 0 : 1; }
};

}  // namespace roce::replay
