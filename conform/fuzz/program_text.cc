// SPDX-License-Identifier: BSD-2-Clause
#include "conform/fuzz/program_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <concepts>
#include <optional>
#include <stdexcept>
#include <utility>

#include "command_line/number_text.h"
#include "conform/fuzz/requester_model.h"
#include "roce/live/control_names.h"
#include "text/text_buffer.h"

namespace roce::conform::fuzz {

namespace {

// More than any mutation makes of the longest path MTU.
constexpr std::uint32_t kMostPayload = 8192;

constexpr std::array<std::string_view, 8> kKeys{"right",    "variant", "index", "zero",
                                                "other_pd", "closed",  "gone",  "lent"};
constexpr std::array<std::string_view, 2> kHalves{"responder", "requester"};
constexpr std::array<std::string_view, 3> kTypes{"rc", "uc", "ud"};
constexpr std::array kVersionNames{std::pair{RoceVersion::none, std::string_view{"own"}},
                                   std::pair{RoceVersion::v1, std::string_view{"v1"}},
                                   std::pair{RoceVersion::v2_ipv4, std::string_view{"v2_ipv4"}},
                                   std::pair{RoceVersion::v2_ipv6, std::string_view{"v2_ipv6"}}};
constexpr std::array kPosts{transport::WorkOpcode::send, transport::WorkOpcode::write, transport::WorkOpcode::read,
                            transport::WorkOpcode::fetch_add, transport::WorkOpcode::compare_swap};

// The members of each kind of action, for writing as for reading.

template <typename Visitor>
void visit(Request& one, Visitor& visitor) {
  visitor("opcode", one.opcode);
  visitor("psn", one.psn);
  visitor("ack_request", one.ack_request);
  visitor("payload", one.payload);
  visitor("seed", one.seed);
  visitor("length", one.length);
  visitor("address", one.address);
  visitor("key", one.key);
  visitor("operand", one.operand);
  visitor("compare", one.compare);
  visitor("immediate", one.immediate);
  visitor("qpn_flip", one.qpn_flip);
  visitor("q_key_flip", one.q_key_flip);
  visitor("other_version", one.other_version);
  visitor("wrong_icrc", one.wrong_icrc);
  visitor("changes", one.changes);
}

template <typename Visitor>
void visit(Receive& one, Visitor& visitor) {
  visitor("length", one.length);
}

template <typename Visitor>
void visit(Deregister& /*one*/, Visitor& /*visitor*/) {}

template <typename Visitor>
void visit(Restart& one, Visitor& visitor) {
  visitor("psn", one.psn);
}

template <typename Visitor>
void visit(Wait& /*one*/, Visitor& /*visitor*/) {}

template <typename Visitor>
void visit(Post& one, Visitor& visitor) {
  visitor("opcode", one.opcode);
  visitor("length", one.length);
  visitor("own_q_key", one.own_q_key);
}

template <typename Visitor>
void visit(Response& one, Visitor& visitor) {
  visitor("opcode", one.opcode);
  visitor("psn", one.psn);
  visitor("syndrome", one.syndrome);
  visitor("payload", one.payload);
  visitor("seed", one.seed);
  visitor("value", one.value);
  visitor("qpn_flip", one.qpn_flip);
  visitor("wrong_icrc", one.wrong_icrc);
}

template <typename Visitor>
void visit_frame(Program& one, Visitor& visitor) {
  visitor("type", one.type);
  visitor("version", one.version);
  visitor("state", one.state);
  visitor("path_mtu", one.path_mtu);
  visitor("first_psn", one.first_psn);
  visitor("access", one.access);
  visitor("retry_count", one.retry_count);
}

constexpr std::string_view name_of(const Request& /*one*/) {
  return "request";
}
constexpr std::string_view name_of(const Receive& /*one*/) {
  return "receive";
}
constexpr std::string_view name_of(const Deregister& /*one*/) {
  return "deregister";
}
constexpr std::string_view name_of(const Restart& /*one*/) {
  return "restart";
}
constexpr std::string_view name_of(const Wait& /*one*/) {
  return "wait";
}
constexpr std::string_view name_of(const Post& /*one*/) {
  return "post";
}
constexpr std::string_view name_of(const Response& /*one*/) {
  return "response";
}

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

/// Returns the reason why a program for a type of QP cannot have an action; empty if it can.
std::string find_mistake(const Action& action, transport::QpType type) {
  const auto too_long = [](std::uint32_t length, std::uint32_t most) {
    return length > most ? fmt::format("{} bytes are too many; at most {} are possible", length, most) : std::string{};
  };
  if (const auto* request = std::get_if<Request>(&action)) return too_long(request->payload, kMostPayload);
  if (const auto* response = std::get_if<Response>(&action)) return too_long(response->payload, kMostPayload);
  if (const auto* receive = std::get_if<Receive>(&action)) return too_long(receive->length, kReceiveBytes);
  const auto* post = std::get_if<Post>(&action);
  if (post == nullptr) return {};
  if (!may_post(type, post->opcode)) {
    return fmt::format("a {} QP takes no {}", text_of(type), live::name_of(post->opcode));
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

CaseResult<Action> read_action(const SourceNode& node, const Program& program) {
  const bool is_for_requester = program.is_for_requester;
  const CaseResult<std::vector<Member>> members = read_members(node, "an action");
  if (!members) return tl::unexpected(members.error());
  if (members->size() != 1) return node.error("expected one action");
  const Member& member = members->front();
  CaseResult<Action> action = is_for_requester ? read_one_of<Post, Response, Wait>(member)
                                               : read_one_of<Request, Receive, Deregister, Restart>(member);
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
  std::string text = fmt::format("for: {}", kHalves[program.is_for_requester ? 1 : 0]);
  if (const std::string frame = members_text(program, between); !frame.empty()) text += between + frame;
  text += between + "actions:";
  for (const Action& action : program.actions) {
    std::visit(
        [&](const auto& one) { text += fmt::format("{}- {}: {{{}}}", between, name_of(one), members_text(one, ", ")); },
        action);
  }
  return text + '\n';
}

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
  std::string half{kHalves[0]};
  const auto member = [&](std::string_view name) {
    reader.allow(name);
    return std::ranges::find(*members, name, &Member::name);
  };
  if (const auto found = member("for"); found != members->end()) {
    const CaseResult<std::string> text = read_text(found->value, "for");
    if (!text) return tl::unexpected(text.error());
    if (std::ranges::find(kHalves, *text) == kHalves.end()) {
      return found->value.error(fmt::format("for: expected {}, found \"{}\"", fmt::join(kHalves, " or "), *text));
    }
    half = *text;
  }
  program.is_for_requester = half == kHalves[1];
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
  if (program.is_for_requester && program.state != transport::QpState::rts) {
    return node.error("a requester sends in RTS only");
  }
  if (actions == members->end()) return node.error("a program has actions");
  if (CaseResult<void> read = read_actions(actions->value, program); !read) return tl::unexpected(read.error());
  return program;
}

}  // namespace roce::conform::fuzz
