// SPDX-License-Identifier: GPL-2.0-or-later
#include <array>
#include <cstddef>
#include <string>

#include "wireshark/epan/fields.h"
#include "wireshark/epan/statistics.h"
#include "wireshark/epan/tap.h"

namespace roce::plugin {

namespace {

constexpr int kRoot = 0;

/// Returns the name that a field has for one of its values.
const char* name_of(Derived field, std::uint32_t value) {
  const header_field_info* const info = proto_registrar_get_nth(static_cast<guint>(fields().of(field)));
  const char* const name = try_val_to_str(value, static_cast<const value_string*>(info->strings));
  return name != nullptr ? name : "Unknown";
}

/// The names of verdicts as null-terminated texts, by kind.
const std::array<std::string, kVerdictCount>& verdict_names() {
  static const auto names = [] {
    std::array<std::string, kVerdictCount> all;
    for (const analysis::VerdictInfo& info : analysis::verdict_infos()) {
      all[static_cast<std::size_t>(info.kind)] = info.name;
    }
    return all;
  }();
  return names;
}

const char* severity_name(analysis::Severity severity) {
  switch (severity) {
    case analysis::Severity::note:
      return "Notes";
    case analysis::Severity::warning:
      return "Warnings";
    case analysis::Severity::error:
      break;
  }
  return "Errors";
}

const char* icrc_name(IcrcStatus status) {
  switch (status) {
    case IcrcStatus::good:
    case IcrcStatus::good_for_ip_id:
      return "Good";
    case IcrcStatus::bad:
      return "Bad";
    case IcrcStatus::not_checked:
      break;
  }
  return "Unverified";
}

void count_operation(stats_tree* tree, const analysis::Observation& seen) {
  const int root = tick_stat_node(tree, "Packets", kRoot, TRUE);
  if (seen.kind != PacketKind::roce) {
    tick_stat_node(tree, seen.kind == PacketKind::pfc ? "PFC" : "PAUSE", root, FALSE);
    return;
  }
  if (!seen.info().defined()) {
    tick_stat_node(tree, "Unknown opcode", root, FALSE);
    return;
  }
  const char* const service = name_of(Derived::service, static_cast<std::uint32_t>(seen.info().service));
  const int parent = tick_stat_node(tree, service, root, TRUE);
  tick_stat_node(tree, name_of(Derived::operation, static_cast<std::uint32_t>(seen.info().operation)), parent, FALSE);
}

void count_verdicts(stats_tree* tree, const TappedPacket& packet) {
  if (packet.facts == nullptr) return;
  for (std::uint32_t i = packet.facts->verdicts; i != 0; i = packet.analysis->verdict(i).next) {
    const analysis::VerdictKind kind = packet.analysis->verdict(i).verdict.kind;
    // In a single pass it is not yet known what later packets reveal about this one.
    const int root =
        tick_stat_node(tree, packet.has_hindsight ? "Verdicts" : "Verdicts (immediate; all: tshark -2)", kRoot, TRUE);
    const int parent = tick_stat_node(tree, severity_name(verdict_info(kind).severity), root, TRUE);
    tick_stat_node(tree, verdict_names()[static_cast<std::size_t>(kind)].c_str(), parent, FALSE);
  }
}

tap_packet_status count_packet(stats_tree* tree, packet_info* /*pinfo*/, epan_dissect_t* /*edt*/, const void* data,
                               tap_flags_t /*flags*/) {
  const TappedPacket packet = tapped(data);
  count_operation(tree, packet.observation);
  count_verdicts(tree, packet);
  if (packet.observation.kind == PacketKind::roce) {
    tick_stat_node(tree, icrc_name(packet.icrc), tick_stat_node(tree, "ICRC", kRoot, TRUE), FALSE);
  }
  return TAP_PACKET_REDRAW;
}

}  // namespace

void register_operation_tree() {
  static_cast<void>(verdict_names());
  // Wireshark calls the function that prepares a tree without looking whether there is one; tshark looks.
  stats_tree_register_plugin(
      kTap, "roce", "RoCE Operations and Verdicts", 0, count_packet, [](stats_tree*) {}, nullptr);
}

}  // namespace roce::plugin
