// SPDX-License-Identifier: BSD-2-Clause
#include "roce/transport/loss_recovery_text.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "wire/text.h"

namespace roce::transport {

namespace {

using FlagPart = std::pair<std::string_view, bool LossRecovery::*>;
constexpr std::array kFlags{FlagPart{"timer_from_first", &LossRecovery::timer_from_first},
                            FlagPart{"adaptive_timeout", &LossRecovery::adaptive_timeout},
                            FlagPart{"tail_probe", &LossRecovery::tail_probe},
                            FlagPart{"selective_repeat", &LossRecovery::selective_repeat}};

using TimePart = std::pair<std::string_view, Duration LossRecovery::*>;
constexpr std::array kTimes{TimePart{"nak_again_after", &LossRecovery::nak_again_after},
                            TimePart{"nak_delay", &LossRecovery::nak_delay}};

struct NumberPart {
  std::string_view name;
  std::uint32_t LossRecovery::*member;
  std::uint32_t most;
};
constexpr std::uint32_t kNoLimit = std::numeric_limits<std::uint32_t>::max();
constexpr std::array kNumbers{NumberPart{"held_requests", &LossRecovery::held_requests, LossRecovery::kMostHeld},
                              NumberPart{"nak_delay_packets", &LossRecovery::nak_delay_packets, kNoLimit},
                              NumberPart{"restart_percent", &LossRecovery::restart_percent, LossRecovery::kMostPercent},
                              NumberPart{"held_responses", &LossRecovery::held_responses, LossRecovery::kMostHeld},
                              NumberPart{"window_bytes", &LossRecovery::window_bytes, kNoLimit}};

/// The value of `all`: it serves a connection in most networks.
constexpr LossRecovery kAll{.held_requests = 2048,
                            .nak_again_after = std::chrono::microseconds{50},
                            .timer_from_first = true,
                            .adaptive_timeout = true,
                            .tail_probe = true,
                            .selective_repeat = true,
                            .held_responses = 2048};

[[nodiscard]] tl::unexpected<std::string> wrong(const std::string& expected, std::string_view found) {
  return tl::unexpected("expected " + expected + ", found \"" + std::string{found} + '"');
}

[[nodiscard]] tl::expected<void, std::string> read_part(std::string_view part, LossRecovery& recovery) {
  if (part == "all") {
    recovery = kAll;
    return {};
  }
  const std::size_t sign = std::min(part.find('='), part.size());
  const std::string_view name = part.substr(0, sign);
  const auto has_name = [name](const auto& one) { return one.first == name; };
  if (const auto* const flag = std::ranges::find_if(kFlags, has_name); flag != kFlags.end()) {
    if (sign != part.size()) return wrong(std::string{name} + " without a value", part);
    recovery.*flag->second = true;
    return {};
  }
  const std::string_view value = sign == part.size() ? std::string_view{} : part.substr(sign + 1);
  if (const auto* const time = std::ranges::find_if(kTimes, has_name); time != kTimes.end()) {
    const std::optional<Duration> read = text::duration(value);
    if (!read || *read > LossRecovery::kLongestWait) {
      return wrong(std::string{name} + "=TIME of at most 1s, such as 100us", part);
    }
    recovery.*time->second = *read;
    return {};
  }
  const auto* const number = std::ranges::find(kNumbers, name, &NumberPart::name);
  if (number == kNumbers.end()) {
    return wrong(
        "all, held_requests, nak_again_after, nak_delay_packets, nak_delay, timer_from_first, adaptive_timeout, "
        "tail_probe, selective_repeat, restart_percent, held_responses or window_bytes",
        part);
  }
  const std::optional<std::uint64_t> read = text::number(value);
  if (!read || *read > number->most) {
    return wrong(std::string{name} + "=NUMBER of at most " + std::to_string(number->most), part);
  }
  recovery.*number->member = static_cast<std::uint32_t>(*read);
  return {};
}

}  // namespace

tl::expected<LossRecovery, std::string> parse_loss_recovery(std::string_view text) {
  LossRecovery recovery;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(','), text.size());
    if (tl::expected<void, std::string> read = read_part(text.substr(0, end), recovery); !read)
      return tl::unexpected(read.error());
    if (end + 1 == text.size()) return wrong("a part after the last comma", "");
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return recovery;
}

}  // namespace roce::transport
