// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/monitor.h"

#include <fmt/format.h>

#include <algorithm>

#include "roce/wire/checksum.h"
#include "roce/wire/constants.h"
#include "roce/wire/deth.h"
#include "roce/wire/icrc.h"

namespace roce::conform {

namespace {

std::optional<std::string> find_ip_deviation(const Packet& packet) {
  const std::optional<Layer> layer = packet.find(HeaderId::ipv4);
  if (!layer) return std::nullopt;
  const Bytes bytes = packet.layer_bytes(*layer);
  const auto ip = read<Ipv4>(bytes.data());
  if (ipv4_checksum(bytes) != ip.checksum) return fmt::format("the IPv4 checksum is wrong: {:#06x}", ip.checksum);
  if (!ip.dont_fragment) return "DF is not set";
  if (ip.header_length != 5) return "there are IPv4 options";
  return std::nullopt;
}

std::optional<std::string> find_deviation_of_form(const Packet& packet, const Port& port) {
  if (!packet.is_roce()) return "the frame is not RoCE";
  if (packet.problem().reason != ParseReason::none)
    return fmt::format("the frame is malformed: {}", to_string(packet.problem()));
  const IcrcVerdict icrc = check_icrc(packet);
  if (icrc.status != IcrcStatus::good) return fmt::format("the ICRC is {}", to_string(icrc));
  if (auto deviation = find_ip_deviation(packet)) return deviation;
  const NetMeta net = packet.net();
  if (net.version != port.version)
    return fmt::format("the version is {}, and not {}", to_string(net.version), to_string(port.version));
  if (net.source != port.device_gid) return fmt::format("the source is {}", to_string(net.source));
  if (net.destination != port.tester_gid) return fmt::format("the destination is {}", to_string(net.destination));
  const Bth bth = packet.bth();
  if (bth.version != 0) return fmt::format("TVer is {}", bth.version);
  if (bth.p_key != kDefaultPKey) return fmt::format("the P_Key is {:#06x}", bth.p_key.value());
  if (bth.reserved1 != 0 || bth.reserved2 != 0) return "reserved bits of the BTH are not 0";
  if (std::ranges::any_of(packet.pad(), [](std::byte byte) { return byte != std::byte{0}; }))
    return "pad bytes are not 0";
  if (packet.get<Deth>().value_or(Deth{}).reserved != 0) return "reserved bits of the DETH are not 0";
  if (bth.pad_count != (0U - packet.payload_length()) % 4) return fmt::format("the pad count is {}", bth.pad_count);
  return std::nullopt;
}

/// Returns what the tracker needs of a frame of this run.
analysis::Observation observe(const Packet& packet, Time now, std::uint64_t number) {
  return analysis::observe_packet(packet, check_icrc(packet), now, {.frame = number});
}

}  // namespace

void Monitor::take_sent(const Packet& packet, Time now) {
  (void)tracker_.observe(observe(packet, now, ++frames_));
}

std::optional<std::string> Monitor::judge(const Packet& packet, const Port& port, Time now) {
  if (auto deviation = find_deviation_of_form(packet, port)) return deviation;
  for (const analysis::Verdict& verdict : tracker_.observe(observe(packet, now, ++frames_)).verdicts) {
    if (verdict.kind != analysis::VerdictKind::rule_broken) continue;
    const analysis::RuleInfo& rule = analysis::rule_info(verdict.rule);
    return fmt::format("{}: {}", rule.identifier, rule.text);
  }
  return std::nullopt;
}

}  // namespace roce::conform
