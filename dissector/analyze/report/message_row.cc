// SPDX-License-Identifier: BSD-2-Clause
// A message as a row of a table.
#include "analyze/report/message_row.h"

#include <nlohmann/json.hpp>
#include <type_traits>
#include <variant>

#include "text/human_units.h"

namespace roce::analyze {

namespace {

using analysis::Message;
using analysis::MessageEnd;

text::TableCell frame_cell(analysis::PacketId id, const SeenFiles& files) {
  if (!id) return {};
  const FramePlace place = files.find(id.frame);
  return {frame_text(place, files), text::Tone::plain, place.number};
}

}  // namespace

std::vector<text::TableColumn> message_row_columns() {
  return {{"stream", text::Align::right},
          {"from to", text::Align::left, "ends"},
          {"message", text::Align::right},
          {"type", text::Align::left},
          {"start", text::Align::right, "start"},
          {"first", text::Align::right, "first_frame"},
          {"last", text::Align::right, "last_frame"},
          {"answer", text::Align::right, "answer_frame"},
          {"PSN", text::Align::right, "first_psn"},
          {"packets", text::Align::right, "psn_count"},
          {"bytes", text::Align::right},
          {"resent", text::Align::right},
          {"latency", text::Align::right, "latency_ns"},
          {"end", text::Align::left},
          {"file", text::Align::left}};
}

std::vector<text::TableCell> message_row(const Message& message, const MessagePlaces& places) {
  const std::int64_t start = message.start.time_since_epoch().count();
  const FramePlace place = places.files.find(message.first.frame);
  const bool is_numbered = message.number != 0;
  const bool has_latency = message.is_completed() && message.start_seen && is_numbered;
  std::string type{to_string(message.type)};
  if (message.has_immediate) type += "_IMM";
  if (message.has_invalidate) type += "_INV";
  const bool is_bad = message.end == MessageEnd::refused || message.end == MessageEnd::open;
  return {
      {std::to_string(message.stream), text::Tone::plain, std::uint64_t{message.stream}},
      {places.ends.text(message.stream, message.direction, places.names, places.charset)},
      is_numbered ? text::TableCell{std::to_string(message.number), text::Tone::plain, message.number}
                  : text::TableCell{},
      {type},
      {seconds_text(start - places.start_ns.value_or(start)), text::Tone::plain, utc_text(start)},
      frame_cell(message.first, places.files),
      frame_cell(message.last, places.files),
      frame_cell(message.answer, places.files),
      {std::to_string(message.first_psn.value()), text::Tone::plain, std::uint64_t{message.first_psn.value()}},
      {text::count_text(message.psn_count), text::Tone::plain, std::uint64_t{message.psn_count}},
      {text::count_text(message.bytes), text::Tone::plain, message.bytes},
      {message.retransmissions == 0 ? "-" : text::count_text(message.retransmissions),
       message.retransmissions == 0 ? text::Tone::faint : text::Tone::caution, std::uint64_t{message.retransmissions}},
      has_latency ? text::TableCell{text::duration_text(message.latency().count()), text::Tone::plain,
                                    std::int64_t{message.latency().count()}}
                  : text::TableCell{},
      {std::string{to_string(message.end)}, is_bad ? text::Tone::bad : text::Tone::plain},
      {place.file != nullptr ? place.file->path : std::string{}}};
}

OrderedJson message_json(const Message& message, const MessagePlaces& places) {
  const std::vector<text::TableColumn> columns = message_row_columns();
  const std::vector<text::TableCell> cells = message_row(message, places);
  OrderedJson json;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    OrderedJson& value = json[columns[i].key.empty() ? columns[i].heading : columns[i].key];
    std::visit(
        [&](const auto& exact) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(exact)>, std::monostate>) {
            value = exact;
          } else if (!cells[i].text.empty()) {
            value = cells[i].text;
          }
        },
        cells[i].exact);
  }
  return json;
}

}  // namespace roce::analyze
