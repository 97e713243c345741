// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <utility>
#include <vector>

#include "conform/fuzz/program_members.h"
#include "roce/live/control_names.h"
#include "text/text_buffer.h"

namespace roce::conform::fuzz {

namespace {

std::string text_of(std::integral auto value) {
  return std::to_string(value);
}
std::string text_of(bool value) {
  return value ? "true" : "false";
}
std::string text_of(Psn value) {
  return std::to_string(value.value());
}
std::string text_of(Key value) {
  return std::string{kKeys[static_cast<std::size_t>(value)]};
}
std::string text_of(CmKind value) {
  return std::string{kCmWords.at(static_cast<std::size_t>(value))};
}
std::string text_of(transport::QpType value) {
  return std::string{type_name(value)};
}
std::string text_of(transport::QpState value) {
  return std::string{to_string(value)};
}
std::string text_of(RoceVersion value) {
  return std::string{version_name(value)};
}
std::string text_of(transport::WorkOpcode value) {
  return std::string{live::name_of(value)};
}
std::string text_of(transport::Access value) {
  return fmt::format("[{}]", fmt::join(live::names_of(value), ", "));
}
std::string text_of(Opcode value) {
  const OpcodeInfo& info = opcode_info(value);
  return info.defined() ? std::string{info.name} : fmt::format("0x{:02x}", static_cast<unsigned>(value));
}
std::string text_of(const std::vector<FieldChange>& changes) {
  std::string text;
  for (const FieldChange& change : changes) {
    text += fmt::format("{}{}: {}", text.empty() ? "[{" : "}, {", change.field, double_quoted(change.value));
  }
  return text + "}]";
}

/// Collects the members that are not as usual.
template <typename T>
std::string members_text(T value, std::string_view between) {
  std::vector<std::string> usual;
  std::vector<std::string> members;
  const auto take_usual = [&](std::string_view, const auto& member) { usual.push_back(text_of(member)); };
  const auto take = [&](std::string_view name, const auto& member) {
    const std::string text = text_of(member);
    if (text != usual[members.size()]) {
      members.push_back(fmt::format("{}: {}", name, text));
    } else {
      members.emplace_back();
    }
  };
  T plain{};
  if constexpr (std::same_as<T, Program>) {
    visit_frame(plain, take_usual);
    visit_frame(value, take);
  } else {
    visit(plain, take_usual);
    visit(value, take);
  }
  std::erase(members, "");
  return fmt::format("{}", fmt::join(members, between));
}

}  // namespace

std::string_view type_name(transport::QpType type) {
  return kTypes.at(static_cast<std::size_t>(type));
}

std::string_view version_name(RoceVersion version) {
  const auto* const found = std::ranges::find(kVersionNames, version, &std::pair<RoceVersion, std::string_view>::first);
  return found->second;
}

std::string double_quoted(std::string_view text) {
  text::TextBuffer printable;
  text::append_printable(printable, text);
  std::string result = "\"";
  for (const char letter : printable) {
    if (letter == '"' || letter == '\\') result += '\\';
    result += letter;
  }
  return result + '"';
}

std::string program_text(const Program& program, std::string_view indent) {
  const std::string between = fmt::format("\n{}", indent);
  std::string text = fmt::format("for: {}", kHalves.at(static_cast<std::size_t>(program.half)));
  if (const std::string frame = members_text(program, between); !frame.empty()) text += between + frame;
  text += between + "actions:";
  for (const Action& action : program.actions) {
    std::visit(
        [&](const auto& one) { text += fmt::format("{}- {}: {{{}}}", between, name_of(one), members_text(one, ", ")); },
        action);
  }
  return text + '\n';
}

}  // namespace roce::conform::fuzz
