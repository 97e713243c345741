// SPDX-License-Identifier: BSD-2-Clause
#include "replay/info/info_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "command_line/counted.h"
#include "roce/wire/service_text.h"

namespace roce::replay {

namespace {

/// Returns what has to be rewritten to play a capture in another network, with the options that do it.
std::vector<std::string> needs(const CaptureInfo& info) {
  std::vector<std::string> lines;
  std::string addresses;
  for (const auto& [gid, host] : info.hosts) addresses += fmt::format(" --ip-map {}=NEW", to_string(gid));
  if (!addresses.empty()) lines.push_back("other addresses:" + addresses);
  std::string macs;
  for (const auto& [gid, host] : info.hosts) {
    for (const MacAddress& mac : host.macs) {
      const std::string option = fmt::format(" --mac-map {}=NEW", to_string(mac));
      if (macs.find(option) == std::string::npos) macs += option;
    }
  }
  if (!macs.empty()) lines.push_back("other machines:" + macs);
  for (const auto& [vlan, packets] : info.vlans) {
    lines.push_back(fmt::format("VLAN {}: --vlan-map {}=NEW or --vlan-remove", vlan, vlan));
  }
  if (info.tunnelled != 0) lines.emplace_back("tunnels: --strip-tunnels leaves the RoCE packets");
  if (info.versions.contains(RoceVersion::v1)) lines.emplace_back("RoCE v1 does not cross a router: --to-version v2");
  if (info.bad_icrc != 0) {
    lines.push_back(fmt::format("{} wrong ICRCs: made right unless --keep-bad-icrc", info.bad_icrc));
  }
  return lines;
}

std::vector<std::string> limits(const CaptureInfo& info) {
  std::vector<std::string> lines;
  const auto add = [&lines](std::uint64_t count, std::string_view text) {
    if (count != 0) lines.push_back(fmt::format("{} {}", count, text));
  };
  add(info.cut_frames, "frames were cut by the snap length: they cannot be sent as they were");
  add(info.unreadable, "frames have a link type that cannot carry RoCE");
  add(info.super_frames, "frames are several packets (segmentation offload): they are cut into those");
  return lines;
}

std::string end_text(const ConnectionInfo& connection, std::size_t end) {
  const auto& qpn = connection.stream.qpns[end];
  return fmt::format("{} qp {}", to_string(connection.stream.ends[end]),
                     qpn ? fmt::format("0x{:06x}", qpn->value()) : "?");
}

/// Returns the numbers of messages of one requester: `write 12, read 3`.
std::string operations(const analysis::DirectionSummary& direction) {
  std::string text;
  for (std::size_t type = 0; type < direction.messages.size(); ++type) {
    if (direction.messages[type] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", to_string(static_cast<analysis::MessageType>(type)),
                        direction.messages[type]);
  }
  return text.empty() ? "-" : text;
}

/// Returns the name in lower case with underscores: `write`.
std::string lower_name(analysis::MessageType type) {
  std::string name{to_string(type)};
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(c == ' ' ? '_' : std::tolower(c)); });
  return name;
}

double per_second(double amount, double seconds) {
  return seconds > 0 ? amount / seconds : 0;
}

}  // namespace

