// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <vector>

#include "impair/actions.h"
#include "impair/rule_parts.h"

namespace roce::impair {

namespace {

using Finding = tl::expected<void, std::pair<std::string_view, std::string>>;

auto finding(std::string_view key, std::string message) {
  return tl::unexpected(std::pair{key, std::move(message)});
}

std::string found(auto value) {
  return ", found " + std::to_string(value);
}

constexpr std::int32_t kPsnLimit = 1 << 23;
constexpr Duration kLongest = std::chrono::hours{1};

bool has_positions(PacketClass packet_class) {
  switch (packet_class) {
    case PacketClass::any:
    case PacketClass::request:
    case PacketClass::response:
    case PacketClass::send:
    case PacketClass::write:
    case PacketClass::read_response:
      return true;
    default:
      return false;
  }
}

Finding check_match(Match& match) {
  for (OpcodeTerm& term : match.opcodes) {
    if (term.opcode) term = {.opcode = term.opcode};
    if (term.position && !has_positions(term.packet_class)) {
      return finding("op", std::string{to_string(term.packet_class)} +
                               " packets have no position in a message; only send, write, read_response, request, "
                               "response and any take one");
    }
  }
  if (match.psn &&
      (match.psn->first > match.psn->last || match.psn->first < -kPsnLimit || match.psn->last >= kPsnLimit)) {
    return finding("psn", "expected a range within -8388608..8388607, its smaller end first, found " +
                              std::to_string(match.psn->first) + ".." + std::to_string(match.psn->last));
  }
  if (match.transmission && (match.transmission->first == 0 || match.transmission->first > match.transmission->last)) {
    return finding("tx", "expected a transmission from 1 on, or a range with its smaller end first, found " +
                             std::to_string(match.transmission->first) + ".." +
                             std::to_string(match.transmission->last));
  }
  if (match.any_frame &&
      (match.dest_qp || !match.opcodes.empty() || match.psn || match.absolute_psn || match.transmission)) {
    return finding("any_frame", "goes together with dir only: qp, op, psn, abs_psn and tx ask for RoCE packets");
  }
  return {};
}

struct ActionCheck {
  Finding operator()(const Drop& /*unused*/) const { return {}; }
  Finding operator()(const MarkCe& /*unused*/) const { return {}; }
  Finding operator()(const Duplicate& duplicate) const {
    if (duplicate.copies >= 1 && duplicate.copies <= 255) return {};
    return finding("copies", "expected 1 … 255" + found(duplicate.copies));
  }
  Finding operator()(const Reorder& reorder) const {
    if (reorder.by < 1 || reorder.by > 511) return finding("by", "expected 1 … 511 packets" + found(reorder.by));
    return check_duration("timeout", reorder.timeout);
  }
  Finding operator()(const Delay& delay) const { return check_duration("by", delay.by); }
  Finding operator()(const Corrupt& corrupt) const {
    if (corrupt.bits < 1 || corrupt.bits > 64) return finding("bits", "expected 1 … 64" + found(corrupt.bits));
    if (corrupt.bit && corrupt.bits != 1) return finding("bits", "goes without bit: that names the one bit to invert");
    if (corrupt.bit && *corrupt.bit / 8 == 4) {
      return finding("bit", "expected a bit that the ICRC covers, which 32 … 39 are not" + found(*corrupt.bit));
    }
    return {};
  }
  Finding operator()(Edit& edit) const {
    const EditTarget target = find_edit_target(edit.field);
    if (target.header == nullptr || target.field == nullptr) {
      return finding("field", "expected a field such as bth.psn, aeth.syndrome or ip.ttl, found '" + edit.field + "'" +
                                  fields_of(target.header));
    }
    std::vector<std::byte> header(target.header->size);
    if (const auto set = set_field_text(*target.field, header, edit.value); !set) {
      return finding("value", edit.field + ": " + set.error());
    }
    edit.value = field_text(*target.field, header);
    return {};
  }

  static Finding check_duration(std::string_view key, Duration duration) {
    if (duration > Duration{} && duration <= kLongest) return {};
    return finding(key, "expected 1ns … 3600s, found " + std::to_string(duration.count()) + "ns");
  }
  static std::string fields_of(const HeaderInfo* header) {
    if (header == nullptr) return "";
    std::string list = "; " + std::string{header->name} + " has";
    for (const FieldInfo& field : header->fields) list += " " + std::string{field.name};
    return header->fields.empty() ? "; " + std::string{header->name} + " has no fields" : list;
  }
};

Finding check_name(std::string_view name) {
  const auto is_allowed = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' || c == '_' ||
           c == '-' || c == '.';
  };
  if (std::ranges::all_of(name, is_allowed) && !name.starts_with(' ') && !name.ends_with(' ')) return {};
  return finding("name",
                 "expected letters, digits and ' _-.', without spaces at its ends, found '" + std::string{name} + "'");
}

}  // namespace

RuleError rule_error(std::size_t number, std::string_view key, const std::string& message) {
  const std::string place = "rule " + std::to_string(number) + ": " + (key.empty() ? "" : std::string{key} + ": ");
  return {number, std::string{key}, place + message};
}

RuleResult<void> check_rule(Rule& rule, std::size_t number) {
  Finding result = check_name(rule.name);
  if (result) result = check_match(rule.match);
  if (result && !(rule.probability >= 0 && rule.probability <= 1)) {
    result = finding("probability", "expected 0 … 1" + found(rule.probability));
  }
  if (result) result = std::visit(ActionCheck{}, rule.action);
  if (!result) return tl::unexpected(rule_error(number, result.error().first, result.error().second));
  return {};
}

RuleResult<RuleSet> RuleSet::from_rules(std::vector<Rule> rules) {
  for (std::size_t i = 0; i < rules.size(); ++i) {
    if (auto checked = check_rule(rules[i], i + 1); !checked) return tl::unexpected(std::move(checked.error()));
  }
  RuleSet set;
  set.rules_ = std::move(rules);
  return set;
}

}  // namespace roce::impair
