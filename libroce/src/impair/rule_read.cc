// SPDX-License-Identifier: BSD-2-Clause
#include <algorithm>
#include <array>

#include "impair/rule_parts.h"
#include "impair/rule_values.h"

namespace roce::impair {

namespace {

using Text = std::string_view;
using read::Finding;

/// A key of the text form. `action` is the action that it belongs to; empty if it belongs to all.
struct KeyRow {
  Text key;
  Text action;
  Finding (*read)(Rule&, Text);
};

template <typename T>
T& of(Rule& rule) {
  return std::get<T>(rule.action);
}

constexpr std::array kKeys{
    KeyRow{"name", "",
           [](Rule& r, Text t) -> Finding {
             r.name = t;
             return {};
           }},
    KeyRow{"dir", "", read::direction},
    KeyRow{"qp", "", read::dest_qp},
    KeyRow{"op", "", read::opcodes},
    KeyRow{"psn", "", read::psn},
    KeyRow{"abs_psn", "", read::absolute_psn},
    KeyRow{"tx", "", read::transmission},
    KeyRow{"any_frame", "", [](Rule& r, Text t) { return read::boolean(r.match.any_frame, t); }},
    KeyRow{"skip", "", [](Rule& r, Text t) { return read::number(r.skip, t); }},
    KeyRow{"count", "", read::count},
    KeyRow{"nth", "", read::nth},
    KeyRow{"probability", "", read::probability},
    KeyRow{"seed", "", [](Rule& r, Text t) { return read::number(r.seed.emplace(), t); }},
    KeyRow{"copies", "duplicate", [](Rule& r, Text t) { return read::number(of<Duplicate>(r).copies, t); }},
    KeyRow{"by", "reorder", [](Rule& r, Text t) { return read::number(of<Reorder>(r).by, t); }},
    KeyRow{"timeout", "reorder", [](Rule& r, Text t) { return read::duration(of<Reorder>(r).timeout, t); }},
    KeyRow{"by", "delay", [](Rule& r, Text t) { return read::duration(of<Delay>(r).by, t); }},
    KeyRow{"bit", "corrupt", [](Rule& r, Text t) { return read::number(of<Corrupt>(r).bit.emplace(), t); }},
    KeyRow{"bits", "corrupt", [](Rule& r, Text t) { return read::number(of<Corrupt>(r).bits, t); }},
    KeyRow{"field", "edit",
           [](Rule& r, Text t) -> Finding {
             of<Edit>(r).field = t;
             return {};
           }},
    KeyRow{"value", "edit",
           [](Rule& r, Text t) -> Finding {
             of<Edit>(r).value = t;
             return {};
           }},
    // The names of the same settings in the aidcb models of the Open Traffic Generator.
    KeyRow{"skip_count", "PacketDrop", [](Rule& r, Text t) { return read::number(r.skip, t); }},
    KeyRow{"drop_count", "PacketDrop", read::count},
    KeyRow{"match_conditions", "PacketDrop", read::opcodes},
    KeyRow{"skip_count", "PacketReorder", [](Rule& r, Text t) { return read::number(r.skip, t); }},
    KeyRow{"reorder_count", "PacketReorder", read::count},
    KeyRow{"hold_count", "PacketReorder", [](Rule& r, Text t) { return read::number(of<Reorder>(r).by, t); }},
    KeyRow{"timeout", "PacketReorder", [](Rule& r, Text t) { return read::duration(of<Reorder>(r).timeout, t); }},
    KeyRow{"match_conditions", "PacketReorder", read::opcodes},
};

bool is_key_of(const KeyRow& row, Text action) {
  return row.action.empty() || row.action == action;
}

std::string keys_of(Text action) {
  std::string list = "action";
  for (const KeyRow& row : kKeys) {
    if (is_key_of(row, action)) list += ", " + std::string{row.key};
  }
  return list;
}

std::optional<Action> make_action(Text name) {
  if (name == "drop" || name == "PacketDrop") return Drop{};
  if (name == "duplicate") return Duplicate{};
  if (name == "reorder" || name == "PacketReorder") return Reorder{};
  if (name == "delay") return Delay{};
  if (name == "corrupt") return Corrupt{};
  if (name == "mark_ce") return MarkCe{};
  if (name == "edit") return Edit{};
  return std::nullopt;
}

/// Returns the keys that the action must have.
std::span<const Text> needed_keys(Text action) {
  static constexpr std::array<Text, 1> kDelay{"by"};
  static constexpr std::array<Text, 2> kEdit{"field", "value"};
  static constexpr std::array<Text, 1> kDrop{"drop_count"};
  static constexpr std::array<Text, 2> kReorder{"reorder_count", "hold_count"};
  if (action == "delay") return kDelay;
  if (action == "edit") return kEdit;
  if (action == "PacketDrop") return kDrop;
  if (action == "PacketReorder") return kReorder;
  return {};
}

}  // namespace

RuleResult<Rule> read_rule(const RuleValues& values, std::size_t number) {
  const auto find = [&](Text key) {
    return std::ranges::find(values, key, [](const auto& pair) { return Text{pair.first}; });
  };
  const auto action_value = find("action");
  const Text action = action_value == values.end() ? Text{} : Text{action_value->second};
  const std::optional<Action> made = make_action(action);
  if (!made) {
    const auto error =
        read::expected("drop, duplicate, reorder, delay, corrupt, mark_ce, edit, PacketDrop or PacketReorder", action);
    return tl::unexpected(rule_error(number, "action", error.value()));
  }
  Rule rule;
  rule.action = *made;
  for (auto pair = values.begin(); pair != values.end(); ++pair) {
    const Text key = pair->first;
    if (find(key) != pair) return tl::unexpected(rule_error(number, key, "is there twice"));
    if (key == "action") continue;
    if (key == "nth" && (find("skip") != values.end() || find("count") != values.end())) {
      return tl::unexpected(rule_error(number, key, "goes without skip and count: nth=5 is short for skip=4,count=1"));
    }
    const auto row = std::ranges::find_if(kKeys, [&](const KeyRow& r) { return r.key == key && is_key_of(r, action); });
    if (row == kKeys.end()) {
      return tl::unexpected(
          rule_error(number, key, "no key of " + std::string{action} + ", which has " + keys_of(action)));
    }
    if (const Finding read = row->read(rule, pair->second); !read)
      return tl::unexpected(rule_error(number, key, read.error()));
  }
  for (const Text key : needed_keys(action)) {
    if (find(key) == values.end()) return tl::unexpected(rule_error(number, key, std::string{action} + " needs it"));
  }
  if (action == "PacketReorder") {
    const std::uint64_t by = of<Reorder>(rule).by;
    constexpr std::uint64_t most = 511;
    if (rule.skip > most || *rule.count > most || rule.skip + *rule.count + by > most) {
      return tl::unexpected(rule_error(number, "hold_count",
                                       "expected skip_count + reorder_count + hold_count < 512, found " +
                                           std::to_string(rule.skip) + ", " + std::to_string(*rule.count) + " and " +
                                           std::to_string(by)));
    }
  }
  return rule;
}

}  // namespace roce::impair
