// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/read_steps.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "conform/language/read_device_steps.h"
#include "conform/language/read_frames.h"

namespace roce::conform {

namespace {

ActionResult read_inject(const SourceNode& node) {
  const CaseResult<std::vector<SourceNode>> items = read_items(node);
  if (!items) return because(items);
  Inject inject;
  for (const SourceNode& item : *items) {
    CaseResult<FrameSpec> frame = read_frame(item);
    if (!frame) return because(frame);
    inject.frames.push_back(std::move(*frame));
  }
  return inject;
}

ActionResult read_expect(const SourceNode& node) {
  CaseResult<FramePattern> pattern = read_pattern(node);
  if (!pattern) return because(pattern);
  return ExpectFrame{std::move(*pattern)};
}

ActionResult read_expect_in_any_order(const SourceNode& node) {
  CaseResult<std::vector<FramePattern>> patterns = read_patterns(node);
  if (!patterns) return because(patterns);
  return ExpectInAnyOrder{std::move(*patterns)};
}

ActionResult read_expect_one_of(const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "branches, each a name and its steps");
  if (!members) return because(members);
  ExpectOneOf choice;
  for (const Member& member : *members) {
    CaseResult<std::vector<Step>> steps = read_steps(member.value);
    if (!steps) return because(steps);
    const Action& first = steps->front().action;
    const bool is_quiet = std::holds_alternative<Quiet>(first);
    if (!is_quiet && !std::holds_alternative<ExpectFrame>(first) && !std::holds_alternative<AwaitCompletion>(first)) {
      return member.value.error(fmt::format("branch {} has to begin with expect, completion or quiet", member.name));
    }
    const auto other = std::ranges::find_if(
        choice.branches, [](const auto& each) { return !std::holds_alternative<Quiet>(each.steps.front().action); });
    if (!is_quiet && other != choice.branches.end() && other->steps.front().action.index() != first.index()) {
      return member.value.error(
          fmt::format("branch {} begins with {}, and branch {} with {}: expected frames in all, or completions",
                      member.name, steps->front().verb, other->name, other->steps.front().verb));
    }
    choice.branches.push_back({member.key.place(), member.name, std::move(*steps)});
  }
  if (choice.branches.empty()) return node.error("expected branches");
  return choice;
}

ActionResult read_quiet(const SourceNode& node) {
  Quiet quiet;
  if (node.node.IsScalar()) {
    if (node.node.Scalar() == "default") return quiet;
    CaseResult<Expression> time = read_expression(node, "quiet");
    if (!time) return because(time);
    quiet.time = std::move(*time);
    return quiet;
  }
  const CaseResult<std::vector<Member>> members = read_members(node, "a time, default, or {time, except}");
  if (!members) return because(members);
  for (const Member& member : *members) {
    if (member.name == "time") {
      CaseResult<Expression> time = read_expression(member.value, "time");
      if (!time) return because(time);
      quiet.time = std::move(*time);
    } else if (member.name == "except") {
      CaseResult<std::vector<FramePattern>> patterns = read_patterns(member.value);
      if (!patterns) return because(patterns);
      quiet.except = std::move(*patterns);
    } else {
      return unknown_member(member, "member", {"time", "except"});
    }
  }
  return quiet;
}

CaseResult<Assign::Assignment> read_assignment(const Member& member) {
  Assign::Assignment assignment{.place = member.key.place(), .name = member.name};
  if (!member.value.node.IsMap()) {
    CaseResult<Expression> value = read_value(member.value, member.name);
    if (!value) return because(value);
    assignment.values.push_back({member.value.place(), "else", std::move(*value)});
    return assignment;
  }
  CaseResult<std::vector<Setting>> settings = read_settings(member.value, "{by: NAME, value: …, else: …}");
  if (!settings) return because(settings);
  const auto by = std::ranges::find(*settings, "by", &Setting::name);
  if (by == settings->end()) return member.value.error("expected by, which chooses the value");
  assignment.by = by->value;
  settings->erase(by);
  assignment.values = std::move(*settings);
  return assignment;
}

template <bool is_reported>
ActionResult read_set(const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "names and values");
  if (!members) return because(members);
  Assign assign{.is_reported = is_reported};
  for (const Member& member : *members) {
    CaseResult<Assign::Assignment> assignment = read_assignment(member);
    if (!assignment) return because(assignment);
    assign.assignments.push_back(std::move(*assignment));
  }
  return assign;
}

