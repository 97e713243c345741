// SPDX-License-Identifier: GPL-2.0-or-later
#include <array>
#include <cstddef>
#include <exception>
#include <string>
#include <vector>

#include "wireshark/epan/statistics.h"
#include "wireshark/epan/tap.h"
#include "wireshark/parts/congestion_statistic.h"
#include "wireshark/parts/host_statistic.h"
#include "wireshark/parts/latency_statistic.h"
#include "wireshark/parts/stream_statistic.h"

namespace roce::plugin {

namespace {

constexpr const char* kFirstPass = "One pass: without verdicts that rest on later packets (tshark -2 counts them)";
constexpr const char* kHindsight = "With the verdicts that rest on later packets";

/// A statistic and the table in which Wireshark shows it.
struct Shown {
  Statistic* statistic = nullptr;
  const char* remark = nullptr;  ///< null: what it counts depends on the pass
  std::array<std::string, TextRows::kMaxColumns> headings{};
  std::vector<stat_tap_table_item> columns{};
  stat_tap_table_ui ui{};
};

HostStatistic hosts;
LatencyStatistic latencies;
CongestionStatistic congestion;
StreamStatistic streams;
std::array<Shown, 4> all_shown{{{&latencies, "Of messages, from the first packet to the one that completed them"},
                                {&hosts, nullptr},
                                {&congestion, "At the capture point; 1 quantum: 512 bit times of the link"},
                                {&streams, nullptr}}};

bool count(Statistic& statistic, const TappedPacket& packet) noexcept {
  try {
    statistic.count(packet);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

bool clear(Statistic& statistic) noexcept {
  try {
    statistic.clear();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// Adds the new rows. Changed rows need no update: Wireshark reads the cells in place.
void add_new_rows(stat_tap_table* table, const TextRows& rows) {
  const auto columns = static_cast<guint>(rows.columns().size());
  for (std::size_t row = table->num_elements; row < rows.size(); ++row) {
    std::array<stat_tap_table_item_type, TextRows::kMaxColumns> items{};
    for (guint column = 0; column < columns; ++column) {
      items[column].type = TABLE_ITEM_STRING;
      items[column].value.string_value = rows.cell(row, column);
    }
    stat_tap_init_table_row(table, static_cast<guint>(row), columns, items.data());
  }
}

void remove_rows(stat_tap_table* table) {
  for (guint row = 0; row < table->num_elements; ++row) g_free(table->elements[row]);
  table->num_elements = 0;
}

stat_tap_table* table_of(const stat_tap_table_ui& ui) {
  return g_array_index(ui.tables, stat_tap_table*, 0);
}

template <std::size_t kIndex>
tap_packet_status on_packet(void* tap_data, packet_info* /*pinfo*/, epan_dissect_t* /*edt*/, const void* data,
                            tap_flags_t /*flags*/) {
  const Shown& shown = all_shown[kIndex];
  const TappedPacket packet = tapped(data);
  if (!count(*shown.statistic, packet)) return TAP_PACKET_FAILED;
  stat_tap_table* const table = table_of(*static_cast<stat_data_t*>(tap_data)->stat_tap_data);
  if (shown.remark == nullptr) table->title = packet.has_hindsight ? kHindsight : kFirstPass;
  add_new_rows(table, shown.statistic->rows());
  return TAP_PACKET_REDRAW;
}

template <std::size_t kIndex>
void on_reset(stat_tap_table* table) {
  Statistic& statistic = *all_shown[kIndex].statistic;
  remove_rows(table);
  if (clear(statistic)) add_new_rows(table, statistic.rows());
}

template <std::size_t kIndex>
void on_begin(stat_tap_table_ui* ui) {
  const Shown& shown = all_shown[kIndex];
  const bool is_there = ui->tables != nullptr && ui->tables->len != 0;
  if (!is_there) {
    const char* const remark = shown.remark != nullptr ? shown.remark : kFirstPass;
    stat_tap_add_table(ui, stat_tap_init_table(remark, static_cast<int>(shown.columns.size()), 0, nullptr));
  }
  on_reset<kIndex>(table_of(*ui));
}

/// Pads the heading of a column to the column's width.
std::string padded(const TextColumn& column) {
  std::string text{column.heading};
  const std::size_t missing = column.width > text.size() ? column.width - text.size() : 0;
  text.insert(column.is_number ? 0 : text.size(), missing, ' ');
  return text;
}

template <std::size_t kIndex>
void register_table(const char* title, const char* option) {
  Shown& shown = all_shown[kIndex];
  const std::span<const TextColumn> columns = shown.statistic->rows().columns();
  for (std::size_t i = 0; i < columns.size(); ++i) {
    shown.headings[i] = padded(columns[i]);
    shown.columns.push_back(
        {TABLE_ITEM_STRING, columns[i].is_number ? TAP_ALIGN_RIGHT : TAP_ALIGN_LEFT, shown.headings[i].c_str(), "%s"});
  }
  static const tap_param filter{PARAM_FILTER, "filter", "Filter", nullptr, TRUE};
  shown.ui.group = REGISTER_PACKET_STAT_GROUP_UNSORTED;
  shown.ui.title = title;
  shown.ui.tap_name = kTap;
  shown.ui.cli_string = option;
  shown.ui.stat_tap_init_cb = on_begin<kIndex>;
  shown.ui.packet_func = on_packet<kIndex>;
  shown.ui.stat_tap_reset_table_cb = on_reset<kIndex>;
  shown.ui.nfields = shown.columns.size();
  shown.ui.fields = shown.columns.data();
  shown.ui.nparams = 1;
  shown.ui.params = const_cast<tap_param*>(&filter);
  register_stat_tap_table_ui(&shown.ui);
}

}  // namespace

void register_tables() {
  register_table<0>("RoCE Latency", "roce,srt");
  register_table<1>("RoCE Counters", "roce,counters");
  register_table<2>("RoCE Congestion and Flow Control", "roce,cc");
  register_table<3>("RoCE Streams", "roce,streams");
}

}  // namespace roce::plugin
