// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/read_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <span>
#include <utility>

#include "conform/language/read_frames.h"
#include "conform/language/read_steps.h"

namespace roce::conform {

namespace {

bool any_counters(const std::vector<Step>& steps);

struct ReadsCounters {
  bool operator()(const CheckCounters&) const { return true; }
  bool operator()(const Repeat& action) const { return any_counters(action.steps); }
  bool operator()(const ForEach& action) const { return any_counters(action.steps); }
  bool operator()(const ExpectOneOf& action) const {
    return std::ranges::any_of(action.branches, [](const auto& branch) { return any_counters(branch.steps); });
  }
  template <typename Other>
  bool operator()(const Other&) const {
    return false;
  }
};

bool any_counters(const std::vector<Step>& steps) {
  return std::ranges::any_of(steps, [](const Step& step) { return std::visit(ReadsCounters{}, step.action); });
}

const std::vector<std::string_view>& features() {
  static const std::vector<std::string_view> names{"agent", "atomic_write", "atomics",   "cm", "cnp",   "cq_events",
                                                   "flush", "ipv4",         "multicast", "mw", "pause", "pfc",
                                                   "rc",    "srq",          "type2_mw",  "uc", "ud"};
  return names;
}

CaseResult<std::vector<std::string>> read_words(const SourceNode& node, std::string_view what) {
  const CaseResult<std::vector<SourceNode>> items = read_items(node);
  if (!items) return because(items);
  std::vector<std::string> words;
  for (const SourceNode& item : *items) {
    CaseResult<std::string> word = read_text(item, what);
    if (!word) return because(word);
    words.push_back(std::move(*word));
  }
  return words;
}

CaseResult<Value> read_constant(const SourceNode& node, std::string_view what) {
  if (!node.node.IsSequence()) {
    const CaseResult<std::string> text = read_text(node, what);
    if (!text) return because(text);
    return Value::of_scalar(*text);
  }
  Value::List list;
  for (const YAML::Node& item : node.node) {
    CaseResult<Value> value = read_constant(node.with(item), what);
    if (!value) return value;
    list.push_back(std::move(*value));
  }
  return Value{.content = std::move(list)};
}

CaseResult<ParameterValue> read_parameter_map(const SourceNode& node, std::string_view name) {
  const CaseResult<std::vector<Member>> members = read_members(node, "the members of a value");
  if (!members) return because(members);
  ParameterValue parameter;
  for (const Member& member : *members) {
    CaseResult<Value> value = read_constant(member.value, name);
    if (!value) return because(value);
    // The first member names the value.
    if (parameter.text.empty()) parameter.text = to_string(*value);
    parameter.members.emplace_back(member.name, std::move(*value));
  }
  return parameter;
}

/// Adds the numbers of a range such as `0..31` or `0..255 step 5`.
CaseResult<bool> add_range(Parameter& parameter, const SourceNode& node) {
  constexpr std::string_view dots = "..";
  constexpr std::string_view step_word = " step ";
  constexpr std::uint64_t most = 65'536;
  if (!node.node.IsScalar()) return false;
  const std::string& text = node.node.Scalar();
  const std::size_t middle = text.find(dots);
  if (middle == std::string::npos) return false;
  const std::size_t step_at = text.find(step_word);
  const Value first = Value::of_scalar(text.substr(0, middle));
  const Value last =
      Value::of_scalar(text.substr(middle + 2, step_at == std::string::npos ? step_at : step_at - middle - 2));
  const Value step =
      step_at == std::string::npos ? Value::number(1) : Value::of_scalar(text.substr(step_at + step_word.size()));
  if (first.as_number() == nullptr || last.as_number() == nullptr || step.as_number() == nullptr ||
      *step.as_number() == 0 || *first.as_number() > *last.as_number() ||
      *last.as_number() - *first.as_number() >= most) {
    return node.error(
        fmt::format("{}: expected a range such as 0..31 or 0..60 step 5, found {}", parameter.name, text));
  }
  for (std::uint64_t i = *first.as_number(); i <= *last.as_number(); i += *step.as_number()) {
    parameter.values.push_back({.text = std::to_string(i), .value = Value::number(i)});
  }
  return true;
}

CaseResult<Parameter> read_parameter(const Member& member) {
  Parameter parameter{.name = member.name, .values = {}};
  const CaseResult<std::vector<SourceNode>> items = read_items(member.value);
  if (!items) return because(items);
  for (const SourceNode& item : *items) {
    const CaseResult<bool> is_range = add_range(parameter, item);
    if (!is_range) return because(is_range);
    if (*is_range) continue;
    if (item.node.IsMap()) {
      CaseResult<ParameterValue> value = read_parameter_map(item, member.name);
      if (!value) return because(value);
      parameter.values.push_back(std::move(*value));
      continue;
    }
    CaseResult<Value> value = read_constant(item, member.name);
    if (!value) return because(value);
    std::string text = item.node.IsScalar() ? item.node.Scalar() : to_string(*value);
    parameter.values.push_back({.text = std::move(text), .value = std::move(*value)});
  }
  return parameter;
}

std::span<const std::pair<std::string_view, ObjectSpec::Kind>> kinds() {
  using enum ObjectSpec::Kind;
  static constexpr std::array<std::pair<std::string_view, ObjectSpec::Kind>, 5> known{
      {{"qp", qp}, {"mr", mr}, {"mw", mw}, {"srq", srq}, {"listener", listener}}};
  return known;
}

CaseResult<ObjectSpec> read_object(const Member& member) {
  ObjectSpec object{.place = member.key.place(), .name = member.name};
  SourceNode attributes = member.value;
  if (member.name != kDefaultQp) {
    const CaseResult<std::vector<Member>> kind = read_members(member.value, "{KIND: {attributes}}");
    if (!kind) return because(kind);
    if (kind->size() != 1) return member.value.error("expected one kind of object: qp, mr, mw, srq or listener");
    const auto known =
        std::ranges::find(kinds(), kind->front().name, &std::pair<std::string_view, ObjectSpec::Kind>::first);
    if (known == kinds().end()) return unknown_member(kind->front(), "object", {"qp", "mr", "mw", "srq", "listener"});
    object.kind = known->second;
    attributes = kind->front().value;
  }
  if (attributes.node.IsNull()) return object;
  CaseResult<std::vector<Setting>> settings = read_settings(attributes, "attributes of an object");
  if (!settings) return because(settings);
  object.attributes = std::move(*settings);
  return object;
}

CaseResult<Level> read_level(const SourceNode& node) {
  const CaseResult<std::string> text = read_text(node, "level");
  if (!text) return because(text);
  if (*text == "must") return Level::must;
  if (*text == "should") return Level::should;
  if (*text == "info") return Level::info;
  return node.error(fmt::format("level: expected must, should or info, found {}", *text));
}

CaseResult<void> read_needs(Case& result, const SourceNode& node) {
  CaseResult<std::vector<std::string>> needs = read_words(node, "needs");
  if (!needs) return because(needs);
  for (const std::string& need : *needs) {
    if (std::ranges::find(features(), need) == features().end()) {
      return node.error(fmt::format("needs: \"{}\" is unknown; there are: {}", need, fmt::join(features(), ", ")));
    }
  }
  result.needs = std::move(*needs);
  return {};
}

CaseResult<void> read_parameters(Case& result, const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "parameters and their values");
  if (!members) return because(members);
  for (const Member& member : *members) {
    CaseResult<Parameter> parameter = read_parameter(member);
    if (!parameter) return because(parameter);
    result.parameters.push_back(std::move(*parameter));
  }
  return {};
}

CaseResult<void> read_setup(Case& result, const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "objects");
  if (!members) return because(members);
  for (const Member& member : *members) {
    CaseResult<ObjectSpec> object = read_object(member);
    if (!object) return because(object);
    result.setup.push_back(std::move(*object));
  }
  return {};
}

