// SPDX-License-Identifier: BSD-2-Clause
#include "impair/rule_values.h"

#include <algorithm>
#include <array>
#include <charconv>

#include "impair/rule_parts.h"

namespace roce::impair::read {

namespace {

using Text = std::string_view;
/// Reads a number from -max - 1 to max.
std::optional<std::int64_t> signed_number(Text text, std::int64_t max) {
  const bool is_negative = text.starts_with('-');
  const auto size = text::number(is_negative ? text.substr(1) : text);
  if (!size || *size > static_cast<std::uint64_t>(max) + (is_negative ? 1 : 0)) return std::nullopt;
  return is_negative ? -static_cast<std::int64_t>(*size) : static_cast<std::int64_t>(*size);
}

/// Reads `5`, `5..9`, or `5..`, which goes up to `max`.
std::optional<Range<std::int64_t>> read_range(Text text, std::int64_t max) {
  const std::size_t dots = text.find("..");
  const auto first = signed_number(text.substr(0, dots), max);
  if (!first) return std::nullopt;
  if (dots == Text::npos) return Range<std::int64_t>{*first, *first};
  const Text end = text.substr(dots + 2);
  const auto last = end.empty() ? std::optional{max} : signed_number(end, max);
  if (!last) return std::nullopt;
  return Range<std::int64_t>{*first, *last};
}

constexpr std::array kPositions{Position::first, Position::middle, Position::last, Position::only};

std::optional<PacketClass> read_class(Text text) {
  if (text == "nack") return PacketClass::nak;
  for (std::size_t i = 0; i <= static_cast<std::size_t>(PacketClass::other); ++i) {
    if (text == to_string(static_cast<PacketClass>(i))) return static_cast<PacketClass>(i);
  }
  return std::nullopt;
}

std::optional<OpcodeTerm> read_term(Text text) {
  if (const auto packet_class = read_class(text)) return OpcodeTerm{*packet_class, {}, {}};
  for (const Position position : kPositions) {
    const Text name = to_string(position);
    if (text == name) return OpcodeTerm{PacketClass::any, position, {}};
    if (!text.ends_with(name) || text.size() < name.size() + 2 || text[text.size() - name.size() - 1] != '_') continue;
    const auto packet_class = read_class(text.substr(0, text.size() - name.size() - 1));
    if (packet_class) return OpcodeTerm{*packet_class, position, {}};
  }
  for (const ValueName& row : kOpcodeNames) {
    if (text::equal_ignoring_case(row.name, text)) return OpcodeTerm{{}, {}, static_cast<Opcode>(row.value)};
  }
  const auto code = text::number(text);
  if (code && *code <= 0xFF) return OpcodeTerm{{}, {}, static_cast<Opcode>(*code)};
  return std::nullopt;
}

}  // namespace

tl::unexpected<std::string> expected(Text what, Text found) {
  return tl::unexpected<std::string>("expected " + std::string{what} + ", found '" + std::string{found} + "'");
}

Finding boolean(bool& to, Text text) {
  if (text != "true" && text != "false") return expected("true or false", text);
  to = text == "true";
  return {};
}

Finding duration(Duration& to, Text text) {
  const std::optional<Duration> value = text::duration(text);
  if (!value) return expected("a whole number of ns, us, ms or s such as 10us", text);
  to = *value;
  return {};
}

Finding direction(Rule& rule, Text text) {
  if (text == "a_to_b") rule.match.direction = Direction::a_to_b;
  if (text == "b_to_a") rule.match.direction = Direction::b_to_a;
  if (text == "both") rule.match.direction.reset();
  if (text != "a_to_b" && text != "b_to_a" && text != "both") return expected("a_to_b, b_to_a or both", text);
  return {};
}

Finding opcodes(Rule& rule, Text text) {
  rule.match.opcodes.clear();
  for (Text rest = text;;) {
    const std::size_t end = std::min(rest.find('/'), rest.size());
    const auto term = read_term(rest.substr(0, end));
    if (!term) {
      std::string classes;
      for (std::size_t i = 0; i <= static_cast<std::size_t>(PacketClass::other); ++i) {
        classes += std::string{to_string(static_cast<PacketClass>(i))} + ", ";
      }
      return expected(classes +
                          "first, middle, last, only, such a position behind a class (write_middle), an opcode "
                          "(RC_WRITE_MIDDLE, 0x07), or several with / between",
                      rest.substr(0, end));
    }
    rule.match.opcodes.push_back(*term);
    if (end == rest.size()) return {};
    rest.remove_prefix(end + 1);
  }
}

Finding psn(Rule& rule, Text text) {
  const auto range = read_range(text, (1 << 23) - 1);
  if (!range) return expected("a number or range such as 5, 5..9 or 5.. within -8388608..8388607", text);
  rule.match.psn = {static_cast<std::int32_t>(range->first), static_cast<std::int32_t>(range->last)};
  return {};
}

Finding absolute_psn(Rule& rule, Text text) {
  const auto range = read_range(text, Psn::kMax);
  if (!range || range->first < 0 || range->last < 0) {
    return expected("a number or range such as 5, 5..9 or 5.. within 0..16777215", text);
  }
  rule.match.absolute_psn = {Psn{static_cast<std::uint32_t>(range->first)},
                             Psn{static_cast<std::uint32_t>(range->last)}};
  return {};
}

Finding transmission(Rule& rule, Text text) {
  const auto range = read_range(text, std::numeric_limits<std::uint32_t>::max());
  if (!range || range->first < 1 || range->last < 1)
    return expected("a number or range from 1 on, such as 1, 2..3 or 2..", text);
  rule.match.transmission = {static_cast<std::uint32_t>(range->first), static_cast<std::uint32_t>(range->last)};
  return {};
}

Finding probability(Rule& rule, Text text) {
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, rule.probability);
  if (error != std::errc{} || rest != end) return expected("a number 0 … 1 such as 0.01", text);
  return {};
}

Finding nth(Rule& rule, Text text) {
  const auto nth = text::number(text);
  if (!nth || *nth == 0) return expected("a number from 1 on", text);
  rule.skip = *nth - 1;
  rule.count = 1;
  return {};
}

Finding count(Rule& rule, Text text) {
  return number(rule.count.emplace(), text);
}

Finding dest_qp(Rule& rule, Text text) {
  std::uint32_t qp = 0;
  Finding read = number(qp, text, Qpn::kMax);
  rule.match.dest_qp = Qpn{qp};
  return read;
}

}  // namespace roce::impair::read
