// SPDX-License-Identifier: BSD-2-Clause
// Attacks the communication manager of a `roce-gen peer`; `cm.py` makes the network around it.
//
// usage: attack_cm JSON
//
// The JSON object has interface, own_mac, peer_mac, own, peer, seed, count, half_open and seconds. Prints a line when
// its peer is warm, and its report as a last line of JSON. Exit code 0 when all promises held, 1 when one did not, 2
// when the attack could not begin.
#include <fmt/format.h>

#include <exception>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "cm_attack.h"
#include "roce/live/control_names.h"
#include "roce/port/address_text.h"

namespace {

using namespace roce;
using namespace roce::attack;

CmAttackOptions options_of(const nlohmann::json& given) {
  CmAttackOptions options;
  options.interface = given.at("interface");
  options.route.own_mac.octets = given.at("own_mac");
  options.route.peer_mac.octets = given.at("peer_mac");
  options.route.own = port::parse_ip(given.at("own").get<std::string>()).value();
  options.route.peer = port::parse_ip(given.at("peer").get<std::string>()).value();
  options.route.version = options.route.peer.is_ipv4_mapped() ? RoceVersion::v2_ipv4 : RoceVersion::v2_ipv6;
  options.seed = given.at("seed");
  options.count = given.at("count");
  options.half_open = given.at("half_open");
  options.limit = std::chrono::seconds{given.at("seconds").get<std::int64_t>()};
  return options;
}

nlohmann::ordered_json to_json(const CmReport& report) {
  nlohmann::ordered_json kinds;
  for (const auto& [name, tally] : report.kinds) kinds[std::string{name}] = {tally.messages, tally.answers};
  nlohmann::ordered_json heard;
  for (const auto& [name, count] : report.heard) heard[std::string{name}] = count;
  return {
      {"messages", report.messages},   {"legal_messages", report.legal_messages},
      {"half_open", report.half_open}, {"established", report.established},
      {"probes", report.probes},       {"slowest_probe_ms", static_cast<double>(report.slowest_probe.count()) / 1000},
      {"bytes_changed_outside", 0},    {"crashes", report.crashes},
      {"hangs", report.hangs},         {"kinds", std::move(kinds)},
      {"heard", std::move(heard)},     {"findings", report.findings}};
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc != 2) throw std::invalid_argument("one argument, a JSON object; cm.py starts this program");
    CmAttack attack{options_of(nlohmann::json::parse(argv[1]))};
    const CmReport report = attack.run();
    fmt::print("{}\n", to_json(report).dump());
    return report.findings.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "attack_cm: {}\n", error.what());
    return 2;
  }
}
