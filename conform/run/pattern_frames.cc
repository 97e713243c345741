// SPDX-License-Identifier: BSD-2-Clause
#include "conform/run/pattern_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "conform/language/functions.h"

namespace roce::conform {

namespace {

constexpr std::uint64_t kMostPackets = 65'536;
constexpr std::uint64_t kPsnMask = 0xFF'FFFF;

std::string_view position_of(std::uint64_t packet, std::uint64_t packets) {
  if (packets == 1) return "ONLY";
  if (packet == 0) return "FIRST";
  return packet + 1 < packets ? "MIDDLE" : "LAST";
}

}  // namespace

CaseResult<std::vector<FramePattern>> frames_of(const FramePattern& pattern, std::uint32_t path_mtu,
                                                const Scope& scope) {
  if (!pattern.read) return std::vector{pattern};
  const auto wrong = [&](std::string message) {
    return tl::unexpected(CaseError{pattern.place, fmt::format("READ_RESPONSE: {}", message)});
  };
  const Evaluated<std::uint64_t> psn = pattern.read->psn.number(scope);
  const Evaluated<std::uint64_t> length = pattern.read->length.number(scope);
  if (!psn || !length) return wrong(psn ? length.error() : psn.error());
  std::string data;
  if (pattern.read->data) {
    const Evaluated<Value> value = pattern.read->data->evaluate(scope);
    if (!value) return wrong(value.error());
    data = bytes_text(*value);
    if (data.size() != 2 * *length)
      return wrong(fmt::format("expected {} bytes of data, found {}", *length, data.size() / 2));
  }
  const std::uint64_t packets = packets_for(*length, path_mtu);
  if (packets > kMostPackets) return wrong(fmt::format("more than {} packets", kMostPackets));
  std::vector<FramePattern> frames;
  for (std::uint64_t i = 0; i < packets; ++i) {
    const std::string_view position = position_of(i, packets);
    const std::uint64_t size = std::min<std::uint64_t>(path_mtu, *length - i * path_mtu);
    FramePattern frame{.place = pattern.place,
                       .text = fmt::format("{} (packet {} of {})", pattern.text, i + 1, packets),
                       .on = pattern.on,
                       .opcode = Expression::literal(fmt::format("READ_RESPONSE_{}", position)),
                       .fields = pattern.fields};
    const auto want = [&](std::string_view name, std::string_view text) {
      frame.fields.push_back({pattern.place, std::string{name}, false, {{Expression::literal(text), {}}}});
    };
    want("bth.psn", std::to_string((*psn + i) & kPsnMask));
    want("payload_length", std::to_string(size));
    if (!data.empty()) want("payload", data.substr(2 * i * path_mtu, 2 * size));
    // A middle packet has no AETH.
    if (position == "MIDDLE") std::erase_if(frame.fields, [](const auto& f) { return f.name.starts_with("aeth."); });
    frames.push_back(std::move(frame));
  }
  return frames;
}

}  // namespace roce::conform