ActionResult read_check(const SourceNode& node) {
  CaseResult<Expression> condition = read_expression(node, "check");
  if (!condition) return because(condition);
  return Check{std::move(*condition)};
}

ActionResult read_wait(const SourceNode& node) {
  CaseResult<Expression> time = read_expression(node, "wait");
  if (!time) return because(time);
  return Wait{std::move(*time)};
}

/// A loop: the member `steps`, and one other.
struct Loop {
  Member head;
  std::vector<Step> steps;
};

CaseResult<Loop> read_loop(const SourceNode& node, std::string_view what) {
  const CaseResult<std::vector<Member>> members = read_members(node, what);
  if (!members) return because(members);
  const auto steps = std::ranges::find(*members, "steps", &Member::name);
  if (members->size() != 2 || steps == members->end()) return node.error(fmt::format("expected {}", what));
  CaseResult<std::vector<Step>> inside = read_steps(steps->value);
  if (!inside) return because(inside);
  const Member& head = steps == members->begin() ? members->back() : members->front();
  return Loop{head, std::move(*inside)};
}

ActionResult read_repeat(const SourceNode& node) {
  CaseResult<Loop> loop = read_loop(node, "{times: NUMBER, steps: […]}");
  if (!loop) return because(loop);
  if (loop->head.name != "times") return unknown_member(loop->head, "member", {"times", "steps"});
  CaseResult<Expression> times = read_expression(loop->head.value, "times");
  if (!times) return because(times);
  return Repeat{std::move(*times), std::move(loop->steps)};
}

ActionResult read_for_each(const SourceNode& node) {
  CaseResult<Loop> loop = read_loop(node, "{NAME: [values], steps: […]}");
  if (!loop) return because(loop);
  CaseResult<std::vector<Choice>> values = read_choices(loop->head.value, loop->head.name);
  if (!values) return because(values);
  return ForEach{loop->head.name, std::move(*values), std::move(loop->steps)};
}

template <Verb::Kind kind>
ActionResult read_verb_of(const SourceNode& node) {
  return read_verb(kind, node);
}

template <Verb::Kind kind>
ActionResult read_end_of(const SourceNode& node) {
  return read_ending(kind, node);
}

struct VerbReader {
  std::string_view name;
  ActionResult (*read)(const SourceNode& node);
};

