// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/pingpong_message.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace roce::live {

namespace {

/// Removes the hexadecimal number up to the next colon from `text` and returns it.
[[nodiscard]] std::optional<std::uint32_t> take_number(std::string_view& text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos || colon == 0) return std::nullopt;
  std::uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + colon, value, 16);
  if (error != std::errc{} || end != text.data() + colon) return std::nullopt;
  text.remove_prefix(colon + 1);
  return value;
}

}  // namespace

std::array<char, PingpongMessage::kSize> to_text(const PingpongMessage& message) {
  std::string text = fmt::format("0000:{:06x}:{:06x}:", message.qpn.value(), message.psn.value());
  for (const std::uint8_t octet : message.gid.octets) text += fmt::format("{:02x}", octet);
  std::array<char, PingpongMessage::kSize> result{};
  std::copy(text.begin(), text.end(), result.begin());
  return result;
}

std::optional<PingpongMessage> parse_pingpong(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  const auto lid = take_number(text);
  const auto qpn = take_number(text);
  const auto psn = take_number(text);
  PingpongMessage message;
  if (!lid || !qpn || !psn || *qpn > Qpn::kMax || *psn > Psn::kMax || text.size() != 2 * message.gid.octets.size()) {
    return std::nullopt;
  }
  for (std::uint8_t& octet : message.gid.octets) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + 2, octet, 16);
    if (error != std::errc{} || end != text.data() + 2) return std::nullopt;
    text.remove_prefix(2);
  }
  message.qpn = Qpn{*qpn};
  message.psn = Psn{*psn};
  return message;
}

}  // namespace roce::live
