// SPDX-License-Identifier: BSD-2-Clause
// Attacks a `roce-gen peer` with frames; `frames.py` makes the network around it.
//
// usage: attack_frames JSON
//
// The JSON object has interface, control, own_mac, peer_mac, own, peer, seed, count, seconds and, where they are true,
// v1 (RoCE v1), by_kernel (the peer has UDP sockets) and self_check (break the promises on purpose). Prints a line when
// its peer has had enough frames that its memory should not grow any more, and its report as a last line of JSON. Exit
// code 0 when all promises held, 1 when one did not, 2 when the attack could not begin.
#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "frame_attack.h"
#include "roce/live/control_names.h"
#include "roce/port/address_text.h"

namespace {

using namespace roce;
using namespace roce::attack;

Gid gid_of(const nlohmann::json& given, const char* name) {
  const std::optional<Gid> gid = port::parse_ip(given.at(name).get<std::string>());
  if (!gid) throw std::invalid_argument(fmt::format("\"{}\" is no IP address", name));
  return *gid;
}

AttackOptions options_of(const nlohmann::json& given) {
  AttackOptions options;
  options.interface = given.at("interface");
  options.control = given.at("control");
  options.route.own_mac.octets = given.at("own_mac");
  options.route.peer_mac.octets = given.at("peer_mac");
  options.route.own = gid_of(given, "own");
  options.route.peer = gid_of(given, "peer");
  options.route.version = RoceVersion::v2_ipv6;
  if (options.route.peer.is_ipv4_mapped()) options.route.version = RoceVersion::v2_ipv4;
  if (given.value("v1", false)) options.route.version = RoceVersion::v1;
  options.route.by_kernel = given.value("by_kernel", false);
  options.self_check = given.value("self_check", false);
  options.seed = given.at("seed");
  options.count = given.at("count");
  options.limit = std::chrono::seconds{given.at("seconds").get<std::int64_t>()};
  return options;
}

nlohmann::ordered_json to_json(const AttackReport& report) {
  nlohmann::ordered_json kinds;
  for (const auto& [name, tally] : report.kinds) {
    kinds[std::string{name}] = {tally.frames, tally.executed, tally.refused, tally.otherwise, tally.silent};
  }
  return {{"frames", report.frames},
          {"legal_frames", report.legal_frames},
          {"queue_pairs", report.queue_pairs},
          {"requests", report.requests},
          {"warm_frames", report.warm_frames},
          {"probes", report.probes},
          {"slowest_probe_ms", static_cast<double>(report.slowest_probe.count()) / 1000},
          {"bytes_compared", report.bytes_compared},
          {"bytes_changed_outside", report.bytes_changed_outside},
          {"crashes", report.crashes},
          {"hangs", report.hangs},
          {"kinds", std::move(kinds)},
          {"findings", report.findings}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::invalid_argument("one argument, a JSON object; frames.py starts this program");
    FrameAttack attack{options_of(nlohmann::json::parse(argv[1]))};
    const AttackReport report = attack.run();
    fmt::print("{}\n", to_json(report).dump());
    return report.findings.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "attack_frames: {}\n", error.what());
    return 2;
  }
}
