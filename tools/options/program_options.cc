// SPDX-License-Identifier: BSD-2-Clause
#include "options/program_options.h"

#include "command_line/command.h"
#include "options/xdp_options.h"

namespace roce::options {

void add_endpoint_options(command_line::Command& command, ProgramOptions& options, bool needs_interface) {
  command_line::Option interface = command.add_option(
      "-i,--interface", options.interface,
      "Interface to use (roce-gen gids lists them); with --link stream the socket of the other end: PATH, "
      "listen:PATH, or fd:N of one that is open");
  if (needs_interface) interface.required();
  command
      .add_choice("--link", options.link,
                  {{"auto", live::LinkChoice::automatic},
                   {"raw", live::LinkChoice::raw},
                   {"udp", live::LinkChoice::udp},
                   {"xdp", live::LinkChoice::xdp},
                   {"stream", live::LinkChoice::stream}},
                  "How frames go: raw (packet socket, needs CAP_NET_RAW), udp (plain UDP socket, RoCE v2 only), xdp "
                  "(AF_XDP, needs root of the host), stream (to a simulation, needs --ip), or auto: raw or udp",
                  command_line::LetterCase::ignored)
      .default_str("auto")
      .type_name("KIND");
  add_xdp_options(command, options.xdp_mode, options.xdp_queues);
  command_line::Option address = command.add_option(
      "--address", options.address, "Local IP address (default: the interface's first, IPv4 before IPv6)");
  address.type_name("IP");
  command_line::Option ip = command.add_option(
      "--ip", options.ip,
      "Own an address that the host does not have: answer ARP, neighbour discovery and ping (raw, xdp, stream)");
  ip.type_name("IP/PREFIX").excludes(address);
  command.add_option("--gateway", options.gateway, "Router to other networks than that of --ip")
      .type_name("IP")
      .needs(ip);
  command_line::Option v1 = command.add_flag("--v1", options.roce_v1, "RoCE v1 instead of v2");
  command_line::Option vlan =
      command.add_option("--vlan", options.vlan, "VLAN to send and receive in").range(0, 4094).type_name("ID");
  command
      .add_option("--gid-index", options.gid_index,
                  "Row of the GID table (roce-gen gids), which says address, version and VLAN")
      .not_negative()
      .type_name("N")
      .excludes(address)
      .excludes(ip)
      .excludes(v1)
      .excludes(vlan);
  command.add_option("--peer-mac", options.peer_mac, "The peer's Ethernet address (default: the kernel is asked)")
      .type_name("MAC");
  command.add_option("--profile", options.profile, "Behave like: hardware_like, rxe or strict")
      .one_of({"hardware_like", "rxe", "strict"})
      .capture_default_str();
  command
      .add_option("--recovery", options.recovery,
                  "What RC queue pairs do about losses beyond the specification: all, or held_requests=512, "
                  "nak_again_after=100us, nak_delay_packets=3, nak_delay=20us, timer_from_first, adaptive_timeout, "
                  "tail_probe, selective_repeat, restart_percent=10, held_responses=512, window_bytes=65536")
      .type_name("PART[,PART…]");
  command
      .add_option("--congestion", options.congestion,
                  "Congestion control of each queue pair: none, fixed, dcqcn, dcqcn_mlx5 or rtt, and its parameters: "
                  "dcqcn,g=0.01,rate_timer=100us")
      .type_name("NAME[,PARAMETER=VALUE…]");
  command
      .add_option("--seed", options.seed,
                  "With --link stream: of all random numbers, so that a simulation can be repeated")
      .type_name("N");
  command.add_option("--pcap", options.pcap, "Write each frame sent and received to a capture file").type_name("FILE");
  command.add_flag(
      "!--no-segmentation", options.segmentation,
      "Hand the kernel each packet by itself (default: many at once where it can cut them, which is faster)");
  command.add_flag("--verbose", options.verbose, "Say too whether the kernel cuts packets for us, and why not");
  command.add_flag("--bad-icrc", options.bad_icrc, "Send every frame with a wrong ICRC, which no peer may accept");
  command.add_flag("--json", options.json, "Print JSON, one object a line");
  metrics::add_metrics_options(command, options.metrics);
}

void add_shards_option(command_line::Command& command, ProgramOptions& options) {
  command
      .add_option(
          "--shards", options.shards,
          "Work with so many threads, each with a device of its own, that share the interface (raw): 1, 2, 4, 8 "
          "or 16")
      .one_of({1U, 2U, 4U, 8U, 16U})
      .capture_default_str();
}

}  // namespace roce::options
