// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>

#include "analyze/join/join_format.h"
#include "analyze/report/json_values.h"
#include "analyze/report/stream_text.h"
#include "analyze/session/analysis_session.h"
#include "roce/wire/opcode.h"

namespace roce::analyze {

namespace {

std::vector<text::TableColumn> packet_columns() {
  return {{"time", text::Align::right},
          {"fate"},
          {"way"},
          {"stream", text::Align::right, "stream_a"},
          {"from to", text::Align::left, "flow"},
          {"opcode"},
          {"PSN", text::Align::right, "psn"},
          {"frame at A", text::Align::right, "frame_a"},
          {"frame at B", text::Align::right, "frame_b"},
          {"", text::Align::left, "segment_a"},
          {"", text::Align::left, "segment_b"},
          {"", text::Align::left, "file_a"},
          {"", text::Align::left, "file_b"},
          {"", text::Align::left, "time_a"},
          {"", text::Align::left, "time_b"},
          {"", text::Align::left, "source"},
          {"", text::Align::left, "destination"},
          {"", text::Align::left, "dest_qp"}};
}
constexpr std::size_t kForPrograms = 9;

std::string opcode_text(std::uint8_t opcode) {
  const std::string_view name = opcode_info(Opcode{opcode}).name;
  return name.empty() ? fmt::format("{:#04x}", opcode) : std::string{name};
}

text::TableCell number_cell(std::uint64_t value) {
  return {std::to_string(value), text::Tone::plain, value};
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
  [[nodiscard]] text::TableCell frame() const {
    if (place_.file == nullptr) return {};
    const std::string& path = place_.file->path;
    return {read_.files.size() == 1 ? std::to_string(place_.number)
                                    : fmt::format("{}:{}", path.substr(path.rfind('/') + 1), place_.number),
            text::Tone::plain, place_.number};
  }
  [[nodiscard]] text::TableCell segment() const {
    return packet_ == nullptr ? text::TableCell{} : number_cell(packet_->segment);
  }
  [[nodiscard]] text::TableCell file() const {
    return place_.file == nullptr ? text::TableCell{} : text::TableCell{place_.file->path};
  }
  [[nodiscard]] text::TableCell time() const {
    return packet_ == nullptr ? text::TableCell{} : text::TableCell{utc_text(packet_->time_ns)};
  }

 private:
  const AnalysisResult& read_;
  const SeenPacket* packet_ = nullptr;
  FramePlace place_{};
};

}  // namespace

void write_packet_fates(AnalysisSession& session, const JoinView& view, const std::set<Fate>& wanted) {
  RowWriter writer{session, packet_columns(), kForPrograms};
  const text::Charset charset = session.layout().charset;
  for (const PacketFate& fate : view.result.fates) {
    if (!wanted.empty() && !wanted.contains(fate.fate)) continue;
    const Sight at_a{view.a, view.read_a, fate.in_a};
    const Sight at_b{view.b, view.read_b, fate.in_b};
    const SeenFlow& flow = view.flows.flows()[fate.flow];
    const Way way = way_of(view.result.clock.legs[flow.leg].order);
    // If the packet was damaged, the undamaged side has its true fields.
    const bool is_of_a = at_a.packet() != nullptr && (at_b.packet() == nullptr || !at_a.packet()->is_bad);
    const SeenPacket& packet = is_of_a ? *at_a.packet() : *at_b.packet();
    text::TableCell time{seconds_text(fate.order_ns - view.a.first_ns), text::Tone::plain, utc_text(fate.order_ns)};
    const bool is_death = fate.fate == Fate::lost || fate.fate == Fate::damaged;
    writer.add({std::move(time),
                {std::string{to_string(fate.fate)}, is_death ? text::Tone::bad : text::Tone::plain},
                {way_text(way, charset), text::Tone::plain, std::string{to_string(way)}},
                flow.stream == analysis::kNoStream ? text::TableCell{} : number_cell(flow.stream),
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
