// SPDX-License-Identifier: BSD-2-Clause
#include "roce/fabric/config.h"

#include <bit>
#include <cmath>
#include <string>
#include <vector>

#include "roce/wire/constants.h"

namespace roce::fabric {

namespace {

[[nodiscard]] tl::unexpected<Error> wrong(std::string where, std::string what) {
  return tl::unexpected(Error{std::move(where), std::move(what)});
}
[[nodiscard]] std::string bytes_text(std::uint64_t bytes) {
  return std::to_string(bytes) + " bytes";
}

[[nodiscard]] Result<void> check_hosts(const HostConfig& hosts, const SwitchConfig& switches) {
  if (!is_path_mtu(hosts.path_mtu)) {
    return wrong("hosts.mtu", "expected 256, 512, 1024, 2048 or 4096, found " + std::to_string(hosts.path_mtu));
  }
  if (hosts.timeout > 31) return wrong("hosts.timeout", "expected 0 to 31, found " + std::to_string(hosts.timeout));
  if (hosts.cnp_priority > 7) {
    return wrong("hosts.cnp_priority", "expected 0 to 7, found " + std::to_string(hosts.cnp_priority));
  }
  if (const transport::VerbResult<void> checked = transport::check(hosts.traffic_classes); !checked) {
    return wrong("hosts.shares", expectation(checked.error()));
  }
  if (hosts.cnp_interval < Duration{0}) return wrong("hosts.cnp_interval", "it is negative");
  const auto* dcqcn = std::get_if<congestion::DcqcnParameters>(&hosts.congestion);
  const auto* mlx5 = std::get_if<congestion::Mlx5Parameters>(&hosts.congestion);
  if ((dcqcn != nullptr || mlx5 != nullptr) && !hosts.sends_cnps) {
    return wrong("hosts.congestion", "it reacts to CNPs, and hosts.cnps is off");
  }
  if ((dcqcn != nullptr || mlx5 != nullptr) && !switches.red) {
    return wrong("hosts.congestion", "it reacts to CNPs, and no switch marks: there is no switches.red");
  }
  return {};
}

[[nodiscard]] Result<void> check_red(const Red& red) {
  if (red.kmin > red.kmax) {
    return wrong("switches.red.kmax",
                 "expected at least kmin (" + bytes_text(red.kmin) + "), found " + bytes_text(red.kmax));
  }
  if (!(red.pmax >= 0 && red.pmax <= 1)) {
    return wrong("switches.red.pmax", "expected a chance of 0 to 1, found " + std::to_string(red.pmax));
  }
  return {};
}

[[nodiscard]] Result<void> check_pfc(const Pfc& pfc, const SwitchConfig& switches) {
  if (pfc.priorities == 0) return wrong("switches.pfc.priorities", "it has no priority");
  if (!(pfc.alpha > 0) || !std::isfinite(pfc.alpha)) {
    return wrong("switches.pfc.alpha", "expected a number above 0, found " + std::to_string(pfc.alpha));
  }
  if (pfc.xoff && *pfc.xoff == 0) return wrong("switches.pfc.xoff", "expected at least 1 byte, found 0");
  if (pfc.xoff && *pfc.xoff < pfc.xon_offset) {
    return wrong("switches.pfc.xon_offset",
                 "expected at most xoff (" + bytes_text(*pfc.xoff) + "), found " + bytes_text(pfc.xon_offset));
  }
  if (pfc.xoff && *pfc.xoff > switches.buffer) {
    return wrong("switches.pfc.xoff", "expected at most switches.buffer (" + bytes_text(switches.buffer) + "), found " +
                                          bytes_text(*pfc.xoff) + ": nothing would ever be stopped");
  }
  return {};
}

/// Checks that reserves and headrooms leave room in the buffer of each switch.
[[nodiscard]] Result<void> check_buffer(const SwitchConfig& switches, const Topology& topology, std::uint32_t frame) {
  if (switches.buffer < frame) {
    return wrong("switches.buffer",
                 "expected at least one frame (" + bytes_text(frame) + "), found " + bytes_text(switches.buffer));
  }
  if (!switches.pfc) return {};
  const Pfc& pfc = *switches.pfc;
  std::vector<std::uint64_t> kept(topology.nodes());
  for (const Topology::Link& link : topology.links) {
    const std::uint64_t each = pfc.reserve + pfc.headroom.value_or(needed_headroom(link.spec, frame));
    for (const NodeId node : {link.a, link.b})
      kept[node] += each * static_cast<unsigned>(std::popcount(pfc.priorities));
  }
  for (NodeId node = topology.hosts; node < topology.nodes(); ++node) {
    if (kept[node] + frame <= switches.buffer) continue;
    return wrong("switches.buffer", "reserves and headrooms of " + topology.names[node] + " take " +
                                        bytes_text(kept[node]) + ", which leaves no frame of the buffer of " +
                                        bytes_text(switches.buffer) + " to share");
  }
  return {};
}

[[nodiscard]] Result<void> check_storms(const std::vector<Storm>& storms, const Topology& topology) {
  constexpr Duration longest = std::chrono::seconds{1000};
  for (std::size_t i = 0; i < storms.size(); ++i) {
    const Storm& storm = storms[i];
    const std::string where = "storms[" + std::to_string(i) + "].";
    if (storm.host >= topology.hosts) {
      return wrong(where + "host", "there is no host " + std::to_string(storm.host) + "; the last one is " +
                                       std::to_string(topology.hosts - 1));
    }
    if (storm.priority > 7)
      return wrong(where + "priority", "expected 0 to 7, found " + std::to_string(storm.priority));
    if (storm.start < Duration{0} || storm.start > longest) {
      return wrong(where + "start", "expected a time from 0 to 1000 s");
    }
    if (storm.duration && (*storm.duration <= Duration{0} || *storm.duration > longest)) {
      return wrong(where + "duration", "expected more than 0 and at most 1000 s");
    }
  }
  return {};
}

[[nodiscard]] Result<void> check_watchdog(const SwitchConfig& switches) {
  if (!switches.watchdog) return {};
  if (!switches.pfc) return wrong("switches.watchdog", "it watches pauses, and there is no switches.pfc");
  if (switches.watchdog->detection <= Duration{0}) return wrong("switches.watchdog.detection", "expected more than 0");
  if (switches.watchdog->restoration <= Duration{0}) {
    return wrong("switches.watchdog.restoration", "expected more than 0");
  }
  return {};
}

}  // namespace

std::uint64_t needed_headroom(const LinkSpec& link, std::uint32_t frame) {
  constexpr std::uint64_t pfc = 60;
  constexpr std::uint64_t on_wire = 24;
  const double way = static_cast<double>(link.rate_bps) * static_cast<double>(link.delay.count()) / 8e9;
  return static_cast<std::uint64_t>(std::ceil(2 * way)) + 3 * (frame + on_wire) + 2 * (pfc + on_wire);
}

Result<void> check(const Config& config, const Topology& topology, std::uint32_t largest_mtu) {
  const SwitchConfig& switches = config.switches;
  if (topology.switches == 0 && switches.red) return wrong("switches.red", "the topology has no switch");
  if (topology.switches == 0 && switches.pfc) return wrong("switches.pfc", "the topology has no switch");
  if (switches.red) {
    if (Result<void> checked = check_red(*switches.red); !checked) return checked;
  }
  if (switches.pfc) {
    if (Result<void> checked = check_pfc(*switches.pfc, switches); !checked) return checked;
  }
  if (!(switches.lossy_alpha > 0) || !std::isfinite(switches.lossy_alpha)) {
    return wrong("switches.lossy_alpha", "expected a number above 0, found " + std::to_string(switches.lossy_alpha));
  }
  constexpr std::uint32_t heaviest = 1000;
  for (const std::uint32_t weight : switches.weights) {
    if (weight > heaviest) return wrong("switches.weights", "expected at most 1000, found " + std::to_string(weight));
  }
  if (Result<void> checked = check_watchdog(switches); !checked) return checked;
  if (Result<void> checked = check_storms(config.storms, topology); !checked) return checked;
  if (Result<void> checked = check_hosts(config.hosts, switches); !checked) return checked;
  return check_buffer(switches, topology, largest_frame(largest_mtu));
}

}  // namespace roce::fabric
