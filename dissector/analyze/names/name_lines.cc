// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/names/name_lines.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "analyze/filter/filter.h"
#include "command_line/number_text.h"

namespace roce::analyze {

namespace {

constexpr std::string_view kSpaces = " \t\r";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

/// Takes the first word off a text that does not begin with a space.
std::string_view take_word(std::string_view& text) {
  const std::size_t end = std::min(text.find_first_of(kSpaces), text.size());
  const std::string_view word = text.substr(0, end);
  text = trimmed(text.substr(end));
  return word;
}

std::string_view without_comment(std::string_view line) {
  for (std::size_t at = line.find('#'); at != std::string_view::npos; at = line.find('#', at + 1)) {
    if (at == 0 || kSpaces.find(line[at - 1]) != std::string_view::npos) return line.substr(0, at);
  }
  return line;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(),
                     [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; });
}

/// Adds the name of one line, without its comment. Error: the problem.
tl::expected<void, std::string> add_line(std::string_view line, const std::string& source, std::size_t number,
                                         Names& names) {
  const std::string_view address = take_word(line);
  const auto pattern = AddressPattern::parse(address);
  if (!pattern || pattern->is_mac()) {
    return tl::unexpected(
        fmt::format("expected an IPv4 or IPv6 address such as 192.0.2.1, 192.0.2.0/24 or 2001:db8::1, found {}",
                    command_line::quote(address)));
  }
  std::string named{address};
  std::optional<Qpn> qpn;
  std::string_view rest = line;
  if (take_word(rest) == "qp" && !rest.empty()) {
    const std::string_view text = take_word(rest);
    const auto value = command_line::read_number<std::uint32_t>(text);
    if (!value || *value > Qpn::kMax) {
      return tl::unexpected(
          fmt::format("expected the number of a QP behind 'qp', 0 to 0xffffff, found {}", command_line::quote(text)));
    }
    if (pattern->prefix() != 128) return tl::unexpected(fmt::format("a QP is of one address, not of {}", address));
    qpn = Qpn{*value};
    named += fmt::format(" qp {}", text);
    line = rest;
  }
  if (line.empty()) return tl::unexpected(fmt::format("expected a name behind {}, found the end of the line", named));
  if (has_control(line)) return tl::unexpected(fmt::format("the name of {} holds control characters", named));
  GivenName name{.text = std::string{line}, .source = source, .line = number};
  const GivenName* const other = qpn ? names.give(pattern->address(), *qpn, std::move(name))
                                     : names.give(pattern->address(), pattern->prefix(), std::move(name));
  if (other == nullptr) return {};
  return tl::unexpected(fmt::format("{} is named '{}' here and '{}' in line {}{}; remove one of the lines", named, line,
                                    other->text, other->line, other->source == source ? "" : " of " + other->source));
}

}  // namespace

tl::expected<void, std::string> add_name_lines(std::string_view text, const std::string& source, Names& names) {
  constexpr std::string_view byte_order_mark = "\xEF\xBB\xBF";
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(without_comment(text.substr(0, end)));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) continue;
    if (const auto added = add_line(line, source, number, names); !added) {
      return tl::unexpected(fmt::format("{}: line {}: {}", source, number, added.error()));
    }
  }
  return {};
}

}  // namespace roce::analyze
