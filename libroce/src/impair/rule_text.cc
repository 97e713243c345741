// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>
#include <charconv>

#include "impair/rule_parts.h"
#include "wire/text.h"

namespace roce::impair {

namespace {

using Text = std::string_view;

Text trimmed(Text text) {
  constexpr Text spaces = " \t\r";
  const std::size_t first = text.find_first_not_of(spaces);
  if (first == Text::npos) return {};
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

/// Removes the front of `text` up to and including the first of `ends`, and returns it without that character.
Text take(Text& text, Text ends) {
  const std::size_t end = std::min(text.find_first_of(ends), text.size());
  const Text taken = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return taken;
}

RuleResult<RuleValues> split_rule(Text text, std::size_t number) {
  RuleValues values{{"action", std::string{trimmed(take(text, ":"))}}};
  text = trimmed(text);
  while (!text.empty()) {
    const Text item = trimmed(take(text, ","));
    const std::size_t equals = item.find('=');
    if (equals == Text::npos)
      return tl::unexpected(rule_error(number, item, "expected key=value, found '" + std::string{item} + "'"));
    values.emplace_back(trimmed(item.substr(0, equals)), trimmed(item.substr(equals + 1)));
  }
  return values;
}

RuleResult<Rule> checked(RuleResult<Rule> rule, std::size_t number) {
  if (!rule) return rule;
  if (auto good = check_rule(*rule, number); !good) return tl::unexpected(std::move(good.error()));
  return rule;
}

std::string duration_text(Duration duration) {
  static constexpr std::array<std::pair<std::int64_t, Text>, 4> kUnits{
      {{1'000'000'000, "s"}, {1'000'000, "ms"}, {1'000, "us"}, {1, "ns"}}};
  const auto unit = std::ranges::find_if(kUnits, [&](const auto& row) { return duration.count() % row.first == 0; });
  return std::to_string(duration.count() / unit->first) + std::string{unit->second};
}

template <typename T>
std::string range_text(T first, T last) {
  return std::to_string(first) + (first == last ? "" : ".." + std::to_string(last));
}

/// `action:key=value,key=value`
class Writer {
 public:
  explicit Writer(Text action) : text_(action) {}

  void add(Text key, Text value) {
    text_ += is_first_ ? ':' : ',';
    is_first_ = false;
    text_.append(key).append("=").append(value);
  }
  std::string text() && { return std::move(text_); }

 private:
  std::string text_;
  bool is_first_ = true;
};

void write_match(const Match& match, Writer& writer) {
  if (match.direction) writer.add("dir", to_string(*match.direction));
  if (match.dest_qp) writer.add("qp", text::hex(match.dest_qp->value(), 6));
  if (!match.opcodes.empty()) {
    std::string terms;
    for (const OpcodeTerm& term : match.opcodes) terms += (terms.empty() ? "" : "/") + to_text(term);
    writer.add("op", terms);
  }
  if (match.psn) writer.add("psn", range_text(match.psn->first, match.psn->last));
  if (match.absolute_psn) {
    writer.add("abs_psn", range_text(match.absolute_psn->first.value(), match.absolute_psn->second.value()));
  }
  if (match.transmission) writer.add("tx", range_text(match.transmission->first, match.transmission->last));
  if (match.any_frame) writer.add("any_frame", "true");
}

void write_action(const Action& action, Writer& writer) {
  if (const auto* duplicate = std::get_if<Duplicate>(&action); duplicate != nullptr && duplicate->copies != 1) {
    writer.add("copies", std::to_string(duplicate->copies));
  }
  if (const auto* reorder = std::get_if<Reorder>(&action)) {
    writer.add("by", std::to_string(reorder->by));
    if (reorder->timeout != Reorder{}.timeout) writer.add("timeout", duration_text(reorder->timeout));
  }
  if (const auto* delay = std::get_if<Delay>(&action)) writer.add("by", duration_text(delay->by));
  if (const auto* corrupt = std::get_if<Corrupt>(&action)) {
    if (corrupt->bit) writer.add("bit", std::to_string(*corrupt->bit));
    if (corrupt->bits != 1) writer.add("bits", std::to_string(corrupt->bits));
  }
  if (const auto* edit = std::get_if<Edit>(&action)) {
    writer.add("field", edit->field);
    writer.add("value", edit->value);
  }
}

}  // namespace

std::string_view to_string(Position position) {
  switch (position) {
    case Position::first:
      return "first";
    case Position::middle:
      return "middle";
    case Position::last:
      return "last";
    case Position::only:
      return "only";
  }
  return {};
}

std::string to_text(const OpcodeTerm& term) {
  if (term.opcode) {
    const OpcodeInfo& info = opcode_info(*term.opcode);
    return info.defined() ? std::string{info.name} : text::hex(static_cast<std::uint64_t>(*term.opcode), 2);
  }
  if (!term.position) return std::string{to_string(term.packet_class)};
  const std::string position{to_string(*term.position)};
  return term.packet_class == PacketClass::any ? position : std::string{to_string(term.packet_class)} + "_" + position;
}

std::string to_text(const Rule& rule) {
  Writer writer{action_name(rule.action.index())};
  if (!rule.name.empty()) writer.add("name", rule.name);
  write_match(rule.match, writer);
  if (rule.skip != 0) writer.add("skip", std::to_string(rule.skip));
  if (rule.count) writer.add("count", std::to_string(*rule.count));
  if (rule.probability != 1) {
    std::array<char, 32> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), rule.probability).ptr;
    writer.add("probability", Text{digits.data(), static_cast<std::size_t>(end - digits.data())});
  }
  if (rule.seed) writer.add("seed", std::to_string(*rule.seed));
  write_action(rule.action, writer);
  return std::move(writer).text();
}

std::string RuleSet::to_text() const {
  std::string text;
  for (const Rule& rule : rules_) text += impair::to_text(rule) + "\n";
  return text;
}

RuleResult<RuleSet> RuleSet::from_text(std::string_view text) {
  RuleSet set;
  while (!text.empty()) {
    Text line = take(text, "\n");
    line = line.substr(0, line.find('#'));
    while (!line.empty()) {
      const Text one = trimmed(take(line, ";"));
      if (one.empty()) continue;
      const std::size_t number = set.rules_.size() + 1;
      const auto values = split_rule(one, number);
      if (!values) return tl::unexpected(values.error());
      auto rule = checked(read_rule(*values, number), number);
      if (!rule) return tl::unexpected(std::move(rule.error()));
      set.rules_.push_back(std::move(*rule));
    }
  }
  return set;
}

RuleResult<RuleSet> RuleSet::from_values(std::span<const RuleValues> rules) {
  RuleSet set;
  for (const RuleValues& values : rules) {
    const std::size_t number = set.rules_.size() + 1;
    auto rule = checked(read_rule(values, number), number);
    if (!rule) return tl::unexpected(std::move(rule.error()));
    set.rules_.push_back(std::move(*rule));
  }
  return set;
}

}  // namespace roce::impair
