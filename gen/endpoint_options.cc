// SPDX-License-Identifier: BSD-2-Clause
#include "gen/endpoint_options.h"

#include <CLI/CLI.hpp>
#include <map>

namespace roce::gen {

void add_endpoint_options(CLI::App& command, EndpointOptions& options) {
  const std::map<std::string, LinkChoice> links{
      {"auto", LinkChoice::automatic}, {"raw", LinkChoice::raw}, {"udp", LinkChoice::udp}};
  command.add_option("-i,--interface", options.interface, "Interface to use (roce-gen gids lists them)")->required();
  command
      .add_option(
          "--link", options.link,
          "How frames go: raw (packet socket, needs CAP_NET_RAW), udp (plain UDP socket, RoCE v2 only), or auto")
      ->transform(CLI::CheckedTransformer(links, CLI::ignore_case).description(""))
      ->default_str("auto")
      ->type_name("KIND");
  CLI::Option* address = command.add_option("--address", options.address,
                                            "Local IP address (default: the interface's first, IPv4 before IPv6)");
  address->type_name("IP");
  CLI::Option* ip = command.add_option(
      "--ip", options.ip, "Own an address that the host does not have: answer ARP, neighbour discovery and ping (raw)");
  ip->type_name("IP/PREFIX")->excludes(address);
  command.add_option("--gateway", options.gateway, "Router to other networks than that of --ip")
      ->type_name("IP")
      ->needs(ip);
  CLI::Option* v1 = command.add_flag("--v1", options.roce_v1, "RoCE v1 instead of v2");
  CLI::Option* vlan = command.add_option("--vlan", options.vlan, "VLAN to send and receive in")
                          ->check(CLI::Range(0, 4094))
                          ->type_name("ID");
  command
      .add_option("--gid-index", options.gid_index,
                  "Row of the GID table (roce-gen gids), which says address, version and VLAN")
      ->check(CLI::NonNegativeNumber)
      ->type_name("N")
      ->excludes(address)
      ->excludes(ip)
      ->excludes(v1)
      ->excludes(vlan);
  command.add_option("--peer-mac", options.peer_mac, "The peer's Ethernet address (default: the kernel is asked)")
      ->type_name("MAC");
  command.add_option("--profile", options.profile, "Behave like: hardware_like, rxe or strict")
      ->check(CLI::IsMember({"hardware_like", "rxe", "strict"}))
      ->capture_default_str();
  command.add_option("--pcap", options.pcap, "Write each frame sent and received to a capture file")->type_name("FILE");
  command.add_flag("--bad-icrc", options.bad_icrc, "Send every frame with a wrong ICRC, which no peer may accept");
  command.add_flag("--json", options.json, "Print JSON, one object a line");
}

}  // namespace roce::gen
