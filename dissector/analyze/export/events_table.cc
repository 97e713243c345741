// SPDX-License-Identifier: BSD-2-Clause
#include <array>

#include "analyze/export/tables.h"
#include "analyze/report/json_values.h"

namespace roce::analyze {

namespace {

using analysis::verdict_info;
using columns::Cell;
using columns::Type;
using Row = EventRow;

bool has_stream(const Row& row) {
  return row.verdict.stream != analysis::kNoStream;
}

const CaptureFile* file_of(const Row& row, analysis::PacketId id) {
  return id ? row.facts.files.find(id.frame).file : nullptr;
}

constexpr std::array kColumns{
    TableColumn<Row>{{"run", Type::text, false, "", "name of the run, as --run gives it"},
                     [](const Row& row, Cell& cell) { put_run(cell, row.facts); }},
    TableColumn<Row>{{"point", Type::text, false, "", "capture point"},
                     [](const Row& row, Cell& cell) { put_point(cell, row.facts, row.verdict.point); }},
    TableColumn<Row>{{"event", Type::u64, false, "", "number of the verdict, from 1; extract --event takes it"},
                     [](const Row& row, Cell& cell) { cell.number(row.number); }},
    TableColumn<Row>{{"file", Type::text, false, "", "file of the packet that it is about"},
                     [](const Row& row, Cell& cell) { put_file(cell, file_of(row, row.verdict.packet)); }},
    TableColumn<Row>{
        {"frame", Type::u64, false, "", "frame of that packet, in its file"},
        [](const Row& row, Cell& cell) { cell.number(row.facts.files.find(row.verdict.packet.frame).number); }},
    TableColumn<Row>{{"segment", Type::u16, false, "", "place in a frame of several packets, from 0"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.verdict.packet.segment}); }},
    TableColumn<Row>{{"time_ns", Type::i64, false, "ns", "time of that packet since 1970"},
                     [](const Row& row, Cell& cell) { cell.number(row.verdict.time.time_since_epoch().count()); }},
    TableColumn<Row>{{"stream", Type::u32, true, "", "number of its stream"},
                     [](const Row& row, Cell& cell) { put_if(cell, has_stream(row), row.verdict.stream); }},
    TableColumn<Row>{{"end0", Type::text, true, "", "address of end 0 of the stream"},
                     [](const Row& row, Cell& cell) { put_address(cell, row.place.ends[0]); }},
    TableColumn<Row>{{"end1", Type::text, true, "", "address of end 1 of the stream"},
                     [](const Row& row, Cell& cell) { put_address(cell, row.place.ends[1]); }},
    TableColumn<Row>{{"verdict", Type::text, false, "", "what happened; roce-analyze rules lists them"},
                     [](const Row& row, Cell& cell) {
                       put_name(cell, static_cast<std::uint64_t>(row.verdict.kind),
                                verdict_info(row.verdict.kind).name);
                     }},
    TableColumn<Row>{{"severity", Type::text, false, "", "note, warning or error"},
                     [](const Row& row, Cell& cell) {
                       const analysis::Severity severity = verdict_info(row.verdict.kind).severity;
                       put_name(cell, static_cast<std::uint64_t>(severity), severity_text(severity));
                     }},
    TableColumn<Row>{{"cause", Type::text, true, "", "why: timeout, nak, rnr, implied_nak, network, capture …"},
                     [](const Row& row, Cell& cell) {
                       put_name_if(cell, row.verdict.cause != analysis::Cause::none,
                                   static_cast<std::uint64_t>(row.verdict.cause), to_string(row.verdict.cause));
                     }},
    TableColumn<Row>{{"rule", Type::text, true, "", "the rule of docs/rules.md that the sender breaks"},
                     [](const Row& row, Cell& cell) {
                       put_name_if(cell, row.verdict.rule != analysis::Rule::none,
                                   static_cast<std::uint64_t>(row.verdict.rule),
                                   rule_info(row.verdict.rule).identifier);
                     }},
    TableColumn<Row>{{"retrospective", Type::boolean, false, "", "only later packets showed it"},
                     [](const Row& row, Cell& cell) {
                       const bool is_later = verdict_info(row.verdict.kind).time != analysis::VerdictTime::immediate;
                       cell.number(std::uint64_t{is_later});
                     }},
    TableColumn<Row>{{"spurious", Type::boolean, false, "", "a retransmission of what had been acknowledged"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.verdict.spurious}); }},
    TableColumn<Row>{{"first_psn", Type::u32, false, "", "first PSN that it is about"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.verdict.first_psn.value()}); }},
    TableColumn<Row>{{"psn_count", Type::u32, false, "", "PSNs that it is about"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.verdict.psn_count}); }},
    TableColumn<Row>{{"lost_packets", Type::u32, false, "packets", "packets whose loss it alone reports"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.verdict.lost_packets}); }},
    TableColumn<Row>{{"other_frame", Type::u64, true, "", "frame of the packet that it refers to, in its file"},
                     [](const Row& row, Cell& cell) {
                       const bool has_other = bool{row.verdict.other};
                       put_if(cell, has_other, has_other ? row.facts.files.find(row.verdict.other.frame).number : 0);
                     }},
    TableColumn<Row>{{"other_file", Type::text, true, "", "file of that packet, if it is another one"},
                     [](const Row& row, Cell& cell) {
                       const CaptureFile* other = file_of(row, row.verdict.other);
                       if (other == nullptr || other == file_of(row, row.verdict.packet)) return cell.null();
                       put_file(cell, other);
                     }},
    TableColumn<Row>{
        {"elapsed_ns", Type::i64, true, "ns", "time since that packet; of an RNR NAK the wait it asks for"},
        [](const Row& row, Cell& cell) {
          put_if(cell, row.verdict.elapsed != Duration{}, static_cast<std::uint64_t>(row.verdict.elapsed.count()));
        }},
    TableColumn<Row>{{"tries", Type::u32, true, "", "how often it was sent, or refused"},
                     [](const Row& row, Cell& cell) { put_if(cell, row.verdict.tries != 0, row.verdict.tries); }}};

}  // namespace

std::span<const TableColumn<EventRow>> event_columns() {
  return kColumns;
}

}  // namespace roce::analyze