template <typename T>
CaseResult<void> assign(T& to, CaseResult<T> from) {
  if (!from) return because(from);
  to = std::move(*from);
  return {};
}

CaseResult<void> read_serial(Case& result, const SourceNode& node) {
  CaseResult<std::string> reason = read_text(node, "serial");
  if (!reason) return because(reason);
  if (reason->empty() || *reason == "false") {
    return node.error("serial: expected true or the reason why the case runs alone; without it, it does not");
  }
  result.serial = std::move(*reason);
  return {};
}

CaseResult<void> read_member(Case& result, const Member& member) {
  if (member.name == "case") return assign(result.id, read_text(member.value, "case"));
  if (member.name == "title") return assign(result.title, read_text(member.value, "title"));
  if (member.name == "why") return assign(result.why, read_text(member.value, "why"));
  if (member.name == "rule") return assign(result.rules, read_words(member.value, "rule"));
  if (member.name == "mutants") return assign(result.mutants, read_words(member.value, "mutants"));
  if (member.name == "level") return assign(result.level, read_level(member.value));
  if (member.name == "steps") return assign(result.steps, read_steps(member.value));
  if (member.name == "needs") return read_needs(result, member.value);
  if (member.name == "params") return read_parameters(result, member.value);
  if (member.name == "setup") return read_setup(result, member.value);
  if (member.name == "serial") return read_serial(result, member.value);
  if (member.name == "when") {
    CaseResult<Expression> when = read_expression(member.value, "when");
    if (!when) return because(when);
    result.when = std::move(*when);
    return {};
  }
  return unknown_member(
      member, "member",
      {"case", "title", "rule", "level", "needs", "params", "when", "serial", "setup", "steps", "mutants", "why"});
}

}  // namespace

