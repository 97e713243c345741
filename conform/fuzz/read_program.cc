// SPDX-License-Identifier: BSD-2-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <stdexcept>
#include <utility>

#include "command_line/number_text.h"
#include "conform/fuzz/program_members.h"
#include "conform/fuzz/program_text.h"
#include "conform/fuzz/requester_model.h"
#include "roce/live/control_names.h"

namespace roce::conform::fuzz {

namespace {

// More than any mutation makes of the longest path MTU.
constexpr std::uint32_t kMostPayload = 8192;

/// Reads the members of a map into those of a value.
class MemberReader {
 public:
  MemberReader(const std::vector<Member>& members, std::string_view what) : members_(members), what_(what) {}

  void operator()(std::string_view name, auto& value) {
    known_.push_back(name);
    const auto member = std::ranges::find(members_, name, &Member::name);
    if (member == members_.end() || error_) return;
    if (CaseResult<void> taken = read(member->value, name, value); !taken) error_ = taken.error();
  }
  /// Lets a member be that somebody else reads.
  void allow(std::string_view name) { known_.push_back(name); }

  [[nodiscard]] CaseResult<void> end() const {
    if (error_) return tl::unexpected(*error_);
    for (const Member& member : members_) {
      if (std::ranges::find(known_, member.name) == known_.end()) return unknown_member(member, what_, known_);
    }
    return {};
  }

 private:
  template <std::integral T>
  CaseResult<void> read(const SourceNode& node, std::string_view name, T& value) {
    const CaseResult<std::string> text = read_text(node, name);
    if (!text) return tl::unexpected(text.error());
    const std::optional<T> number = command_line::read_number<T>(*text);
    if (!number) return node.error(fmt::format("{}: expected a whole number, found \"{}\"", name, *text));
    value = *number;
    return {};
  }

  /// Reads one of some words, whose place in the list is the value.
  template <typename T, std::size_t N>
  CaseResult<void> read_word(const SourceNode& node, std::string_view name,
                             const std::array<std::string_view, N>& words, T& value) {
    const CaseResult<std::string> text = read_text(node, name);
    if (!text) return tl::unexpected(text.error());
    const auto* const word = std::ranges::find(words, *text);
    if (word == words.end()) {
      return node.error(fmt::format("{}: expected {}, found \"{}\"", name, fmt::join(words, " or "), *text));
    }
    value = static_cast<T>(word - words.begin());
    return {};
  }

  CaseResult<void> read(const SourceNode& node, std::string_view name, bool& value) {
    constexpr std::array<std::string_view, 2> words{"false", "true"};
    return read_word(node, name, words, value);
  }
  CaseResult<void> read(const SourceNode& node, std::string_view name, Key& value) {
    return read_word(node, name, kKeys, value);
  }

  CaseResult<void> read(const SourceNode& node, std::string_view name, CmKind& value) {
    return read_word(node, name, kCmWords, value);
  }
  CaseResult<void> read(const SourceNode& node, std::string_view name, transport::QpType& value) {
    return read_word(node, name, kTypes, value);
  }
  CaseResult<void> read(const SourceNode& node, std::string_view name, transport::QpState& value) {
    using transport::QpState;
    constexpr std::array states{QpState::init, QpState::rtr, QpState::rts};
    const std::array<std::string_view, states.size()> names{to_string(states[0]), to_string(states[1]),
                                                            to_string(states[2])};
    std::size_t index = 0;
    CaseResult<void> taken = read_word(node, name, names, index);
    if (taken) value = states.at(index);
    return taken;
  }
  CaseResult<void> read(const SourceNode& node, std::string_view name, RoceVersion& value) {
    std::array<std::string_view, kVersionNames.size()> names;
    std::ranges::transform(kVersionNames, names.begin(), [](const auto& one) { return one.second; });
    std::size_t index = 0;
    CaseResult<void> taken = read_word(node, name, names, index);
    if (taken) value = kVersionNames[index].first;
    return taken;
  }

  CaseResult<void> read(const SourceNode& node, std::string_view name, Psn& value) {
    std::uint32_t number = 0;
    if (CaseResult<void> taken = read(node, name, number); !taken) return taken;
    value = Psn{number};
    return {};
  }

