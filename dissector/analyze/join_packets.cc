// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "analyze/analysis_session.h"
#include "analyze/join_format.h"
#include "analyze/json_values.h"
#include "analyze/stream_text.h"
#include "roce/wire/opcode.h"

namespace roce::analyze {

namespace {

std::vector<TableColumn> packet_columns() {
  return {{"time", Align::right},
          {"fate"},
          {"way"},
          {"stream", Align::right, "stream_a"},
          {"from to", Align::left, "flow"},
          {"opcode"},
          {"PSN", Align::right, "psn"},
          {"frame at A", Align::right, "frame_a"},
          {"frame at B", Align::right, "frame_b"},
          {"", Align::left, "segment_a"},
          {"", Align::left, "segment_b"},
          {"", Align::left, "file_a"},
          {"", Align::left, "file_b"},
          {"", Align::left, "time_a"},
          {"", Align::left, "time_b"},
          {"", Align::left, "source"},
          {"", Align::left, "destination"},
          {"", Align::left, "dest_qp"}};
}
constexpr std::size_t kForPrograms = 9;

std::string opcode_text(std::uint8_t opcode) {
  const std::string_view name = opcode_info(Opcode{opcode}).name;
  return name.empty() ? fmt::format("{:#04x}", opcode) : std::string{name};
}

TableCell number_cell(std::uint64_t value) {
  return {std::to_string(value), Tone::plain, value};
}

/// A packet as seen at one of the points.
class Sight {
 public:
  Sight(const JoinSide& side, const AnalysisResult& read, std::uint32_t index) : read_(read) {
    if (index == kNoPacket) return;
    packet_ = &side.packets[index];
    place_ = find_frame(read.files, packet_->frame);
  }

  [[nodiscard]] const SeenPacket* packet() const { return packet_; }
  [[nodiscard]] TableCell frame() const {
    if (place_.file == nullptr) return {};
    const std::string& path = place_.file->path;
    return {read_.files.size() == 1 ? std::to_string(place_.number)
                                    : fmt::format("{}:{}", path.substr(path.rfind('/') + 1), place_.number),
            Tone::plain, place_.number};
  }
  [[nodiscard]] TableCell segment() const { return packet_ == nullptr ? TableCell{} : number_cell(packet_->segment); }
  [[nodiscard]] TableCell file() const { return place_.file == nullptr ? TableCell{} : TableCell{place_.file->path}; }
  [[nodiscard]] TableCell time() const {
    return packet_ == nullptr ? TableCell{} : TableCell{utc_text(packet_->time_ns)};
  }

 private:
  const AnalysisResult& read_;
  const SeenPacket* packet_ = nullptr;
  FramePlace place_{};
};

}  // namespace

void write_packet_fates(AnalysisSession& session, const JoinView& view, const std::set<Fate>& wanted) {
  RowWriter writer{session, packet_columns(), kForPrograms};
  const Charset charset = session.layout().charset;
  for (const PacketFate& fate : view.result.fates) {
    if (!wanted.empty() && !wanted.contains(fate.fate)) continue;
    const Sight at_a{view.a, view.read_a, fate.in_a};
    const Sight at_b{view.b, view.read_b, fate.in_b};
    const SeenFlow& flow = view.flows.flows()[fate.flow];
    const Way way = way_of(view.result.clock.legs[flow.leg].order);
    // If the packet was damaged, the undamaged side has its true fields.
    const bool is_of_a = at_a.packet() != nullptr && (at_b.packet() == nullptr || !at_a.packet()->is_bad);
    const SeenPacket& packet = is_of_a ? *at_a.packet() : *at_b.packet();
    TableCell time{seconds_text(fate.order_ns - view.a.first_ns), Tone::plain, utc_text(fate.order_ns)};
    const bool is_death = fate.fate == Fate::lost || fate.fate == Fate::damaged;
    writer.add({std::move(time),
                {std::string{to_string(fate.fate)}, is_death ? Tone::bad : Tone::plain},
                {way_text(way, charset), Tone::plain, std::string{to_string(way)}},
                flow.stream == analysis::kNoStream ? TableCell{} : number_cell(flow.stream),
                {flow_text(flow, view.names, charset)},
                {opcode_text(packet.opcode)},
                number_cell(packet.psn),
                at_a.frame(),
                at_b.frame(),
                at_a.segment(),
                at_b.segment(),
                at_a.file(),
                at_b.file(),
                at_a.time(),
                at_b.time(),
                {to_string(flow.source)},
                {to_string(flow.destination)},
                number_cell(flow.dest_qp.value())});
  }
  writer.finish();
}

}  // namespace roce::analyze