bool Case::reads_counters() const {
  return any_counters(steps);
}

bool Case::runs_alone() const {
  return !serial.empty() || reads_counters();
}

bool Case::asks_qp1() const {
  return std::ranges::find(needs, "cm") != needs.end();
}

std::string_view to_string(Level level) {
  switch (level) {
    case Level::must:
      return "must";
    case Level::should:
      return "should";
    case Level::info:
      return "info";
  }
  return "";
}

CaseResult<Case> read_case(const std::string& path, const std::string& text) {
  const CaseResult<SourceNode> root = read_source(path, text);
  if (!root) return because(root);
  const SourceNode& node = *root;
  const CaseResult<std::vector<Member>> members = read_members(node, "a case");
  if (!members) return because(members);
  Case result{.place = node.place()};
  for (const Member& member : *members) {
    if (const auto read = read_member(result, member); !read) return because(read);
  }
  for (const std::string_view required : {"case", "title", "rule", "level", "steps"}) {
    if (std::ranges::find(*members, required, &Member::name) == members->end()) {
      return node.error(fmt::format("a case needs {}", required));
    }
  }
  return result;
}

CaseResult<Case> read_case_file(const std::string& path) {
  const CaseResult<std::string> text = read_source_text(path);
  if (!text) return because(text);
  CaseResult<Case> result = read_case(path, *text);
  if (!result) return result;
  const std::string stem = std::filesystem::path{path}.stem().string();
  if (result->id != stem) {
    return tl::unexpected(CaseError{result->place, fmt::format("the case is {}, but the file {}", result->id, stem)});
  }
  return result;
}

CaseResult<std::vector<Case>> read_cases(const std::string& path) {
  namespace fs = std::filesystem;
  const auto fail = [&](std::string message) {
    return tl::unexpected(CaseError{{.file = std::make_shared<const std::string>(path)}, std::move(message)});
  };
  std::error_code error;
  std::vector<std::string> files;
  if (fs::is_directory(path, error)) {
    fs::recursive_directory_iterator entry{path, error};
    for (; !error && entry != fs::recursive_directory_iterator{}; entry.increment(error)) {
      if (entry->path().extension() == ".yaml") files.push_back(entry->path().string());
    }
    if (error) return fail(fmt::format("cannot read the folder: {}", error.message()));
  } else {
    files.push_back(path);
  }
  if (files.empty()) return fail("there is no case in this folder: cases are files NAME.yaml");
  std::ranges::sort(files);
  std::vector<Case> cases;
  for (const std::string& file : files) {
    CaseResult<Case> one = read_case_file(file);
    if (!one) return tl::unexpected(one.error());
    const auto same = std::ranges::find(cases, one->id, &Case::id);
    if (same != cases.end()) {
      return tl::unexpected(CaseError{one->place, fmt::format("{} is in {} too", one->id, *same->place.file)});
    }
    cases.push_back(std::move(*one));
  }
  return cases;
}

}  // namespace roce::conform
