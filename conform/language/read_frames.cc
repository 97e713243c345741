// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/read_frames.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <utility>

#include "conform/language/frame_words.h"

namespace roce::conform {

namespace {

constexpr std::string_view kRange = "..";

CaseResult<Choice> read_choice(const SourceNode& node, std::string_view what) {
  const CaseResult<std::string> text = read_text(node, what);
  if (!text) return tl::unexpected(text.error());
  const std::size_t dots = text->find(kRange);
  if (dots == std::string::npos) {
    CaseResult<Expression> value = read_value(node, what);
    if (!value) return tl::unexpected(value.error());
    return Choice{.first = std::move(*value)};
  }
  Evaluated<Expression> first = Expression::read(text->substr(0, dots));
  Evaluated<Expression> last = Expression::read(text->substr(dots + kRange.size()));
  if (!first || !last) return node.error(fmt::format("{}: {}", what, first ? last.error() : first.error()));
  return Choice{.first = std::move(*first), .last = std::move(*last)};
}

/// A short form of a pattern, with the fields that its list holds.
struct ShortForm {
  std::string_view name;
  std::string_view syndromes;  ///< empty: the first item of the list
  std::vector<std::string_view> fields;
};

const std::vector<ShortForm>& short_forms() {
  static const std::vector<ShortForm> forms{
      {"ACK", "0x00..0x1F", {"bth.psn", "aeth.msn"}},
      {"NAK", "", {"aeth.syndrome", "bth.psn", "aeth.msn"}},
      {"RNR", "", {"aeth.syndrome", "bth.psn", "aeth.msn"}},
  };
  return forms;
}

// The code of an RNR NAK is the low half of its syndrome.
SourceNode syndrome_of(const ShortForm& form, const SourceNode& item) {
  if (form.name != "RNR" || !item.node.IsScalar()) return item;
  const std::string text = item.node.Scalar();
  YAML::Node syndrome{text == "any" ? std::string{"0x20..0x3F"} : fmt::format("(0x20 | {})", text)};
  return item.with(syndrome);
}

CaseResult<void> add_short_form(FramePattern& pattern, const ShortForm& form, const SourceNode& list) {
  const auto add = [&](std::string_view name, const SourceNode& value) -> CaseResult<void> {
    CaseResult<FieldPattern> field = read_field_pattern({std::string{name}, list, value});
    if (!field) return tl::unexpected(field.error());
    field->place = list.place();
    pattern.fields.push_back(std::move(*field));
    return {};
  };
  pattern.opcode = Expression::literal("ACKNOWLEDGE");
  if (!form.syndromes.empty()) {
    if (auto added = add("aeth.syndrome", list.with(YAML::Node{std::string{form.syndromes}})); !added) return added;
  }
  if (list.node.IsNull()) return {};
  const CaseResult<std::vector<SourceNode>> items = read_items(list);
  if (!items) return tl::unexpected(items.error());
  if (items->size() > form.fields.size()) {
    return list.error(fmt::format("{} takes at most {} values", form.name, form.fields.size()));
  }
  for (std::size_t i = 0; i < items->size(); ++i) {
    const bool is_syndrome = form.fields[i] == "aeth.syndrome";
    const SourceNode item = is_syndrome ? syndrome_of(form, (*items)[i]) : (*items)[i];
    if (auto added = add(form.fields[i], item); !added) return added;
  }
  return {};
}

CaseResult<ReadResponses> read_responses(const SourceNode& list) {
  const CaseResult<std::vector<SourceNode>> items = read_items(list);
  if (!items) return tl::unexpected(items.error());
  if (items->size() < 2 || items->size() > 3)
    return list.error("READ_RESPONSE takes [PSN, LENGTH] or [PSN, LENGTH, DATA]");
  std::vector<Expression> values;
  for (const SourceNode& item : *items) {
    CaseResult<Expression> value = read_value(item, "READ_RESPONSE");
    if (!value) return tl::unexpected(value.error());
    values.push_back(std::move(*value));
  }
  ReadResponses responses{.psn = values[0], .length = values[1]};
  if (values.size() > 2) responses.data = values[2];
  return responses;
}

std::string pattern_text(const Member& first) {
  if (first.value.node.IsNull() || !first.value.node.IsDefined()) return first.name;
  return fmt::format("{} {}", first.name, YAML::Dump(first.value.node));
}

/// Checks the opcodes of which a frame has one.
CaseResult<void> check_opcodes(const SourceNode& node) {
  const CaseResult<std::vector<SourceNode>> items = read_items(node);
  if (!items) return tl::unexpected(items.error());
  for (const SourceNode& item : *items) {
    const CaseResult<std::string> text = read_text(item, "opcode");
    if (!text) return tl::unexpected(text.error());
    if (const Evaluated<void> known = check_opcode(*text); !known) return item.error(known.error());
  }
  return {};
}

/// Reads the first member of a pattern that is not a field: the opcode, a short form or `opcode`.
CaseResult<bool> read_kind(FramePattern& pattern, const Member& member) {
  const auto form = std::ranges::find(short_forms(), member.name, &ShortForm::name);
  if (form != short_forms().end()) {
    if (auto added = add_short_form(pattern, *form, member.value); !added) return tl::unexpected(added.error());
    return true;
  }
  if (member.name == "READ_RESPONSE") {
    CaseResult<ReadResponses> responses = read_responses(member.value);
    if (!responses) return tl::unexpected(responses.error());
    pattern.read = std::move(*responses);
    return true;
  }
  if (member.name == "opcode") {
    if (auto known = check_opcodes(member.value); !known) return tl::unexpected(known.error());
    CaseResult<Expression> opcode = read_value(member.value, member.name);
    if (!opcode) return tl::unexpected(opcode.error());
    pattern.opcode = std::move(*opcode);
    return true;
  }
  if (!member.value.node.IsNull()) return false;
  if (const Evaluated<void> known = check_opcode(member.name); !known) return member.key.error(known.error());
  Evaluated<Expression> opcode = Expression::read_scalar(member.name);
  if (!opcode) return member.key.error(opcode.error());
  pattern.opcode = std::move(*opcode);
  return true;
}

CaseResult<FrameSpec::Change> read_change_of_field(const SourceNode& node) {
  const CaseResult<std::vector<SourceNode>> items = read_items(node);
  if (!items) return tl::unexpected(items.error());
  if (items->size() != 2) return node.error("change: expected [FIELD, VALUE]");
  CaseResult<Expression> field = read_value(items->front(), "change");
  if (!field) return tl::unexpected(field.error());
  CaseResult<Expression> value = read_value(items->back(), "change");
  if (!value) return tl::unexpected(value.error());
  return FrameSpec::Change{std::move(*field), std::move(*value)};
}

/// True for a message of the communication manager, which goes to QP1.
bool is_cm_message(std::string_view name) {
  return name.starts_with("CM_");
}

}  // namespace

CaseResult<std::vector<Setting>> read_settings(const SourceNode& node, std::string_view what) {
  const CaseResult<std::vector<Member>> members = read_members(node, what);
  if (!members) return tl::unexpected(members.error());
  std::vector<Setting> settings;
  for (const Member& member : *members) {
    CaseResult<Expression> value = read_value(member.value, member.name);
    if (!value) return tl::unexpected(value.error());
    settings.push_back({member.value.place(), member.name, std::move(*value)});
  }
  return settings;
}

CaseResult<FrameSpec> read_frame(const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "a frame such as {SEND_ONLY: , bth.psn: $E}");
  if (!members) return tl::unexpected(members.error());
  if (members->empty()) return node.error("expected an opcode, such as SEND_ONLY");
  const Member& first = members->front();
  if (std::ranges::find(short_forms(), first.name, &ShortForm::name) != short_forms().end()) {
    return first.key.error(fmt::format(
        "{} is a pattern of what D sends; T sends {{ACKNOWLEDGE: , bth.psn: $S - 1, aeth.syndrome: 0x1F, aeth.msn: 1}}",
        first.name));
  }
  if (!first.value.node.IsNull()) return first.value.error("expected nothing behind the opcode of a frame");
  if (const Evaluated<void> known = check_opcode(first.name); !known) return first.key.error(known.error());
  Evaluated<Expression> opcode = Expression::read_scalar(first.name);
  if (!opcode) return first.key.error(opcode.error());
  FrameSpec frame{.place = node.place(), .opcode = std::move(*opcode)};
  if (is_cm_message(first.name)) frame.on = kGsiQp;
  for (const Member& member : std::span{*members}.subspan(1)) {
    if (member.name == "on") {
      const CaseResult<std::string> on = read_text(member.value, "on");
      if (!on) return tl::unexpected(on.error());
      frame.on = *on;
      continue;
    }
    if (member.name == "change") {
      CaseResult<FrameSpec::Change> change = read_change_of_field(member.value);
      if (!change) return tl::unexpected(change.error());
      frame.change = std::move(*change);
      continue;
    }
    if (member.name == "after_icrc") {
      CaseResult<std::vector<Setting>> settings = read_settings(member.value, "fields that change after the ICRC");
      if (!settings) return tl::unexpected(settings.error());
      frame.after_icrc = std::move(*settings);
      continue;
    }
    CaseResult<Expression> value = read_value(member.value, member.name);
    if (!value) return tl::unexpected(value.error());
    if (member.name == "flip") {
      frame.flip = std::move(*value);
    } else if (member.name == "cut") {
      frame.cut = std::move(*value);
    } else if (member.name == "times") {
      frame.times = std::move(*value);
    } else {
      frame.fields.push_back({member.value.place(), member.name, std::move(*value)});
    }
  }
  return frame;
}