constexpr std::array kVerbs{VerbReader{"inject", read_inject},
                            VerbReader{"expect", read_expect},
                            VerbReader{"expect_in_any_order", read_expect_in_any_order},
                            VerbReader{"expect_one_of", read_expect_one_of},
                            VerbReader{"quiet", read_quiet},
                            VerbReader{"probe", read_probe},
                            VerbReader{"post_send", read_verb_of<Verb::Kind::post_send>},
                            VerbReader{"post_receive", read_verb_of<Verb::Kind::post_receive>},
                            VerbReader{"modify", read_verb_of<Verb::Kind::modify>},
                            VerbReader{"reconnect", read_verb_of<Verb::Kind::reconnect>},
                            VerbReader{"bind", read_verb_of<Verb::Kind::bind>},
                            VerbReader{"arm", read_verb_of<Verb::Kind::arm>},
                            VerbReader{"deregister", read_end_of<Verb::Kind::deregister>},
                            VerbReader{"destroy", read_end_of<Verb::Kind::destroy>},
                            VerbReader{"create", read_end_of<Verb::Kind::create>},
                            VerbReader{"attach", read_verb_of<Verb::Kind::attach>},
                            VerbReader{"detach", read_verb_of<Verb::Kind::detach>},
                            VerbReader{"accept", read_verb_of<Verb::Kind::accept>},
                            VerbReader{"reject", read_verb_of<Verb::Kind::reject>},
                            VerbReader{"delay", read_verb_of<Verb::Kind::delay>},
                            VerbReader{"connect", read_verb_of<Verb::Kind::connect>},
                            VerbReader{"disconnect", read_verb_of<Verb::Kind::disconnect>},
                            VerbReader{"cm_event", read_cm_event},
                            VerbReader{"completion", read_completion},
                            VerbReader{"no_completion", read_no_completion},
                            VerbReader{"event", read_event},
                            VerbReader{"no_event", read_no_event},
                            VerbReader{"state", read_state},
                            VerbReader{"memory", read_memory},
                            VerbReader{"counter", read_counter},
                            VerbReader{"set", read_set<false>},
                            VerbReader{"record", read_set<true>},
                            VerbReader{"check", read_check},
                            VerbReader{"repeat", read_repeat},
                            VerbReader{"for_each", read_for_each},
                            VerbReader{"wait", read_wait}};

constexpr std::array<std::string_view, 6> kModifiers{"within", "after", "since", "label", "save", "refused"};

CaseResult<void> read_modifier(Step& step, const Member& member) {
  if (member.name == "within" || member.name == "after") {
    CaseResult<Expression> time = read_expression(member.value, member.name);
    if (!time) return because(time);
    (member.name == "within" ? step.within : step.after) = std::move(*time);
  } else if (member.name == "save") {
    CaseResult<std::vector<Setting>> save = read_settings(member.value, "names, and fields of the frame");
    if (!save) return because(save);
    step.save = std::move(*save);
  } else {
    CaseResult<std::string> text = read_text(member.value, member.name);
    if (!text) return because(text);
    if (member.name == "refused") {
      step.is_refused = *text == "true";
    } else {
      (member.name == "since" ? step.since : step.label) = std::move(*text);
    }
  }
  return {};
}

CaseResult<Step> read_step(const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "a step such as inject: {SEND_ONLY: }");
  if (!members) return because(members);
  const VerbReader* verb = nullptr;
  std::optional<Step> step;
  for (const Member& member : *members) {
    if (std::ranges::find(kModifiers, member.name) != kModifiers.end()) continue;
    const auto* const known = std::ranges::find(kVerbs, member.name, &VerbReader::name);
    if (known == kVerbs.end()) {
      std::vector<std::string_view> names;
      names.reserve(kVerbs.size() + kModifiers.size());
      for (const VerbReader& each : kVerbs) names.push_back(each.name);
      names.insert(names.end(), kModifiers.begin(), kModifiers.end());
      return unknown_member(member, "step", names);
    }
    if (verb != nullptr)
      return member.key.error(fmt::format("a step has one verb; found {} and {}", verb->name, member.name));
    verb = known;
    ActionResult action = verb->read(member.value);
    if (!action) return because(action);
    step = Step{.place = member.key.place(), .verb = member.name, .action = std::move(*action)};
  }
  if (!step) return node.error("a step needs a verb, such as inject or expect");
  for (const Member& member : *members) {
    if (std::ranges::find(kModifiers, member.name) == kModifiers.end()) continue;
    if (const auto read = read_modifier(*step, member); !read) return because(read);
  }
  return std::move(*step);
}

}  // namespace

CaseResult<std::vector<Step>> read_steps(const SourceNode& node) {
  const CaseResult<std::vector<SourceNode>> items = read_items(node);
  if (!items) return because(items);
  std::vector<Step> steps;
  for (const SourceNode& item : *items) {
    CaseResult<Step> step = read_step(item);
    if (!step) return because(step);
    steps.push_back(std::move(*step));
  }
  return steps;
}

}  // namespace roce::conform
