// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gen/metrics_options.h"
#include "roce/link/xdp_link.h"

namespace roce::command_line {
class Command;
}

namespace roce::gen {

/// The kind of link that frames take, as `--link` selects it.
enum class LinkChoice : std::uint8_t { automatic, raw, udp, xdp, stream };

/// The options that every command that is an endpoint has.
struct EndpointOptions {
  std::string interface;  ///< with `LinkChoice::stream`: PATH, listen:PATH or fd:N
  LinkChoice link = LinkChoice::automatic;
  link::XdpLinkOptions::Mode xdp_mode = link::XdpLinkOptions::Mode::automatic;  ///< with `LinkChoice::xdp`
  std::uint32_t xdp_queues = 0;  ///< with `LinkChoice::xdp`: this many receive queues from the first on; 0: all
  std::string address;           ///< the local IP address; empty: the interface's first, IPv4 before IPv6
  std::string ip;                ///< an address of the endpoint itself with its prefix, instead of one of the interface
  std::string gateway;           ///< with `ip`: the router to other networks
  int gid_index = -1;            ///< row of the GID table; -1: chosen by the other options
  bool roce_v1 = false;          ///< false: v2
  int vlan = -1;                 ///< 0 … 4094; -1: none
  std::string peer_mac;          ///< the peer's Ethernet address; empty: it is looked up
  std::string profile = "hardware_like";
  bool all_multicast = false;  ///< on a raw link: frames to every multicast group too
  std::string pcap;            ///< capture file of all frames; empty: none
  bool segmentation = true;    ///< packets leave as super-frames where the kernel takes them
  bool verbose = false;        ///< print whether the kernel cuts super-frames, and if not, why
  bool bad_icrc = false;       ///< every frame leaves with a wrong ICRC
  bool json = false;
  std::optional<std::uint64_t> seed{};  ///< with `LinkChoice::stream`: seed of all random numbers
  MetricsOptions metrics;
  std::uint32_t shards = 1;      ///< devices behind the interface, each with a thread: 1, 2, 4, 8 or 16
  std::vector<std::string> pfc;  ///< `PRIORITY:LOW:ENOUGH`: held by PFC from LOW receives left until ENOUGH
};

/// Adds the options to a command. With `needs_interface` false, the command itself checks whether it needs one.
void add_endpoint_options(command_line::Command& command, EndpointOptions& options, bool needs_interface = true);
/// Adds `--shards`, for commands that can run several.
void add_shards_option(command_line::Command& command, EndpointOptions& options);

}  // namespace roce::gen
