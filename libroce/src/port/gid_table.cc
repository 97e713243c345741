// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>

#include "roce/port/interfaces.h"

namespace roce::port {
namespace {

class TableMaker {
 public:
  /// Adds a GID of `owner` in both types, unless `owner` has it in the table already.
  void add(const Gid& gid, const Interface& owner, std::optional<std::uint16_t> vlan_id) {
    const bool is_there = std::any_of(rows_.begin(), rows_.end(), [&](const GidTableRow& row) {
      return row.entry.gid == gid && row.netdev == owner.name;
    });
    if (is_there) return;
    for (const transport::GidType type : {transport::GidType::roce_v1, transport::GidType::roce_v2}) {
      rows_.push_back({.index = static_cast<std::uint16_t>(rows_.size()),
                       .entry = {.gid = gid, .type = type, .vlan_id = vlan_id},
                       .netdev = owner.name,
                       .mtu = owner.mtu});
    }
  }

  void add_addresses(const Interface& owner, std::optional<std::uint16_t> vlan_id) {
    for (const InterfaceAddress& address : owner.addresses) add(address.gid, owner, vlan_id);
  }

  [[nodiscard]] std::vector<GidTableRow> take() { return std::move(rows_); }

 private:
  std::vector<GidTableRow> rows_;
};

}  // namespace

std::vector<GidTableRow> gid_table(const Interface& interface, std::span<const Interface> interfaces) {
  TableMaker table;
  if (interface.mac != MacAddress{}) table.add(transport::link_local_gid(interface.mac), interface, std::nullopt);
  table.add_addresses(interface, std::nullopt);
  for (const Interface& upper : interfaces) {
    if (upper.vlan_id && upper.parent_index == interface.index && upper.mac == interface.mac) {
      table.add_addresses(upper, upper.vlan_id);
    }
  }
  return table.take();
}

std::vector<transport::GidEntry> gid_entries(std::span<const GidTableRow> table) {
  std::vector<transport::GidEntry> entries;
  entries.reserve(table.size());
  for (const GidTableRow& row : table) entries.push_back(row.entry);
  return entries;
}

}  // namespace roce::port