  CaseResult<void> read(const SourceNode& node, std::string_view name, Opcode& value) {
    const CaseResult<std::string> text = read_text(node, name);
    if (!text) return tl::unexpected(text.error());
    const std::optional<Opcode> opcode = opcode_from_name(*text);
    if (!opcode) return node.error(fmt::format("{}: \"{}\" is no opcode", name, *text));
    value = *opcode;
    return {};
  }

  CaseResult<void> read(const SourceNode& node, std::string_view name, transport::WorkOpcode& value) {
    const CaseResult<std::string> text = read_text(node, name);
    if (!text) return tl::unexpected(text.error());
    const auto* const post = std::ranges::find(kPosts, *text, [](auto opcode) { return live::name_of(opcode); });
    if (post == kPosts.end()) return node.error(fmt::format("{}: \"{}\" is no request of a program", name, *text));
    value = *post;
    return {};
  }

  CaseResult<void> read(const SourceNode& node, std::string_view name, transport::Access& value) {
    value = transport::Access::none;
    for (const YAML::Node& item : node.node) {
      const CaseResult<std::string> text = read_text(node.with(item), name);
      if (!text) return tl::unexpected(text.error());
      try {
        value = value | live::access_of(*text);
      } catch (const std::runtime_error& unknown) {
        return node.with(item).error(fmt::format("{}: {}", name, unknown.what()));
      }
    }
    return {};
  }

  CaseResult<void> read(const SourceNode& node, std::string_view name, std::vector<FieldChange>& value) {
    const CaseResult<std::vector<SourceNode>> items = read_items(node);
    if (!items) return tl::unexpected(items.error());
    value.clear();
    for (const SourceNode& item : *items) {
      const CaseResult<std::vector<Member>> fields = read_members(item, "a change");
      if (!fields) return tl::unexpected(fields.error());
      for (const Member& field : *fields) {
        CaseResult<std::string> text = read_text(field.value, name);
        if (!text) return tl::unexpected(text.error());
        value.push_back({.field = field.name, .value = std::move(*text)});
      }
    }
    return {};
  }

