// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/report/stream_text.h"

#include <fmt/format.h>

#include "packet_text/time_text.h"
#include "roce/wire/service_text.h"

namespace roce::analyze {

std::string_view arrow(text::Charset charset) {
  return charset == text::Charset::utf8 ? "→" : "->";
}

std::string_view service_text(Service service) {
  return to_string(service);
}

QpEnd end_of(const analysis::StreamSummary& stream, std::size_t end) {
  return {.address = stream.ends[end], .qpn = stream.qpns[end]};
}

std::string ends_text(const analysis::StreamSummary& stream, const Names& names, text::Charset charset) {
  const auto end = [&](std::size_t i) {
    const std::string name = names.text(end_of(stream, i));
    return stream.qpns[i] ? fmt::format("{} {:#x}", name, stream.qpns[i]->value()) : name;
  };
  const bool both = stream.directions[0].seen && stream.directions[1].seen;
  const std::string_view between = both ? (charset == text::Charset::utf8 ? "↔" : "<->") : arrow(charset);
  return fmt::format("{} {} {}", end(0), between, end(1));
}

std::int64_t capture_start(const AnalysedPacket& packet) {
  return packet.observation.time.time_since_epoch().count() - packet.decoded.frame.relative_ns;
}

std::string seconds_text(std::int64_t ns) {
  text::TextBuffer text;
  packet_text::append_seconds(text, ns, 6);
  return fmt::to_string(text);
}

std::string frame_text(const FramePlace& place, const SeenFiles& files) {
  if (files.size() <= 1 || place.file == nullptr) return std::to_string(place.number);
  const std::string& path = place.file->path;
  return fmt::format("{}:{}", path.substr(path.rfind('/') + 1), place.number);
}

void StreamEnds::learn(const AnalysedPacket& packet) {
  const std::uint32_t stream = packet.analysis.stream;
  if (stream == analysis::kNoStream) return;
  Ends& ends = of(stream);
  const std::size_t to = packet.analysis.direction == 0 ? 1 : 0;
  if (ends.knows_qpn[to]) return;
  // CNPs and management packets go to other QPs than those that they are about.
  if (packet.analysis.role == analysis::PacketRole::cnp) return;
  ends.addresses[1 - to] = packet.observation.source;
  ends.addresses[to] = packet.observation.destination;
  ends.qpns[to] = packet.observation.dest_qp;
  ends.knows_qpn[to] = true;
}

void StreamEnds::learn(const analysis::StreamSummary& stream) {
  Ends& ends = of(stream.stream);
  ends.addresses = stream.ends;
  for (std::size_t end = 0; end < 2; ++end) {
    ends.qpns[end] = stream.qpns[end].value_or(Qpn{});
    ends.knows_qpn[end] = stream.qpns[end].has_value();
  }
}

StreamEnds::Ends& StreamEnds::of(std::uint32_t stream) {
  if (stream >= streams_.size()) streams_.resize(stream + std::size_t{1});
  return streams_[stream];
}

std::array<Gid, 2> StreamEnds::ends(std::uint32_t stream, std::uint8_t direction) const {
  if (stream >= streams_.size()) return {};
  const Ends& ends = streams_[stream];
  return direction == 0 ? ends.addresses : std::array{ends.addresses[1], ends.addresses[0]};
}

std::vector<analysis::StreamSummary> StreamEnds::all() const {
  std::vector<analysis::StreamSummary> all(streams_.size());
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].stream = static_cast<std::uint32_t>(i);
    all[i].ends = streams_[i].addresses;
    for (std::size_t end = 0; end < 2; ++end) all[i].qpns[end] = streams_[i].end(end).qpn;
  }
  return all;
}

std::string StreamEnds::text(std::uint32_t stream, std::uint8_t direction, const Names& names,
                             text::Charset charset) const {
  if (stream >= streams_.size()) return {};
  const Ends& known = streams_[stream];
  const std::size_t receiver = direction == 0 ? 1 : 0;
  std::string text =
      fmt::format("{} {} {}", names.text(known.end(1 - receiver)), arrow(charset), names.text(known.end(receiver)));
  if (known.knows_qpn[receiver]) text += fmt::format(" {:#x}", known.qpns[receiver].value());
  return text;
}

}  // namespace roce::analyze
