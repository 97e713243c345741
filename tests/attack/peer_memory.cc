// SPDX-License-Identifier: BSD-2-Clause
#include "peer_memory.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "roce/live/control_request.h"
#include "roce/live/pattern.h"

namespace roce::attack {

namespace {

// Large enough for the peer's allocator to map it separately, so that memories made one after the other adjoin.
constexpr std::uint64_t kRegion = (1 << 18) - 16;
constexpr std::uint64_t kInline = 1 << 19;  // most bytes that one read_memory returns

}  // namespace

PeerMemory::PeerMemory(ControlLine& line, ControlLine& other, ControlLine gone_line, std::uint32_t queue_pairs,
                       std::uint64_t seed)
    : line_(line), other_(other), seed_(seed), queue_pairs_(queue_pairs) {
  constexpr std::string_view all = R"("remote_write","remote_read","remote_atomic","flush_global","flush_persistent")";
  above = make(line, kRegion, "");
  granted = make(line, queue_pairs * kArea, all);
  below = make(line, kRegion, "");
  read_only = make(line, kRegion, R"("remote_read")");
  write_only = make(line, kRegion, R"("remote_write")");
  atomic_only = make(line, kRegion, R"("remote_atomic")");
  no_flush = make(line, kRegion, R"("remote_write","remote_read","remote_atomic")");
  local = make(line, queue_pairs * kSlot, "");
  others = make(other, kRegion, all);
  gone = make(gone_line, kRegion, all);
  shadow_.resize(granted.length);
  live::fill_pattern(shadow_, granted.seed);
}

Region PeerMemory::make(ControlLine& line, std::uint64_t length, std::string_view access) {
  const nlohmann::json made =
      line.call(fmt::format(R"({{"op":"create_memory","length":{},"access":[{}]}})", length, access));
  Region region{made.at("memory"), made.at("address"), RKey{made.at("r_key").get<std::uint32_t>()}, length, ++seed_};
  line.call(fmt::format(R"({{"op":"fill_memory","memory":{},"seed":{}}})", region.memory, region.seed));
  return region;
}

PeerMemory::Wrong PeerMemory::check(std::vector<std::string>& sentences) {
  Wrong wrong;
  check_pattern(line_, below, "the memory in front of the granted one", wrong, sentences);
  check_pattern(line_, above, "the memory behind the granted one", wrong, sentences);
  check_pattern(line_, read_only, "the memory without the right to write", wrong, sentences);
  check_pattern(line_, write_only, "the memory without the right to read", wrong, sentences);
  check_pattern(line_, atomic_only, "the memory with the right to atomics only", wrong, sentences);
  check_pattern(line_, no_flush, "the memory without the right to flush", wrong, sentences);
  check_pattern(other_, others, "the memory of another client", wrong, sentences);
  check_slots(wrong, sentences);
  for (std::uint64_t at = 0; at < granted.length; at += kInline) {
    const std::uint64_t length = std::min(kInline, granted.length - at);
    const nlohmann::json answer = line_.call(
        fmt::format(R"({{"op":"read_memory","memory":{},"offset":{},"length":{}}})", granted.memory, at, length));
    const std::vector<std::byte> found = live::from_hex(answer.at("data").get_ref<const std::string&>());
    compared_ += length;
    std::uint64_t differ = 0;
    for (std::uint64_t i = 0; i < length; ++i) {
      if (found[i] == shadow_[at + i]) continue;
      if (++differ == 1 && wrong.granted == 0) {
        sentences.push_back(
            fmt::format("the granted memory differs from what legal frames wrote from byte {} on", at + i));
      }
      shadow_[at + i] = found[i];
    }
    wrong.granted += differ;
  }
  return wrong;
}

void PeerMemory::check_pattern(ControlLine& line, const Region& region, std::string_view name, Wrong& wrong,
                               std::vector<std::string>& sentences) {
  const nlohmann::json answer =
      line.call(fmt::format(R"({{"op":"check_memory","memory":{},"seed":{}}})", region.memory, region.seed));
  compared_ += region.length;
  if (answer.at("equal") == true) return;
  ++wrong.outside;
  sentences.push_back(fmt::format("{} changed at byte {}", name, answer.at("wrong_at").dump()));
  line.call(fmt::format(R"({{"op":"fill_memory","memory":{},"seed":{}}})", region.memory, region.seed));
}

void PeerMemory::check_slots(Wrong& wrong, std::vector<std::string>& sentences) {
  // The pattern is a function of the word of 8 bytes: with seed + words, a part has the pattern from there on.
  const auto part = [&](std::uint64_t begin, std::uint64_t length) {
    return fmt::format(R"({{"offset":{},"length":{},"seed":{}}})", begin, length, local.seed + begin / 8);
  };
  std::string parts;
  for (std::uint32_t i = 0; i < queue_pairs_; ++i) {
    const std::uint64_t slot = i * kSlot;
    constexpr std::uint64_t behind = kBufferOffset + kBuffer;
    parts += part(slot, kBufferOffset) + "," + part(slot + behind, kSlot - behind) + ",";
  }
  parts.pop_back();
  const nlohmann::json answer =
      line_.call(fmt::format(R"({{"op":"check_memory","memory":{},"parts":[{}]}})", local.memory, parts));
  compared_ += queue_pairs_ * (kSlot - kBuffer);
  if (answer.at("equal") == true) return;
  ++wrong.outside;
  sentences.push_back(fmt::format("memory beside the posted buffers changed at byte {}", answer.at("wrong_at").dump()));
  line_.call(fmt::format(R"({{"op":"fill_memory","memory":{},"seed":{}}})", local.memory, local.seed));
}

}  // namespace roce::attack
