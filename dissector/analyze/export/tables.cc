// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/export/tables.h"

namespace roce::analyze {

namespace {

template <typename Row>
std::vector<columns::Column> columns_of(std::span<const TableColumn<Row>> table) {
  std::vector<columns::Column> found;
  found.reserve(table.size());
  for (const TableColumn<Row>& each : table) found.push_back(each.column);
  return found;
}

}  // namespace

const std::vector<TableInfo>& table_infos() {
  static const std::vector<TableInfo> infos{
      {TableId::packets, "packets", "a RoCE packet, or a PFC or PAUSE frame", columns_of(packet_columns())},
      {TableId::messages, "messages", "a message: a SEND, WRITE, READ, atomic …", columns_of(message_columns())},
      {TableId::events, "events", "a verdict", columns_of(event_columns())},
      {TableId::streams, "streams", "a connection, or a flow of datagrams", columns_of(stream_columns())},
      {TableId::intervals, "intervals", "what a stream, or the flow control of a station, did in an interval of time",
       columns_of(interval_columns())}};
  return infos;
}

}  // namespace roce::analyze
