// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/export/table.h"
#include "analyze/report/time_bins.h"
#include "roce/wire/bth.h"

namespace roce::analyze {

// The tables of `export`: what a row is made of, and the columns, which all formats, --schema and docs/export.md share.

/// A copy of what the columns need, so that rows can be collected.
struct PacketRow {
  PacketRow(const RunFacts& run, const AnalysedPacket& packet);

  const RunFacts* facts = nullptr;
  analysis::Observation seen;
  std::uint64_t frame = 0;       ///< in its file
  std::uint64_t frame_base = 0;  ///< of its file
  std::optional<std::int64_t> time_ns;
  std::uint32_t stream = analysis::kNoStream;
  std::uint8_t direction = 0;
  analysis::PacketRole role{};
  std::uint64_t message = 0;
  std::optional<std::int64_t> latency_ns;
  std::optional<std::uint16_t> vlan_tci;
  std::optional<std::uint32_t> immediate;
  IcrcStatus icrc{};
  bool is_roce = false;
  Bth bth{};  ///< only with `is_roce`
};

struct MessageRow {
  const RunFacts& facts;
  const analysis::Message& message;
  const StreamPlace& place;
};

struct EventRow {
  const RunFacts& facts;
  const analysis::Verdict& verdict;
  const StreamPlace& place;
  std::uint64_t number = 0;
};

struct StreamRow {
  const RunFacts& facts;
  const analysis::StreamSummary& stream;
  const StreamPlace& place;
  LossPlaces lost;
};

/// The events of a stream, or the pauses that a station asked for, in an interval of time.
struct IntervalRow {
  const RunFacts& facts;
  std::int64_t time_ns = 0;
  std::int64_t width_ns = 0;
  std::uint16_t point = 0;
  std::uint32_t stream = analysis::kNoStream;
  MacAddress station{};  ///< of PFC and PAUSE frames
  const StreamPlace& place;
  TimeBin counts;
};

[[nodiscard]] std::span<const TableColumn<PacketRow>> packet_columns();
[[nodiscard]] std::span<const TableColumn<MessageRow>> message_columns();
[[nodiscard]] std::span<const TableColumn<EventRow>> event_columns();
[[nodiscard]] std::span<const TableColumn<StreamRow>> stream_columns();
[[nodiscard]] std::span<const TableColumn<IntervalRow>> interval_columns();

enum class TableId : std::uint8_t { packets, messages, events, streams, intervals };
inline constexpr std::size_t kTables = 5;

struct TableInfo {
  TableId id{};
  std::string_view name;
  std::string_view meaning;  ///< what one row is
  std::vector<columns::Column> columns;
};

/// All tables, by `TableId`.
[[nodiscard]] const std::vector<TableInfo>& table_infos();

}  // namespace roce::analyze
