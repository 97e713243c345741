// SPDX-License-Identifier: BSD-2-Clause
#include <array>

#include "analyze/export/tables.h"

namespace roce::analyze {

namespace {

using analysis::Message;
using columns::Cell;
using columns::Type;
using Row = MessageRow;

const Gid& sender(const Row& row) {
  return row.place.ends[row.message.direction];
}
const Gid& receiver(const Row& row) {
  return row.place.ends[1 - row.message.direction];
}

void put_frame(Cell& cell, const Row& row, analysis::PacketId id) {
  put_if(cell, bool{id}, id ? row.facts.files.find(id.frame).number : 0);
}

/// Puts the file of a packet if it is not the one of the first packet.
void put_other_file(Cell& cell, const Row& row, analysis::PacketId id) {
  const CaptureFile* first = row.facts.files.find(row.message.first.frame).file;
  const CaptureFile* file = id ? row.facts.files.find(id.frame).file : nullptr;
  if (file == nullptr || file == first) return cell.null();
  put_file(cell, file);
}

/// Puts the type with what its last packet has: SEND, SEND_IMM, SEND_INV …
void put_type(Cell& cell, const Message& message) {
  const std::uint64_t key = static_cast<std::uint64_t>(message.type) << 2U | (message.has_immediate ? 2U : 0U) |
                            (message.has_invalidate ? 1U : 0U);
  cell.text({0, key}, [&] {
    std::string type{to_string(message.type)};
    if (message.has_immediate) type += "_IMM";
    if (message.has_invalidate) type += "_INV";
    return type;
  });
}

constexpr std::array kColumns{
    TableColumn<Row>{{"run", Type::text, false, "", "name of the run, as --run gives it"},
                     [](const Row& row, Cell& cell) { put_run(cell, row.facts); }},
    TableColumn<Row>{{"point", Type::text, false, "", "capture point"},
                     [](const Row& row, Cell& cell) { put_point(cell, row.facts, row.place.point); }},
    TableColumn<Row>{{"stream", Type::u32, false, "", "number of its stream"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.message.stream}); }},
    TableColumn<Row>{{"direction", Type::u8, false, "", "direction of its requests, 0 or 1"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.message.direction}); }},
    TableColumn<Row>{{"message", Type::u64, true, "", "number in its direction, from 1; a datagram of UD has none"},
                     [](const Row& row, Cell& cell) { put_if(cell, row.message.number != 0, row.message.number); }},
    TableColumn<Row>{{"type", Type::text, false, "", "SEND, WRITE, READ, ATOMIC, ATOMIC_WRITE, FLUSH; _IMM, _INV"},
                     [](const Row& row, Cell& cell) { put_type(cell, row.message); }},
    TableColumn<Row>{{"src", Type::text, true, "", "address of the requester"},
                     [](const Row& row, Cell& cell) { put_address(cell, sender(row)); }},
    TableColumn<Row>{{"dst", Type::text, true, "", "address of the responder"},
                     [](const Row& row, Cell& cell) { put_address(cell, receiver(row)); }},
    TableColumn<Row>{{"src_name", Type::text, true, "", "name of the requester, from --names"},
                     [](const Row& row, Cell& cell) { put_name_of(cell, *row.facts.names, sender(row)); }},
    TableColumn<Row>{{"dst_name", Type::text, true, "", "name of the responder, from --names"},
                     [](const Row& row, Cell& cell) { put_name_of(cell, *row.facts.names, receiver(row)); }},
    TableColumn<Row>{{"dest_qp", Type::u32, true, "", "QP of the responder"},
                     [](const Row& row, Cell& cell) {
                       const auto& qp = row.place.directions[row.message.direction].dest_qp;
                       put_if(cell, qp.has_value(), qp.value_or(0));
                     }},
    TableColumn<Row>{{"start_ns", Type::i64, false, "ns", "time of its first packet since 1970"},
                     [](const Row& row, Cell& cell) { cell.number(row.message.start.time_since_epoch().count()); }},
    TableColumn<Row>{{"end_ns", Type::i64, true, "ns", "time of its answer since 1970; of UC and UD its last packet"},
                     [](const Row& row, Cell& cell) {
                       const std::int64_t end = row.message.finish.time_since_epoch().count();
                       put_if(cell, row.message.is_completed(), static_cast<std::uint64_t>(end));
                     }},
    TableColumn<Row>{{"latency_ns", Type::i64, true, "ns", "from its first packet to its answer, at the capture point"},
                     [](const Row& row, Cell& cell) {
                       const Message& message = row.message;
                       const bool has_latency = message.is_completed() && message.start_seen && message.number != 0;
                       put_if(cell, has_latency, static_cast<std::uint64_t>(message.latency().count()));
                     }},
    TableColumn<Row>{
        {"file", Type::text, false, "", "file of its first packet"},
        [](const Row& row, Cell& cell) { put_file(cell, row.facts.files.find(row.message.first.frame).file); }},
    TableColumn<Row>{{"first_frame", Type::u64, true, "", "frame of its first packet, in its file"},
                     [](const Row& row, Cell& cell) { put_frame(cell, row, row.message.first); }},
    TableColumn<Row>{{"last_frame", Type::u64, true, "", "frame of its last request packet, in its file"},
                     [](const Row& row, Cell& cell) { put_frame(cell, row, row.message.last); }},
    TableColumn<Row>{{"last_file", Type::text, true, "", "file of that packet, if it is another one"},
                     [](const Row& row, Cell& cell) { put_other_file(cell, row, row.message.last); }},
    TableColumn<Row>{{"answer_frame", Type::u64, true, "", "frame of the packet that completed it, in its file"},
                     [](const Row& row, Cell& cell) { put_frame(cell, row, row.message.answer); }},
    TableColumn<Row>{{"answer_file", Type::text, true, "", "file of that packet, if it is another one"},
                     [](const Row& row, Cell& cell) { put_other_file(cell, row, row.message.answer); }},
    TableColumn<Row>{{"first_psn", Type::u32, false, "", "PSN of its first packet"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.message.first_psn.value()}); }},
    TableColumn<Row>{{"psn_count", Type::u32, false, "", "PSNs that it takes"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.message.psn_count}); }},
    TableColumn<Row>{{"bytes", Type::u64, false, "bytes", "payload; of a READ what it asked for"},
                     [](const Row& row, Cell& cell) { cell.number(row.message.bytes); }},
    TableColumn<Row>{{"resent", Type::u32, false, "packets", "request packets that were sent again"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.message.retransmissions}); }},
    TableColumn<Row>{{"outcome", Type::text, false, "", "acknowledged, refused, sent, open or incomplete"},
                     [](const Row& row, Cell& cell) {
                       put_name(cell, static_cast<std::uint64_t>(row.message.end), to_string(row.message.end));
                     }}};

}  // namespace

std::span<const TableColumn<MessageRow>> message_columns() {
  return kColumns;
}

}  // namespace roce::analyze