  const std::vector<Member>& members_;
  std::string_view what_;
  std::vector<std::string_view> known_;
  std::optional<CaseError> error_;
};

std::string find_mistake(const Bind& bind) {
  if (bind.length == 0) return "a window has at least one byte";
  if (bind.variant == 0) return "variant: expected 1 to 255, found 0";
  const bool is_region = bind.region == Key::right || bind.region == Key::other_pd || bind.region == Key::closed;
  return is_region ? std::string{} : "region: expected right, other_pd or closed";
}

/// Returns the reason why a program for a type of QP cannot have an action; empty if it can.
std::string find_mistake(const Action& action, transport::QpType type) {
  const auto too_long = [](std::uint32_t length, std::uint32_t most) {
    return length > most ? fmt::format("{} bytes are too many; at most {} are possible", length, most) : std::string{};
  };
  if (const auto* request = std::get_if<Request>(&action)) return too_long(request->payload, kMostPayload);
  if (const auto* response = std::get_if<Response>(&action)) return too_long(response->payload, kMostPayload);
  if (const auto* receive = std::get_if<Receive>(&action)) return too_long(receive->length, kReceiveBytes);
  if (const auto* bind = std::get_if<Bind>(&action)) return find_mistake(*bind);
  const auto* post = std::get_if<Post>(&action);
  if (post == nullptr) return {};
  if (!may_post(type, post->opcode)) {
    return fmt::format("a {} QP takes no {}", type_name(type), live::name_of(post->opcode));
  }
  return too_long(post->length, kPostBytes);
}

template <typename T>
CaseResult<Action> read_members_of(const SourceNode& node) {
  T one{};
  const CaseResult<std::vector<Member>> members = read_members(node, name_of(one));
  if (!members) return tl::unexpected(members.error());
  MemberReader reader{*members, name_of(one)};
  visit(one, reader);
  if (CaseResult<void> read = reader.end(); !read) return tl::unexpected(read.error());
  return Action{std::move(one)};
}

/// Reads an action that is one of these kinds.
template <typename... Kinds>
CaseResult<Action> read_one_of(const Member& member) {
  std::optional<CaseResult<Action>> action;
  const auto try_kind = [&]<typename Kind>(const Kind& kind) {
    if (member.name == name_of(kind)) action = read_members_of<Kind>(member.value);
  };
  (try_kind(Kinds{}), ...);
  if (!action) return unknown_member(member, "action", {name_of(Kinds{})...});
  return std::move(*action);
}

CaseResult<Action> read_action_for(Half half, const Member& member) {
  if (half == Half::requester) return read_one_of<Post, Response, Wait>(member);
  if (half == Half::manager) return read_one_of<Message, Disconnect>(member);
  return read_one_of<Request, Receive, Deregister, Restart, Bind>(member);
}

CaseResult<Action> read_action(const SourceNode& node, const Program& program) {
  const CaseResult<std::vector<Member>> members = read_members(node, "an action");
  if (!members) return tl::unexpected(members.error());
  if (members->size() != 1) return node.error("expected one action");
  const Member& member = members->front();
  CaseResult<Action> action = read_action_for(program.half, member);
  if (!action) return action;
  if (std::string mistake = find_mistake(*action, program.type); !mistake.empty())
    return member.value.error(std::move(mistake));
  return action;
}

CaseResult<void> read_actions(const SourceNode& node, Program& program) {
  program.actions.reserve(node.node.size());
  for (const YAML::Node& item : node.node) {
    CaseResult<Action> action = read_action(node.with(item), program);
    if (!action) return tl::unexpected(action.error());
    program.actions.push_back(std::move(*action));
  }
  const auto is_post = [](const Action& action) { return std::holds_alternative<Post>(action); };
  if (program.actions.size() > kMostActions || std::ranges::count_if(program.actions, is_post) > kMostPosts) {
    return node.error(fmt::format("at most {} actions are possible, and {} posts", kMostActions, kMostPosts));
  }
  return {};
}

}  // namespace

CaseResult<std::uint64_t> read_count(const SourceNode& node, std::string_view what, std::uint64_t most) {
  const CaseResult<std::string> text = read_text(node, what);
  if (!text) return tl::unexpected(text.error());
  const auto number = command_line::read_number<std::uint64_t>(*text);
  if (!number || *number > most)
    return node.error(fmt::format("{}: expected a whole number, found \"{}\"", what, *text));
  return *number;
}

CaseResult<Program> read_program(const SourceNode& node) {
  const CaseResult<std::vector<Member>> members = read_members(node, "a program");
  if (!members) return tl::unexpected(members.error());
  Program program;
  MemberReader reader{*members, "member of a program"};
  const auto member = [&](std::string_view name) {
    reader.allow(name);
    return std::ranges::find(*members, name, &Member::name);
  };
  if (const auto found = member("for"); found != members->end()) {
    const CaseResult<std::string> text = read_text(found->value, "for");
    if (!text) return tl::unexpected(text.error());
    const auto* const found_half = std::ranges::find(kHalves, *text);
    if (found_half == kHalves.end()) {
      return found->value.error(fmt::format("for: expected {}, found \"{}\"", fmt::join(kHalves, " or "), *text));
    }
    program.half = static_cast<Half>(found_half - kHalves.begin());
  }
  visit_frame(program, reader);
  const auto actions = member("actions");
  reader.allow("program");
  if (CaseResult<void> read = reader.end(); !read) return tl::unexpected(read.error());
  constexpr std::array<std::uint32_t, 5> path_mtus{256, 512, 1024, 2048, 4096};
  if (std::ranges::find(path_mtus, program.path_mtu) == path_mtus.end()) {
    return node.error(fmt::format("path_mtu: expected {}, found {}", fmt::join(path_mtus, ", "), program.path_mtu));
  }
  if (program.retry_count > kEndlessRetries) {
    return node.error(fmt::format("retry_count: expected 0 to {}, found {}", kEndlessRetries, program.retry_count));
  }
  if (program.half != Half::responder && program.state != transport::QpState::rts) {
    return node.error("state: only programs for a responder can have another one than RTS");
  }
  if (program.half == Half::manager && program.type != transport::QpType::rc) {
    return node.error("type: only RC QPs are connected");
  }
  if (actions == members->end()) return node.error("a program has actions");
  if (CaseResult<void> read = read_actions(actions->value, program); !read) return tl::unexpected(read.error());
  return program;
}

}  // namespace roce::conform::fuzz
