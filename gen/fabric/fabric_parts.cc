// SPDX-License-Identifier: BSD-2-Clause
#include "gen/fabric/fabric_parts.h"

#include <fmt/format.h>

#include <algorithm>

#include "command_line/number_text.h"
#include "roce/congestion/choice.h"
#include "roce/transport/loss_recovery_text.h"
#include "roce/transport/profile.h"

namespace roce::gen {

namespace {

using fabric::LinkSpec;
using fabric::NodeId;
using fabric::Routing;
using fabric::Topology;

constexpr std::uint64_t kMostNodes = 1U << 16U;

void read_link(Reader& reader, LinkSpec& link) {
  reader.set("rate", link.rate_bps, read_rate);
  reader.set("delay", link.delay, read_time);
  reader.set("loss", link.loss, read_real);
}

[[nodiscard]] std::uint32_t need_count(Reader& reader, std::string_view name, std::uint64_t most = kMostNodes) {
  const YAML::Node node = reader.need(name);
  const std::uint64_t count = Reader::check(read_whole(node, reader.path_of(name), most));
  if (count == 0) reader.refuse(name, "expected at least 1, found 0");
  return static_cast<std::uint32_t>(count);
}

[[nodiscard]] NodeId read_node(const YAML::Node& node, const Topology& topology, Reader& reader) {
  const std::string name = Reader::check(yaml_input::read_scalar(node, reader.path_of("links")));
  const auto found = std::ranges::find(topology.names, name);
  if (found == topology.names.end()) {
    throw Mistake{{fmt::format("{}: there is no node {}; nodes are h0 to h{} and s0 to s{}", reader.path_of("links"),
                               command_line::quote(name), topology.hosts - 1, topology.switches - 1),
                   node.Mark()}};
  }
  return static_cast<NodeId>(found - topology.names.begin());
}

/// Reads a topology link by link: `[[h0, s0], [s0, s1, 100G], …]`.
[[nodiscard]] Topology read_links(Reader& reader, const LinkSpec& link, Places& places) {
  Topology topology;
  topology.hosts = need_count(reader, "hosts");
  topology.switches = need_count(reader, "switches");
  for (NodeId i = 0; i < topology.hosts; ++i) topology.names.push_back(fmt::format("h{}", i));
  for (NodeId i = 0; i < topology.switches; ++i) topology.names.push_back(fmt::format("s{}", i));
  const YAML::Node list = reader.need("links");
  if (!list.IsSequence()) reader.refuse("links", "expected a list such as [[h0, s0], [s0, s1, 100G]]");
  for (const YAML::Node& item : list) {
    if (!item.IsSequence() || item.size() < 2 || item.size() > 3) {
      throw Mistake{
          {reader.path_of("links") + ": expected two nodes, and a rate if it is another: [s0, s1, 100G]", item.Mark()}};
    }
    Topology::Link& added = topology.links.emplace_back();
    added.spec = link;
    added.a = read_node(item[0], topology, reader);
    added.b = read_node(item[1], topology, reader);
    if (item.size() == 3) added.spec.rate_bps = Reader::check(read_rate(item[2], reader.path_of("links")));
    places[fmt::format("topology.links[{}]", topology.links.size() - 1)] = item.Mark();
  }
  return topology;
}

[[nodiscard]] Topology read_ring(Reader& reader, const LinkSpec& link, const LinkSpec& core) {
  const std::uint32_t switches = need_count(reader, "switches");
  const std::uint32_t hosts = need_count(reader, "hosts");
  const std::string routes = reader.text("routes", "");
  if (routes.empty())
    reader.refuse("", "a ring has no routes of its own: add \"routes: shortest\" or \"routes: clockwise\"");
  if (routes != "shortest" && routes != "clockwise") {
    reader.refuse("routes", fmt::format("expected shortest or clockwise, found {}", command_line::quote(routes)));
  }
  if (switches < 3) reader.refuse("switches", fmt::format("a ring has at least 3, found {}", switches));
  return fabric::ring(switches, hosts, routes == "clockwise" ? Routing::clockwise : Routing::shortest, link, core);
}

void read_red(const YAML::Node& node, fabric::Red& red, Places& places) {
  Reader reader{node, "switches.red", places};
  reader.set("kmin", red.kmin, read_bytes);
  reader.set("kmax", red.kmax, read_bytes);
  reader.set("pmax", red.pmax, read_real);
  reader.finish();
}

void read_pfc(const YAML::Node& node, fabric::Pfc& pfc, Places& places) {
  Reader reader{node, "switches.pfc", places};
  if (const std::optional<YAML::Node> list = reader.find("priorities")) {
    pfc.priorities = 0;
    if (!list->IsSequence()) reader.refuse("priorities", "expected a list such as [3]");
    for (const YAML::Node& item : *list) {
      pfc.priorities |= static_cast<std::uint8_t>(1U << Reader::check(read_whole(item, "switches.pfc.priorities", 7)));
    }
  }
  reader.set("reserve", pfc.reserve, read_bytes);
  std::uint64_t bytes = 0;
  const bool has_xoff = reader.set("xoff", bytes, read_bytes);
  if (has_xoff) pfc.xoff = bytes;
  if (reader.set("alpha", pfc.alpha, read_real) && has_xoff) {
    reader.refuse("alpha", "it contradicts xoff: the threshold is a number of bytes, or a share of the free buffer");
  }
  reader.set("xon_offset", pfc.xon_offset, read_bytes);
  if (reader.set("headroom", bytes, read_bytes)) pfc.headroom = bytes;
  reader.finish();
}

/// Reads the portion of a link that each priority has: a whole number up to `most`, or nothing for `strict`. Priorities
/// that are not named are left out.
template <typename Take>
void read_portions(Reader& reader, std::uint32_t most, std::string_view what, Take take) {
  for (std::uint32_t priority = 0; priority < 8; ++priority) {
    const std::string name = std::to_string(priority);
    const std::optional<YAML::Node> value = reader.find(name);
    if (!value) continue;
    if (value->IsScalar() && value->Scalar() == "strict") {
      take(priority, std::nullopt);
      continue;
    }
    const YamlResult<std::uint64_t> portion = read_whole(*value, reader.path_of(name), most);
    if (!portion || *portion == 0) {
      const std::string found = value->IsScalar() ? command_line::quote(value->Scalar()) : "something else";
      reader.refuse(name, fmt::format("expected {} of 1 to {}, or strict, found {}", what, most, found));
    }
    take(priority, static_cast<std::uint32_t>(*portion));
  }
  reader.finish();
}

void read_weights(const YAML::Node& node, std::array<std::uint32_t, 8>& weights, Places& places) {
  Reader reader{node, "switches.weights", places};
  read_portions(reader, 1000, "a weight", [&weights](std::uint32_t priority, std::optional<std::uint32_t> weight) {
    weights[priority] = weight.value_or(0);
  });
}

/// Reads the shares of the hosts' links: each priority that is named is a class of its own, and the others are one that
/// goes after these.
void read_shares(const YAML::Node& node, transport::TrafficClasses& classes, Places& places) {
  Reader reader{node, "hosts.shares", places};
  std::array<bool, 8> is_named{};
  std::array<std::optional<std::uint32_t>, 8> percent{};
  read_portions(reader, 100, "a share", [&](std::uint32_t priority, std::optional<std::uint32_t> portion) {
    is_named[priority] = true;
    percent[priority] = portion;
  });
  const bool has_others = std::ranges::find(is_named, false) != is_named.end();
  const bool has_shares = std::ranges::any_of(percent, [](const auto& one) { return one.has_value(); });
  if (has_others && has_shares) classes.selection[0] = transport::TransmissionSelection::ets;
  std::uint8_t next_class = has_others ? 1 : 0;
  for (std::uint32_t priority = 0; priority < 8; ++priority) {
    if (!is_named[priority]) continue;
    const std::uint8_t own = next_class++;
    classes.class_of[priority] = own;
    classes.percent[own] = static_cast<std::uint8_t>(percent[priority].value_or(0));
    if (percent[priority]) classes.selection[own] = transport::TransmissionSelection::ets;
  }
}

}  // namespace

Topology read_topology(const YAML::Node& node, Places& places) {
  Reader reader{node, "topology", places};
  const YAML::Node name_node = reader.need("name");
  const std::string name = Reader::check(yaml_input::read_scalar(name_node, "topology.name"));
  LinkSpec link;
  read_link(reader, link);
  LinkSpec core = link;
  if (name == "dumbbell" || name == "clos" || name == "fat_tree" || name == "ring") {
    if (const std::optional<YAML::Node> inner = reader.find("core")) {
      Reader core_reader{*inner, "topology.core", places};
      read_link(core_reader, core);
      core_reader.finish();
    }
  }
  Topology topology;
  if (name == "pair") {
    topology = fabric::pair(link);
  } else if (name == "star") {
    topology = fabric::star(need_count(reader, "hosts"), link);
  } else if (name == "dumbbell") {
    const std::uint32_t left = need_count(reader, "left");
    topology = fabric::dumbbell(left, need_count(reader, "right"), link, core);
  } else if (name == "clos") {
    const std::uint32_t leaves = need_count(reader, "leaves", 4096);
    const std::uint32_t spines = need_count(reader, "spines", 4096);
    topology = fabric::clos(leaves, spines, need_count(reader, "hosts", 4096), link, core);
  } else if (name == "fat_tree") {
    const std::uint32_t k = need_count(reader, "k", 64);
    if (k % 2 != 0) reader.refuse("k", fmt::format("expected an even number of ports, found {}", k));
    topology = fabric::fat_tree(k, link, core);
  } else if (name == "ring") {
    topology = read_ring(reader, link, core);
  } else if (name == "links") {
    topology = read_links(reader, link, places);
  } else {
    reader.refuse("name", fmt::format("expected pair, star, dumbbell, clos, fat_tree, ring or links, found {}",
                                      command_line::quote(name)));
  }
  reader.finish();
  return topology;
}

void read_hosts(const YAML::Node& node, fabric::HostConfig& hosts, Places& places) {
  Reader reader{node, "hosts", places};
  reader.set("mtu", hosts.path_mtu, read_whole, 65535U);
  if (const std::string name = reader.text("profile", ""); !name.empty()) {
    hosts.profile = transport::profile_of(name);
    if (hosts.profile.name.empty()) {
      reader.refuse("profile",
                    fmt::format("expected rxe, hardware_like or strict, found {}", command_line::quote(name)));
    }
  }
  if (const std::string text = reader.text("recovery", ""); !text.empty()) {
    const tl::expected<transport::LossRecovery, std::string> recovery = transport::parse_loss_recovery(text);
    if (!recovery) reader.refuse("recovery", recovery.error());
    hosts.profile.recovery = *recovery;
  }
  if (const std::string text = reader.text("congestion", ""); !text.empty()) {
    const tl::expected<congestion::Choice, std::string> choice = congestion::parse_choice(text);
    if (!choice) reader.refuse("congestion", choice.error());
    hosts.congestion = *choice;
  }
  reader.set("cnps", hosts.sends_cnps, read_truth);
  reader.set("cnp_interval", hosts.cnp_interval, read_time);
  reader.set("cnp_priority", hosts.cnp_priority, read_whole, 7U);
  reader.set("timeout", hosts.timeout, read_whole, 31U);
  if (const std::optional<YAML::Node> shares = reader.find("shares")) {
    read_shares(*shares, hosts.traffic_classes, places);
  }
  reader.finish();
}

void read_switches(const YAML::Node& node, fabric::SwitchConfig& switches, Places& places) {
  Reader reader{node, "switches", places};
  reader.set("buffer", switches.buffer, read_bytes);
  reader.set("lossy_alpha", switches.lossy_alpha, read_real);
  if (const std::optional<YAML::Node> red = reader.find("red")) read_red(*red, switches.red.emplace(), places);
  if (const std::optional<YAML::Node> pfc = reader.find("pfc")) read_pfc(*pfc, switches.pfc.emplace(), places);
  if (const std::optional<YAML::Node> watchdog = reader.find("watchdog")) {
    Reader own{*watchdog, "switches.watchdog", places};
    own.set("detection", switches.watchdog.emplace().detection, read_time);
    own.set("restoration", switches.watchdog->restoration, read_time);
    own.finish();
  }
  if (const std::optional<YAML::Node> weights = reader.find("weights")) {
    read_weights(*weights, switches.weights, places);
  }
  reader.finish();
}

void read_storms(const YAML::Node& node, std::vector<fabric::Storm>& storms, Places& places) {
  if (!node.IsSequence()) throw Mistake{{"storms: expected a list such as [{host: h0, start: 1ms}]", node.Mark()}};
  for (std::size_t i = 0; i < node.size(); ++i) {
    Reader reader{node[i], fmt::format("storms[{}]", i), places};
    fabric::Storm& storm = storms.emplace_back();
    storm.host = Reader::check(read_host(reader.need("host"), reader.path_of("host")));
    reader.set("priority", storm.priority, read_whole, 7U);
    reader.set("start", storm.start, read_time);
    if (reader.find("duration")) reader.set("duration", storm.duration.emplace(), read_time);
    reader.finish();
  }
}

}  // namespace roce::gen