void print_info_text(const std::string& file, const CaptureInfo& info) {
  constexpr double bits = 8;
  constexpr double giga = 1e-9;
  const double seconds = info.seconds();
  fmt::print("{}: {}, {} in {:.6f} s: {:.0f} packets/s, {:.3f} Gbit/s, {} in the busiest millisecond\n", file,
             command_line::counted(info.frames, "frame", "frames"),
             command_line::counted(info.roce_packets, "RoCE packet", "RoCE packets"), seconds,
             per_second(static_cast<double>(info.roce_packets), seconds),
             per_second(static_cast<double>(info.bytes) * bits * giga, seconds), info.peak_packets);
  for (const auto& [version, packets] : info.versions)
    fmt::print("  {}: {}\n", to_string(version), command_line::counted(packets, "packet", "packets"));
  fmt::print("  longest frame: {} bytes\n\nsides\n", info.longest_frame);
  for (const auto& [gid, host] : info.hosts) {
    std::string macs;
    for (const MacAddress& mac : host.macs) macs += " " + to_string(mac);
    fmt::print("  {:<28} {:>9} packets sent, {} QPs{}\n", to_string(gid), host.sent, host.qpns.size(), macs);
  }
  fmt::print("\nconnections\n");
  for (const ConnectionInfo& connection : info.connections) {
    const analysis::StreamSummary& stream = connection.stream;
    fmt::print("  {} {} > {}: {} | {}\n", to_string(stream.service), end_text(connection, 0), end_text(connection, 1),
               operations(stream.directions[0]), operations(stream.directions[1]));
    for (const Obstacle obstacle : connection.obstacles) fmt::print("    not reproducible: {}\n", to_string(obstacle));
  }
  if (info.unlisted_connections != 0) fmt::print("  and {} more, not listed\n", info.unlisted_connections);
  const auto list = [](std::string_view title, const std::vector<std::string>& lines) {
    if (lines.empty()) return;
    fmt::print("\n{}\n", title);
    for (const std::string& line : lines) fmt::print("  {}\n", line);
  };
  list("to play it elsewhere, rewrite", needs(info));
  list("cannot be played as it was", limits(info));
}

void print_info_json(const std::string& file, const CaptureInfo& info) {
  using Json = nlohmann::ordered_json;
  Json json{{"command", "info"},
            {"file", file},
            {"frames", info.frames},
            {"roce_packets", info.roce_packets},
            {"bytes", info.bytes},
            {"seconds", info.seconds()},
            {"peak_packets_per_ms", info.peak_packets},
            {"longest_frame", info.longest_frame},
            {"cut_frames", info.cut_frames},
            {"bad_icrc", info.bad_icrc},
            {"super_frames", info.super_frames},
            {"tunnelled", info.tunnelled},
            {"unreadable", info.unreadable}};
  json["versions"] = Json::object();
  for (const auto& [version, packets] : info.versions) json["versions"][std::string{to_string(version)}] = packets;
  json["vlans"] = Json::array();
  for (const auto& [vlan, packets] : info.vlans) json["vlans"].push_back({{"id", vlan}, {"packets", packets}});
  json["hosts"] = Json::array();
  for (const auto& [gid, host] : info.hosts) {
    Json one{{"address", to_string(gid)}, {"sent", host.sent}, {"macs", Json::array()}, {"qpns", Json::array()}};
    for (const MacAddress& mac : host.macs) one["macs"].push_back(to_string(mac));
    for (const Qpn qpn : host.qpns) one["qpns"].push_back(qpn.value());
    json["hosts"].push_back(std::move(one));
  }
  json["connections"] = Json::array();
  for (const ConnectionInfo& connection : info.connections) {
    const analysis::StreamSummary& stream = connection.stream;
    Json one{{"service", to_string(stream.service)}, {"path_mtu", stream.path_mtu}, {"ends", Json::array()}};
    for (std::size_t end = 0; end < 2; ++end) {
      const analysis::DirectionSummary& direction = stream.directions[end];
      Json messages = Json::object();
      for (std::size_t type = 0; type < direction.messages.size(); ++type) {
        messages[lower_name(static_cast<analysis::MessageType>(type))] = direction.messages[type];
      }
      const auto& qpn = stream.qpns[end];
      one["ends"].push_back({{"address", to_string(stream.ends[end])},
                             {"qpn", qpn ? Json(qpn->value()) : Json(nullptr)},
                             {"packets", direction.packets},
                             {"goodput_bytes", direction.goodput_bytes},
                             {"messages", std::move(messages)}});
    }
    one["not_reproducible"] = Json::array();
    for (const Obstacle obstacle : connection.obstacles) one["not_reproducible"].push_back(name_of(obstacle));
    json["connections"].push_back(std::move(one));
  }
  json["unlisted_connections"] = info.unlisted_connections;
  json["rewrite"] = needs(info);
  json["limits"] = limits(info);
  fmt::print("{}\n", json.dump());
}

}  // namespace roce::replay
