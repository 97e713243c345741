// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/answer_match.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "roce/wire/packet.h"

namespace roce::conform::fuzz {

namespace {

/// True if a frame of the device is the answer.
bool fits(const Answer& answer, const Packet& frame) {
  if (!frame.is_roce() || frame.opcode() != answer.opcode) return false;
  const Psn psn = frame.bth().psn;
  const std::int32_t ahead = psn.distance_from(answer.first);
  if (ahead < 0 || ahead > answer.last.distance_from(answer.first)) return false;
  if (const auto aeth = frame.get<Aeth>()) {
    const std::uint8_t syndrome = aeth->syndrome.value();
    const bool is_right = answer.syndrome ? syndrome == *answer.syndrome
                                          : syndrome <= answer.most_credits || aeth->syndrome == AethSyndrome::ack();
    if (!is_right || aeth->msn != answer.msn) return false;
  }
  if (const auto atomic = frame.get<AtomicAckEth>(); atomic && atomic->original != answer.original) return false;
  return std::ranges::equal(frame.payload(), answer.payload);
}

std::string text_of(const Answer& answer) {
  std::string text{opcode_info(answer.opcode).name};
  fmt::format_to(std::back_inserter(text), " PSN {}", answer.first.value());
  if (answer.first != answer.last) fmt::format_to(std::back_inserter(text), " … {}", answer.last.value());
  if (answer.syndrome) fmt::format_to(std::back_inserter(text), " syndrome 0x{:02x}", *answer.syndrome);
  const auto headers = opcode_info(answer.opcode).headers();
  const bool is_ack = !answer.syndrome && std::ranges::find(headers, HeaderId::aeth) != headers.end();
  if (is_ack && answer.most_credits != kMostCredits)
    fmt::format_to(std::back_inserter(text), " syndrome 0x00 … 0x{:02x} or 0x1f", answer.most_credits);
  fmt::format_to(std::back_inserter(text), " MSN {}", answer.msn.value());
  return text;
}

/// Returns the kind of a frame, without its numbers.
std::string kind_of(const SeenFrame& frame) {
  const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
  if (!packet.is_roce()) return "no RoCE";
  const auto aeth = packet.get<Aeth>();
  return fmt::format("{}{}", packet.info().name,
                     aeth && aeth->syndrome.kind() != AethKind::ack ? fmt::format(" 0x{:02x}", aeth->syndrome.value())
                                                                    : std::string{});
}

}  // namespace

bool fits(const Behaviour& behaviour, const std::vector<SeenFrame>& frames) {
  if (behaviour.answers.size() != frames.size()) return false;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    if (!fits(behaviour.answers[i], parse_frame(frames[i].bytes, LinkType::ethernet))) return false;
  }
  return true;
}

std::string text_of(const Behaviour& behaviour) {
  if (behaviour.answers.empty()) return fmt::format("{}: nothing", behaviour.name);
  if (behaviour.answers.size() == 1) return fmt::format("{}: {}", behaviour.name, text_of(behaviour.answers[0]));
  return fmt::format("{}: {} frames from {} on", behaviour.name, behaviour.answers.size(),
                     text_of(behaviour.answers[0]));
}

std::string kinds_of(const std::vector<SeenFrame>& frames) {
  std::string kinds;
  for (const SeenFrame& frame : frames) {
    const std::string kind = kind_of(frame);
    if (kinds.find(kind) == std::string::npos) kinds += fmt::format("{}{}", kinds.empty() ? "" : ", ", kind);
  }
  return kinds.empty() ? "nothing" : kinds;
}

}  // namespace roce::conform::fuzz
