// SPDX-License-Identifier: BSD-2-Clause
#include "gen/commands/commands.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "command_line/program.h"
#include "roce/port/interfaces.h"

namespace roce::gen {
namespace {

constexpr std::string_view kExamples = R"(Examples:
  roce-gen gids                                            the tables of all interfaces
  roce-gen gids -i eth0                                    the table of one
  roce-gen gids -i eth0 --json | jq -r '.[] | select(.type == "v2") | .gid'

VLAN devices stand in the table of the interface that they are on. INDEX counts as in an RDMA device on DEV that knows
both RoCE versions; Soft-RoCE has no v1 rows.

Exit status: 0 the tables were printed, 2 wrong command line, or there is no such interface.)";

struct GidsOptions {
  std::string interface;
  bool json = false;
};

/// A row with the interface whose table it is in.
struct DeviceRow {
  std::string device;
  port::GidTableRow row;
};

/// Returns the GID as RDMA devices show it: all digits of all groups.
std::string full_text(const Gid& gid) {
  std::string text;
  for (std::size_t i = 0; i < gid.octets.size(); i += 2) {
    text += fmt::format("{}{:02x}{:02x}", i == 0 ? "" : ":", gid.octets[i], gid.octets[i + 1]);
  }
  return text;
}

std::string_view type_text(transport::GidType type) {
  return type == transport::GidType::roce_v1 ? "v1" : "v2";
}

nlohmann::ordered_json to_json(const DeviceRow& device_row) {
  const port::GidTableRow& row = device_row.row;
  const Gid& gid = row.entry.gid;
  nlohmann::ordered_json json;
  json["device"] = device_row.device;
  json["index"] = row.index;
  json["gid"] = full_text(gid);
  json["ipv4"] = gid.is_ipv4_mapped() ? nlohmann::ordered_json(to_string(gid.ipv4())) : nlohmann::ordered_json();
  json["type"] = type_text(row.entry.type);
  json["netdev"] = row.netdev;
  json["vlan"] = row.entry.vlan_id ? nlohmann::ordered_json(*row.entry.vlan_id) : nlohmann::ordered_json();
  json["mtu"] = row.mtu;
  return json;
}

using Line = std::array<std::string, 8>;

Line to_line(const DeviceRow& device_row) {
  const port::GidTableRow& row = device_row.row;
  const Gid& gid = row.entry.gid;
  return {device_row.device,
          fmt::to_string(row.index),
          full_text(gid),
          gid.is_ipv4_mapped() ? to_string(gid.ipv4()) : "-",
          std::string{type_text(row.entry.type)},
          row.netdev,
          row.entry.vlan_id ? fmt::to_string(*row.entry.vlan_id) : "-",
          fmt::to_string(row.mtu)};
}

void print_table(const std::vector<DeviceRow>& rows) {
  std::vector<Line> lines{{"DEV", "INDEX", "GID", "IPv4", "TYPE", "NETDEV", "VLAN", "MTU"}};
  for (const DeviceRow& row : rows) lines.push_back(to_line(row));
  std::array<std::size_t, std::tuple_size_v<Line>> widths{};
  for (const Line& line : lines) {
    for (std::size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  for (const Line& line : lines) {
    std::string text;
    for (std::size_t i = 0; i + 1 < line.size(); ++i) text += fmt::format("{:<{}}  ", line[i], widths[i]);
    fmt::print("{}{}\n", text, line.back());
  }
}

ExitCode fail(std::string_view message) {
  fmt::print(stderr, "roce-gen: {}\n", message);
  return ExitCode::usage;
}

ExitCode run_gids(const GidsOptions& options) {
  const auto interfaces = port::list_interfaces();
  if (!interfaces) return fail(interfaces.error().message);
  std::vector<DeviceRow> rows;
  const auto add_table = [&](const port::Interface& interface) {
    for (port::GidTableRow& row : port::gid_table(interface, *interfaces)) {
      rows.push_back({interface.name, std::move(row)});
    }
  };
  if (!options.interface.empty()) {
    const auto interface = port::find_interface(options.interface);
    if (!interface) return fail(interface.error().message);
    add_table(*interface);
  } else {
    for (const port::Interface& interface : *interfaces) {
      // A VLAN device is listed in the table of its parent if the parent is in this network namespace.
      const bool is_shown_elsewhere =
          interface.vlan_id && std::any_of(interfaces->begin(), interfaces->end(), [&](const port::Interface& other) {
            return other.index == interface.parent_index && other.mac == interface.mac;
          });
      if (!is_shown_elsewhere) add_table(interface);
    }
  }
  if (options.json) {
    nlohmann::ordered_json json = nlohmann::ordered_json::array();
    for (const DeviceRow& row : rows) json.push_back(to_json(row));
    fmt::print("{}\n", json.dump(2));
  } else {
    print_table(rows);
  }
  return ExitCode::ok;
}

}  // namespace

void add_gids(command_line::Program& program, ExitCode& code) {
  command_line::Command command = program.add_subcommand("gids", "Print the GID table of an interface");
  const auto options = std::make_shared<GidsOptions>();
  command.add_option("-i,--interface", options->interface, "The interface; without it, all").type_name("IFACE");
  command.add_flag("--json", options->json, "One JSON array of all rows");
  command.footer(std::string{kExamples});
  command.callback([options, &code] { code = run_gids(*options); });
}

}  // namespace roce::gen
