// SPDX-License-Identifier: BSD-2-Clause
#include <array>

#include "analyze/export/tables.h"

namespace roce::analyze {

namespace {

using columns::Cell;
using columns::Type;
using Row = IntervalRow;

template <std::uint64_t TimeBin::*Member>
void put_count(const Row& row, Cell& cell) {
  cell.number(row.counts.*Member);
}

constexpr std::array kColumns{
    TableColumn<Row>{{"run", Type::text, false, "", "name of the run, as --run gives it"},
                     [](const Row& row, Cell& cell) { put_run(cell, row.facts); }},
    TableColumn<Row>{{"point", Type::text, false, "", "capture point"},
                     [](const Row& row, Cell& cell) { put_point(cell, row.facts, row.point); }},
    TableColumn<Row>{{"stream", Type::u32, true, "", "number of the stream"},
                     [](const Row& row, Cell& cell) { put_if(cell, row.stream != analysis::kNoStream, row.stream); }},
    TableColumn<Row>{{"station", Type::text, true, "", "Ethernet address that sent the PFC and PAUSE frames"},
                     [](const Row& row, Cell& cell) { put_mac(cell, row.station); }},
    TableColumn<Row>{{"end0", Type::text, true, "", "address of end 0 of the stream"},
                     [](const Row& row, Cell& cell) { put_address(cell, row.place.ends[0]); }},
    TableColumn<Row>{{"end1", Type::text, true, "", "address of end 1 of the stream"},
                     [](const Row& row, Cell& cell) { put_address(cell, row.place.ends[1]); }},
    TableColumn<Row>{{"time_ns", Type::i64, false, "ns", "begin of the interval since 1970: a multiple of its width"},
                     [](const Row& row, Cell& cell) { cell.number(row.time_ns); }},
    TableColumn<Row>{{"width_ns", Type::i64, false, "ns", "length of the interval"},
                     [](const Row& row, Cell& cell) { cell.number(row.width_ns); }},
    TableColumn<Row>{{"packets", Type::u64, false, "packets", "packets in both directions"},
                     kBy<put_count<&TimeBin::packets>>},
    TableColumn<Row>{{"bytes", Type::u64, false, "bytes", "bytes of their frames"}, kBy<put_count<&TimeBin::bytes>>},
    TableColumn<Row>{{"goodput_bytes", Type::u64, false, "bytes", "payload that was seen for the first time"},
                     kBy<put_count<&TimeBin::payload>>},
    TableColumn<Row>{{"resent", Type::u64, false, "packets", "request packets that were sent again"},
                     kBy<put_count<&TimeBin::resent>>},
    TableColumn<Row>{{"lost", Type::u64, false, "packets", "packets whose loss was noticed here"},
                     kBy<put_count<&TimeBin::lost>>},
    TableColumn<Row>{{"nak", Type::u64, false, "packets", "NAKs of all kinds but RNR"}, kBy<put_count<&TimeBin::naks>>},
    TableColumn<Row>{{"rnr", Type::u64, false, "packets", "RNR NAKs"}, kBy<put_count<&TimeBin::rnr>>},
    TableColumn<Row>{{"ce", Type::u64, false, "packets", "packets marked for congestion"},
                     kBy<put_count<&TimeBin::ce>>},
    TableColumn<Row>{{"cnp", Type::u64, false, "packets", "congestion notification packets"},
                     kBy<put_count<&TimeBin::cnp>>},
    TableColumn<Row>{{"xoff", Type::u64, false, "frames", "PFC and PAUSE frames that ask for a pause"},
                     kBy<put_count<&TimeBin::xoff>>}};

}  // namespace

std::span<const TableColumn<IntervalRow>> interval_columns() {
  return kColumns;
}

}  // namespace roce::analyze
