// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/read_device_steps.h"

#include <fmt/format.h>

#include <utility>

#include "conform/language/read_frames.h"

namespace roce::conform {

namespace {

/// The members of an argument, without `on`, which names the QP.
struct Arguments {
  std::string on = kDefaultQp;
  std::vector<Member> members;
};

CaseResult<Arguments> read_arguments(const SourceNode& node, std::string_view what) {
  Arguments arguments;
  if (node.node.IsNull()) return arguments;
  CaseResult<std::vector<Member>> members = read_members(node, what);
  if (!members) return because(members);
  for (Member& member : *members) {
    if (member.name != "on") {
      arguments.members.push_back(std::move(member));
      continue;
    }
    CaseResult<std::string> on = read_text(member.value, "on");
    if (!on) return because(on);
    arguments.on = std::move(*on);
  }
  return arguments;
}

/// Returns the only QP that an argument such as `{on: a}` or nothing at all names.
CaseResult<std::string> read_on(const SourceNode& node, std::string_view what) {
  CaseResult<Arguments> arguments = read_arguments(node, what);
  if (!arguments) return because(arguments);
  if (!arguments->members.empty()) return unknown_member(arguments->members.front(), "member", {"on"});
  return std::move(arguments->on);
}

/// Returns true for `receive`, false for `send`.
CaseResult<bool> read_queue(const Member& member) {
  const CaseResult<std::string> queue = read_text(member.value, "of");
  if (!queue) return because(queue);
  if (*queue == "send" || *queue == "receive") return *queue == "receive";
  return member.value.error(fmt::format("of: expected send or receive, found {}", *queue));
}

}  // namespace

ActionResult read_probe(const SourceNode& node) {
  CaseResult<std::string> on = read_on(node, "{on: QP} or nothing");
  if (!on) return because(on);
  return Probe{std::move(*on)};
}

ActionResult read_verb(Verb::Kind kind, const SourceNode& node) {
  const CaseResult<Arguments> arguments = read_arguments(node, "the arguments of a verb");
  if (!arguments) return because(arguments);
  Verb verb{.kind = kind, .on = arguments->on};
  for (const Member& member : arguments->members) {
    CaseResult<Expression> value = read_value(member.value, member.name);
    if (!value) return because(value);
    verb.arguments.push_back({member.value.place(), member.name, std::move(*value)});
  }
  return verb;
}

ActionResult read_ending(Verb::Kind kind, const SourceNode& node) {
  CaseResult<std::string> object = read_text(node, "the name of an object");
  if (!object) return because(object);
  return Verb{.kind = kind, .on = std::move(*object)};
}

ActionResult read_completion(const SourceNode& node) {
  const CaseResult<Arguments> arguments = read_arguments(node, "a completion such as {of: receive, status: success}");
  if (!arguments) return because(arguments);
  AwaitCompletion completion{.on = arguments->on};
  for (const Member& member : arguments->members) {
    if (member.name == "of") {
      const CaseResult<bool> is_receive = read_queue(member);
      if (!is_receive) return because(is_receive);
      completion.is_receive = *is_receive;
      continue;
    }
    CaseResult<FieldPattern> field = read_field_pattern(member);
    if (!field) return because(field);
    completion.fields.push_back(std::move(*field));
  }
  return completion;
}

ActionResult read_no_completion(const SourceNode& node) {
  const CaseResult<Arguments> arguments = read_arguments(node, "{of: send} or nothing");
  if (!arguments) return because(arguments);
  NoCompletion none{.on = arguments->on};
  for (const Member& member : arguments->members) {
    if (member.name != "of") return unknown_member(member, "member", {"on", "of"});
    const CaseResult<bool> is_receive = read_queue(member);
    if (!is_receive) return because(is_receive);
    none.of_send = !*is_receive;
    none.of_receive = *is_receive;
  }
  return none;
}

ActionResult read_event(const SourceNode& node) {
  CaseResult<Expression> type = read_value(node, "event");
  if (!type) return because(type);
  return AwaitEvent{std::move(*type)};
}

ActionResult read_no_event(const SourceNode& /*node*/) {
  return NoEvent{};
}

ActionResult read_cm_event(const SourceNode& node) {
  AwaitCmEvent event;
  if (node.node.IsScalar()) {
    if (node.node.Scalar() == "none") return event;
    CaseResult<FieldPattern> kind = read_field_pattern({"kind", node, node});
    if (!kind) return because(kind);
    event.fields.push_back(std::move(*kind));
    return event;
  }
  const CaseResult<std::vector<Member>> members = read_members(node, "an event such as {kind: rejected, reason: 28}");
  if (!members) return because(members);
  for (const Member& member : *members) {
    CaseResult<FieldPattern> field = read_field_pattern(member);
    if (!field) return because(field);
    event.fields.push_back(std::move(*field));
  }
  return event;
}

ActionResult read_state(const SourceNode& node) {
  if (node.node.IsScalar()) {
    CaseResult<Expression> state = read_value(node, "state");
    if (!state) return because(state);
    return AwaitState{.state = std::move(*state)};
  }
  const CaseResult<std::vector<Member>> members = read_members(node, "a state, or {QP: STATE}");
  if (!members) return because(members);
  if (members->size() != 1) return node.error("expected one QP and its state");
  CaseResult<Expression> state = read_value(members->front().value, "state");
  if (!state) return because(state);
  return AwaitState{.on = members->front().name, .state = std::move(*state)};
}

ActionResult read_memory(const SourceNode& node) {
  CheckMemory memory;
  if (node.node.IsScalar()) {
    if (node.node.Scalar() == "unchanged") return memory;
    return node.error(fmt::format("expected unchanged or {{at, is}}, found {}", node.node.Scalar()));
  }
  const CaseResult<std::vector<Member>> members = read_members(node, "unchanged or {at, is}");
  if (!members) return because(members);
  for (const Member& member : *members) {
    const bool is_known = member.name == "at" || member.name == "is" || member.name == "length";
    if (!is_known) return unknown_member(member, "member", {"at", "is", "length"});
    CaseResult<Expression> value = read_value(member.value, member.name);
    if (!value) return because(value);
    (member.name == "at" ? memory.at : member.name == "is" ? memory.is : memory.length) = std::move(*value);
  }
  if (!memory.at || memory.is.has_value() == memory.length.has_value()) {
    return node.error("expected at, and either is or length");
  }
  return memory;
}

ActionResult read_counter(const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "counters such as {duplicate_requests: 1}");
  if (!members) return because(members);
  CheckCounters counters;
  for (const Member& member : *members) {
    CaseResult<FieldPattern> field = read_field_pattern(member);
    if (!field) return because(field);
    counters.grown_by.push_back(std::move(*field));
  }
  return counters;
}

}  // namespace roce::conform
