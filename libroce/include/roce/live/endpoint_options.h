// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "roce/link/xdp_link.h"
#include "roce/live/result.h"

namespace roce::live {

class Endpoint;

/// The kind of link that frames take. `automatic`: raw if that may be opened here, else UDP.
enum class LinkChoice : std::uint8_t { automatic, raw, udp, xdp, stream };

/// The properties of an endpoint that is opened. Only `interface` has to be set.
struct EndpointOptions {
  std::string interface {};  ///< its name; with `LinkChoice::stream`: PATH, listen:PATH or fd:N
  LinkChoice link = LinkChoice::automatic;
  link::XdpLinkOptions::Mode xdp_mode = link::XdpLinkOptions::Mode::automatic;  ///< with `LinkChoice::xdp`
  std::uint32_t xdp_queues = 0;  ///< with `LinkChoice::xdp`: this many receive queues from the first on; 0: all
  std::string address{};         ///< the local IP address; empty: the interface's first, IPv4 before IPv6
  std::string ip{};              ///< an address of the endpoint itself with its prefix, instead of one of the interface
  std::string gateway{};         ///< with `ip`: the router to other networks
  int gid_index = -1;            ///< row of the GID table; -1: chosen by the other options
  bool roce_v1 = false;          ///< false: v2
  int vlan = -1;                 ///< 0 … 4094; -1: none
  std::string peer_mac{};        ///< the peer's Ethernet address; empty: it is looked up
  std::string profile = "hardware_like";
  std::string congestion{};    ///< congestion control of each QP, as `congestion::parse_choice` reads it; empty: none
  std::string recovery{};      ///< what is done about losses, for `transport::parse_loss_recovery`; empty: as specified
  bool all_multicast = false;  ///< on a raw link: frames to every multicast group too
  std::string pcap{};          ///< capture file of all frames; empty: none
  bool segmentation = true;    ///< packets leave as super-frames where the kernel takes them
  bool bad_icrc = false;       ///< every frame leaves with a wrong ICRC
  std::optional<std::uint64_t> seed{};  ///< with `LinkChoice::stream`: seed of all random numbers
  std::uint32_t shards = 1;             ///< for `Endpoint::open_shards`: 1, 2, 4, 8 or 16
  std::vector<std::string> pfc{};       ///< `PRIORITY:LOW:ENOUGH`: held by PFC from LOW receives left until ENOUGH
  std::string dcbx{};  ///< what this end of the wire is set to, for `parse_dcbx`; empty: it does not speak DCBX
  int stop_fd = -1;    ///< see `Driver`
  /// Takes what happens to the link, for people: `segmentation` (whether the kernel cuts super-frames) and `listening`
  /// (for a simulation).
  std::function<void(std::string_view event, std::string_view text)> note{};
  /// Called once everything is open, before the first frame is sent; a failure ends `open`.
  std::function<Result<void>(Endpoint&)> before_first_frame{};
};

}  // namespace roce::live
