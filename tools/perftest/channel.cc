// SPDX-License-Identifier: BSD-2-Clause
#include "perftest/channel.h"

#include <fmt/format.h>

namespace roce {

namespace {

constexpr std::size_t kMaxQuoted = 48;

}  // namespace

std::string quote(std::string_view bytes) {
  std::string text = "\"";
  for (const char c : bytes.substr(0, kMaxQuoted)) text += c >= ' ' && c <= '~' ? c : '.';
  text += bytes.size() > kMaxQuoted ? "…\"" : "\"";
  return text;
}

live::Task<std::string> PerftestChannel::receive(std::size_t size, std::string_view what) {
  const Time begun = co_await live::this_time{};
  co_await live::until([&] { return has(size) || is_closed(); }, begun + kPerftestSilence);
  const bool is_complete = has(size);
  std::string message = take(size);
  if (!is_complete) {
    const std::string end = is_closed() ? "the peer closed the connection" : "nothing more came for 10 s";
    const std::string before =
        message.empty() ? "" : fmt::format(" after {} of {} bytes, {}", message.size(), size, quote(message));
    throw live::ScriptFailure(fmt::format("expected {}, but {}{}", what, end, before));
  }
  co_return message;
}

}  // namespace roce
