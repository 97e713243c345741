// SPDX-License-Identifier: BSD-2-Clause
#include "wireshark/parts/psn_graph.h"

#include <fmt/compile.h>
#include <fmt/format.h>

namespace roce::plugin {

namespace {

using analysis::PacketRole;
using analysis::VerdictKind;

/// Returns the kind of a request's point, by what was found about it.
std::string_view kind_of_request(const TappedPacket& packet) {
  std::string_view kind = "sent";
  for (std::uint32_t i = packet.facts->verdicts; i != 0; i = packet.analysis->verdict(i).next) {
    switch (packet.analysis->verdict(i).verdict.kind) {
      case VerdictKind::retransmission:
        return "sent_again";
      case VerdictKind::duplicate:
        return "copy";
      case VerdictKind::out_of_order:
        kind = "late";
        break;
      default:
        break;
    }
  }
  return kind;
}

std::string_view kind_of_response(const analysis::Observation& seen) {
  if (seen.info().operation == Operation::read_response) return "read_response";
  if (!seen.has_aeth) return "answered";
  switch (seen.syndrome.kind()) {
    case AethKind::nak:
      return "nak";
    case AethKind::rnr_nak:
      return "rnr_nak";
    default:
      return "answered";
  }
}

}  // namespace

void PsnGraph::count(const TappedPacket& packet) {
  const analysis::Observation& seen = packet.observation;
  if (!begin_) begin_ = seen.time;
  if (packet.facts == nullptr || packet.facts->stream == analysis::kNoStream || seen.icrc_bad) return;
  const PacketFacts& facts = *packet.facts;
  const bool is_request = facts.role == PacketRole::request;
  if (!is_request && facts.role != PacketRole::response) return;
  const RequestChannel channel = packet.analysis->channel_of(facts);
  Point point{.time = seen.time, .stream = channel.stream, .direction = channel.direction, .frame = seen.id.frame};
  point.kind = is_request ? kind_of_request(packet) : kind_of_response(seen);
  point.first = facts.relative_psn;
  point.end = facts.relative_psn + 1;
  if (is_request && seen.info().operation == Operation::read_request) {
    // One repeated from its middle takes what is left.
    const std::optional<MessagePlace> place = packet.analysis->message_of(facts);
    if (place && place->packets >= place->packet) point.end = point.first + place->packets - place->packet + 1;
  }
  points_.push_back(point);
}

std::string_view PsnGraph::heading() {
  return "seconds\tstream\tdirection\tkind\tpsn\tend\tframe\n";
}

std::string PsnGraph::line(std::size_t index) const {
  const Point& point = points_[index];
  const Duration since = point.time - begin_.value_or(point.time);
  constexpr std::int64_t kSecond = 1'000'000'000;
  const bool is_before = since < Duration{};
  const std::int64_t distance = is_before ? -since.count() : since.count();
  return fmt::format(FMT_COMPILE("{}{}.{:09}\t{}\t{}\t{}\t{}\t{}\t{}\n"), is_before ? "-" : "", distance / kSecond,
                     distance % kSecond, point.stream, point.direction, point.kind, point.first, point.end,
                     point.frame);
}

}  // namespace roce::plugin