CaseResult<std::vector<Choice>> read_choices(const SourceNode& node, std::string_view what) {
  const CaseResult<std::vector<SourceNode>> items = read_items(node);
  if (!items) return tl::unexpected(items.error());
  std::vector<Choice> choices;
  for (const SourceNode& item : *items) {
    CaseResult<Choice> choice = read_choice(item, what);
    if (!choice) return tl::unexpected(choice.error());
    choices.push_back(std::move(*choice));
  }
  return choices;
}

CaseResult<FieldPattern> read_field_pattern(const Member& member) {
  FieldPattern field{.place = member.value.place(), .name = member.name};
  constexpr std::string_view negation = "not ";
  SourceNode value = member.value;
  if (value.node.IsScalar()) {
    const std::string& text = value.node.Scalar();
    if (text == "any") return field;
    if (text.starts_with(negation)) {
      field.is_negated = true;
      value = value.with(YAML::Node{text.substr(negation.size())});
    }
  }
  CaseResult<std::vector<Choice>> choices = read_choices(value, member.name);
  if (!choices) return member.value.error(choices.error().message);
  field.choices = std::move(*choices);
  return field;
}

CaseResult<FramePattern> read_pattern(const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "a frame such as {ACK: [$E, $M]}");
  if (!members) return tl::unexpected(members.error());
  if (members->empty()) return node.error("expected an opcode, such as ACKNOWLEDGE");
  FramePattern pattern{.place = node.place(), .text = pattern_text(members->front())};
  if (is_cm_message(members->front().name)) pattern.on = kGsiQp;
  bool has_kind = false;
  for (const Member& member : *members) {
    if (member.name == "on") {
      const CaseResult<std::string> on = read_text(member.value, "on");
      if (!on) return tl::unexpected(on.error());
      pattern.on = *on;
      continue;
    }
    if (!has_kind) {
      const CaseResult<bool> is_kind = read_kind(pattern, member);
      if (!is_kind) return tl::unexpected(is_kind.error());
      has_kind = *is_kind;
      if (has_kind) continue;
    }
    if (const Evaluated<void> known = check_field(member.name); !known) return member.key.error(known.error());
    CaseResult<FieldPattern> field = read_field_pattern(member);
    if (!field) return tl::unexpected(field.error());
    pattern.fields.push_back(std::move(*field));
  }
  return pattern;
}

CaseResult<std::vector<FramePattern>> read_patterns(const SourceNode& node) {
  const CaseResult<std::vector<SourceNode>> items = read_items(node);
  if (!items) return tl::unexpected(items.error());
  std::vector<FramePattern> patterns;
  for (const SourceNode& item : *items) {
    CaseResult<FramePattern> pattern = read_pattern(item);
    if (!pattern) return tl::unexpected(pattern.error());
    patterns.push_back(std::move(*pattern));
  }
  return patterns;
}

}  // namespace roce::conform
