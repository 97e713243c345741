// SPDX-License-Identifier: BSD-2-Clause
#include <array>
#include <bit>
#include <cstdint>
#include <numeric>
#include <string_view>

#include "analyze/export/tables.h"
#include "analyze/report/stream_text.h"
#include "analyze/run/stream_figures.h"

namespace roce::analyze {

namespace {

using analysis::DirectionSummary;
using analysis::VerdictKind;
using columns::Cell;
using columns::Type;
using Row = StreamRow;

template <std::size_t D, std::uint64_t DirectionSummary::*Member>
void put_count(const Row& row, Cell& cell) {
  cell.number(row.stream.directions[D].*Member);
}

template <std::size_t D>
void put_messages(const Row& row, Cell& cell) {
  const auto& messages = row.stream.directions[D].messages;
  cell.number(std::accumulate(messages.begin(), messages.end(), std::uint64_t{0}));
}

/// `PerMille`: of the messages; 1000 is the slowest.
template <std::size_t D, unsigned PerMille>
void put_latency(const Row& row, Cell& cell) {
  const analysis::Histogram& latency = row.stream.directions[D].latency;
  if (latency.count() == 0) return cell.null();
  cell.number(std::int64_t{PerMille == 1000 ? latency.max().count() : latency.quantile(PerMille / 1000.0).count()});
}

template <std::size_t D, auto Member>
void put_place(const Row& row, Cell& cell) {
  const auto& value = row.place.directions[D].*Member;
  put_if(cell, value.has_value(), value.value_or(0));
}

template <std::size_t End>
void put_end(const Row& row, Cell& cell) {
  put_address(cell, row.stream.ends[End]);
}
template <std::size_t End>
void put_end_name(const Row& row, Cell& cell) {
  put_name_of(cell, *row.facts.names, row.stream.ends[End]);
}
template <std::size_t End>
void put_qp_name(const Row& row, Cell& cell) {
  const std::string_view name = row.facts.names->find(end_of(row.stream, End));
  if (name.empty()) return cell.null();
  // Each name lies in a place of its own, which does not change during the run.
  cell.text({0, std::bit_cast<std::uintptr_t>(name.data())}, [&] { return name; });
}
template <std::size_t End>
void put_qp(const Row& row, Cell& cell) {
  const auto& qpn = row.stream.qpns[End];
  put_if(cell, qpn.has_value(), qpn ? qpn->value() : 0);
}

template <VerdictKind Kind>
void put_verdicts(const Row& row, Cell& cell) {
  cell.number(row.stream.count(Kind));
}

constexpr std::array kColumns{
    TableColumn<Row>{{"run", Type::text, false, "", "name of the run, as --run gives it"},
                     [](const Row& row, Cell& cell) { put_run(cell, row.facts); }},
    TableColumn<Row>{{"point", Type::text, false, "", "capture point"},
                     [](const Row& row, Cell& cell) { put_point(cell, row.facts, row.stream.point); }},
    TableColumn<Row>{{"stream", Type::u32, false, "", "its number, from 0"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.stream.stream}); }},
    TableColumn<Row>{{"absorbed", Type::u32, true, "", "a stream that proved to be direction 1 of this one"},
                     [](const Row& row, Cell& cell) {
                       put_if(cell, row.place.absorbed != analysis::kNoStream, row.place.absorbed);
                     }},
    TableColumn<Row>{{"service", Type::text, false, "", "RC, UC, UD, XRC, RD or CNP"},
                     [](const Row& row, Cell& cell) {
                       const Service service = row.stream.service;
                       put_name(cell, static_cast<std::uint64_t>(service), service_text(service));
                     }},
    TableColumn<Row>{{"version", Type::text, false, "", "RoCEv1, RoCEv2/IPv4 or RoCEv2/IPv6"},
                     [](const Row& row, Cell& cell) {
                       const RoceVersion version = row.stream.version;
                       put_name(cell, static_cast<std::uint64_t>(version), to_string(version));
                     }},
    TableColumn<Row>{
        {"vlan", Type::u16, true, "", "VLAN of the innermost tag"},
        [](const Row& row, Cell& cell) { put_if(cell, row.stream.vlan.has_value(), row.stream.vlan.value_or(0)); }},
    TableColumn<Row>{{"end0", Type::text, true, "", "address of end 0, the sender of direction 0"}, kBy<put_end<0>>},
    TableColumn<Row>{{"qp0", Type::u32, true, "", "QP of end 0"}, kBy<put_qp<0>>},
    TableColumn<Row>{{"end1", Type::text, true, "", "address of end 1, the sender of direction 1"}, kBy<put_end<1>>},
    TableColumn<Row>{{"qp1", Type::u32, true, "", "QP of end 1"}, kBy<put_qp<1>>},
    TableColumn<Row>{{"end0_name", Type::text, true, "", "name of end 0, from --names"}, kBy<put_end_name<0>>},
    TableColumn<Row>{{"end1_name", Type::text, true, "", "name of end 1, from --names"}, kBy<put_end_name<1>>},
    TableColumn<Row>{{"qp0_name", Type::text, true, "", "name of the QP of end 0, from --names"}, kBy<put_qp_name<0>>},
    TableColumn<Row>{{"qp1_name", Type::text, true, "", "name of the QP of end 1, from --names"}, kBy<put_qp_name<1>>},
    TableColumn<Row>{{"joined", Type::boolean, false, "", "both directions are known to belong together"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.stream.joined}); }},
    TableColumn<Row>{{"had_begun", Type::boolean, false, "", "it began before the capture"},
                     [](const Row& row, Cell& cell) { cell.number(std::uint64_t{row.stream.is_open_start}); }},
    TableColumn<Row>{{"path_mtu", Type::u16, true, "bytes", "path MTU, as far as it shows"},
                     [](const Row& row, Cell& cell) { put_if(cell, row.stream.path_mtu != 0, row.stream.path_mtu); }},
    TableColumn<Row>{{"udp_source_port_0", Type::u16, true, "", "UDP source port of the first packet of direction 0"},
                     kBy<put_place<0, &StreamPlace::Direction::udp_source_port>>},
    TableColumn<Row>{{"udp_source_port_1", Type::u16, true, "", "UDP source port of the first packet of direction 1"},
                     kBy<put_place<1, &StreamPlace::Direction::udp_source_port>>},
    TableColumn<Row>{{"dscp_0", Type::u8, true, "", "DSCP of that packet of direction 0"},
                     kBy<put_place<0, &StreamPlace::Direction::dscp>>},
    TableColumn<Row>{{"dscp_1", Type::u8, true, "", "DSCP of that packet of direction 1"},
                     kBy<put_place<1, &StreamPlace::Direction::dscp>>},
    TableColumn<Row>{{"pcp_0", Type::u8, true, "", "VLAN priority of that packet of direction 0"},
                     kBy<put_place<0, &StreamPlace::Direction::pcp>>},
    TableColumn<Row>{{"pcp_1", Type::u8, true, "", "VLAN priority of that packet of direction 1"},
                     kBy<put_place<1, &StreamPlace::Direction::pcp>>},
    TableColumn<Row>{{"start_ns", Type::i64, false, "ns", "time of its first packet since 1970"},
                     [](const Row& row, Cell& cell) { cell.number(row.stream.start.time_since_epoch().count()); }},
    TableColumn<Row>{{"end_ns", Type::i64, false, "ns", "time of its last packet since 1970"},
                     [](const Row& row, Cell& cell) { cell.number(row.stream.end.time_since_epoch().count()); }},
    TableColumn<Row>{{"packets_0", Type::u64, false, "packets", "packets of direction 0"},
                     kBy<put_count<0, &DirectionSummary::packets>>},
    TableColumn<Row>{{"packets_1", Type::u64, false, "packets", "packets of direction 1"},
                     kBy<put_count<1, &DirectionSummary::packets>>},
    TableColumn<Row>{{"bytes_0", Type::u64, false, "bytes", "bytes of the frames of direction 0"},
                     kBy<put_count<0, &DirectionSummary::bytes>>},
    TableColumn<Row>{{"bytes_1", Type::u64, false, "bytes", "bytes of the frames of direction 1"},
                     kBy<put_count<1, &DirectionSummary::bytes>>},
    TableColumn<Row>{{"request_bytes_0", Type::u64, false, "bytes", "payload of requests of end 0, with repeated ones"},
                     kBy<put_count<0, &DirectionSummary::request_bytes>>},
    TableColumn<Row>{{"request_bytes_1", Type::u64, false, "bytes", "payload of requests of end 1, with repeated ones"},
                     kBy<put_count<1, &DirectionSummary::request_bytes>>},
    TableColumn<Row>{{"response_bytes_0", Type::u64, false, "bytes", "payload of READ responses of end 0"},
                     kBy<put_count<0, &DirectionSummary::response_bytes>>},
    TableColumn<Row>{{"response_bytes_1", Type::u64, false, "bytes", "payload of READ responses of end 1"},
                     kBy<put_count<1, &DirectionSummary::response_bytes>>},
    TableColumn<Row>{{"goodput_bytes_0", Type::u64, false, "bytes", "payload of completed messages of requester 0"},
                     kBy<put_count<0, &DirectionSummary::goodput_bytes>>},
    TableColumn<Row>{{"goodput_bytes_1", Type::u64, false, "bytes", "payload of completed messages of requester 1"},
                     kBy<put_count<1, &DirectionSummary::goodput_bytes>>},
    TableColumn<Row>{{"messages_0", Type::u64, false, "messages", "completed messages of requester 0"},
                     kBy<put_messages<0>>},
    TableColumn<Row>{{"messages_1", Type::u64, false, "messages", "completed messages of requester 1"},
                     kBy<put_messages<1>>},
    TableColumn<Row>{{"refused_0", Type::u64, false, "messages", "messages of requester 0 that a NAK ended"},
                     kBy<put_count<0, &DirectionSummary::messages_refused>>},
    TableColumn<Row>{{"refused_1", Type::u64, false, "messages", "messages of requester 1 that a NAK ended"},
                     kBy<put_count<1, &DirectionSummary::messages_refused>>},
    TableColumn<Row>{{"acks_0", Type::u64, false, "packets", "acknowledgements of end 0"},
                     kBy<put_count<0, &DirectionSummary::acks>>},
    TableColumn<Row>{{"acks_1", Type::u64, false, "packets", "acknowledgements of end 1"},
                     kBy<put_count<1, &DirectionSummary::acks>>},
    TableColumn<Row>{{"p50_ns_0", Type::i64, true, "ns", "median latency of messages of requester 0"},
                     kBy<put_latency<0, 500>>},
    TableColumn<Row>{{"p50_ns_1", Type::i64, true, "ns", "median latency of messages of requester 1"},
                     kBy<put_latency<1, 500>>},
    TableColumn<Row>{{"p99_ns_0", Type::i64, true, "ns", "99th percentile of these of requester 0"},
                     kBy<put_latency<0, 990>>},
    TableColumn<Row>{{"p99_ns_1", Type::i64, true, "ns", "99th percentile of these of requester 1"},
                     kBy<put_latency<1, 990>>},
    TableColumn<Row>{{"max_ns_0", Type::i64, true, "ns", "longest of these of requester 0"}, kBy<put_latency<0, 1000>>},
    TableColumn<Row>{{"max_ns_1", Type::i64, true, "ns", "longest of these of requester 1"}, kBy<put_latency<1, 1000>>},
    TableColumn<Row>{{"resent", Type::u64, false, "packets", "request packets that were sent again"},
                     [](const Row& row, Cell& cell) { cell.number(retransmissions(row.stream)); }},
    TableColumn<Row>{{"spurious", Type::u64, false, "packets", "of these, those that had been acknowledged"},
                     [](const Row& row, Cell& cell) { cell.number(row.stream.spurious_retransmissions); }},
    TableColumn<Row>{{"lost_before", Type::u64, false, "packets", "lost between their sender and the capture point"},
                     [](const Row& row, Cell& cell) { cell.number(row.lost.before); }},
    TableColumn<Row>{{"lost_after", Type::u64, false, "packets", "lost between the capture point and their receiver"},
                     [](const Row& row, Cell& cell) { cell.number(row.lost.after); }},
    TableColumn<Row>{{"lost_beyond", Type::u64, false, "packets", "lost on the responder's side, either way"},
                     [](const Row& row, Cell& cell) { cell.number(row.lost.beyond); }},
    TableColumn<Row>{{"missed_psns", Type::u64, false, "PSNs", "missing only in the capture"},
                     [](const Row& row, Cell& cell) { cell.number(row.stream.missed_psns); }},
    TableColumn<Row>{
        {"nak", Type::u64, false, "packets", "NAKs of all kinds but RNR"},
        [](const Row& row,
           Cell& cell) { cell.number(error_naks(row.stream) + row.stream.count(VerdictKind::nak_sequence_error)); }},
    TableColumn<Row>{{"rnr", Type::u64, false, "packets", "RNR NAKs"}, kBy<put_verdicts<VerdictKind::rnr_nak>>},
    TableColumn<Row>{{"ce", Type::u64, false, "packets", "packets marked for congestion"},
                     kBy<put_verdicts<VerdictKind::ce_mark>>},
    TableColumn<Row>{{"cnp", Type::u64, false, "packets", "congestion notification packets"},
                     kBy<put_verdicts<VerdictKind::cnp>>}};

}  // namespace

std::span<const TableColumn<StreamRow>> stream_columns() {
  return kColumns;
}

}  // namespace roce::analyze
