// SPDX-License-Identifier: BSD-2-Clause
#include "conform/language/source_node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace roce::conform {

namespace {

CaseError error_of(const std::string& path, const yaml_input::YamlError& error) {
  Place place{.file = std::make_shared<const std::string>(path)};
  if (!error.mark.is_null()) {
    place.line = error.mark.line + 1;
    place.column = error.mark.column + 1;
  }
  return {std::move(place), error.what};
}

}  // namespace

CaseResult<std::string> read_source_text(const std::string& path) {
  tl::expected<std::string, yaml_input::YamlError> text = yaml_input::read_file(path);
  if (!text) return tl::unexpected(error_of(path, text.error()));
  return std::move(*text);
}

CaseResult<SourceNode> read_source(const std::string& path, const std::string& text) {
  const tl::expected<YAML::Node, yaml_input::YamlError> root = yaml_input::load(text);
  if (!root) return tl::unexpected(error_of(path, root.error()));
  return SourceNode{.file = std::make_shared<const std::string>(path), .node = *root};
}

Place SourceNode::place() const {
  const YAML::Mark mark = node.Mark();
  if (mark.is_null()) return {.file = file};
  return {.file = file, .line = mark.line + 1, .column = mark.column + 1};
}

CaseResult<std::vector<Member>> read_members(const SourceNode& node, std::string_view what) {
  if (!node.node.IsMap()) return node.error(fmt::format("expected {}: a map of names and values", what));
  std::vector<Member> members;
  for (const auto& entry : node.node) {
    const SourceNode key = node.with(entry.first);
    if (!entry.first.IsScalar()) return key.error("expected a name");
    const std::string& name = entry.first.Scalar();
    if (std::ranges::find(members, name, &Member::name) != members.end()) {
      return key.error(fmt::format("\"{}\" is there twice", name));
    }
    members.push_back({name, key, node.with(entry.second)});
  }
  return members;
}

tl::unexpected<CaseError> unknown_member(const Member& member, std::string_view kind,
                                         const std::vector<std::string_view>& allowed) {
  return member.key.error(fmt::format("{} \"{}\" is unknown; there {}: {}", kind, member.name,
                                      allowed.size() == 1 ? "is" : "are", fmt::join(allowed, ", ")));
}

CaseResult<std::vector<SourceNode>> read_items(const SourceNode& node) {
  std::vector<SourceNode> items;
  if (!node.node.IsSequence()) return std::vector{node};
  for (const YAML::Node& item : node.node) items.push_back(node.with(item));
  if (items.empty()) return node.error("the list is empty");
  return items;
}

CaseResult<std::string> read_text(const SourceNode& node, std::string_view what) {
  if (!node.node.IsScalar()) return node.error(fmt::format("{}: expected one value", what));
  return node.node.Scalar();
}

CaseResult<Expression> read_value(const SourceNode& node, std::string_view what) {
  if (node.node.IsSequence()) {
    std::vector<Expression> items;
    for (const YAML::Node& item : node.node) {
      CaseResult<Expression> value = read_value(node.with(item), what);
      if (!value) return value;
      items.push_back(std::move(*value));
    }
    return Expression::list(std::move(items));
  }
  const CaseResult<std::string> text = read_text(node, what);
  if (!text) return tl::unexpected(text.error());
  Evaluated<Expression> value = Expression::read_scalar(*text);
  if (!value) return node.error(fmt::format("{}: {}", what, value.error()));
  return std::move(*value);
}

CaseResult<Expression> read_expression(const SourceNode& node, std::string_view what) {
  const CaseResult<std::string> text = read_text(node, what);
  if (!text) return tl::unexpected(text.error());
  Evaluated<Expression> value = Expression::read(*text);
  if (!value) return node.error(fmt::format("{}: {}", what, value.error()));
  return std::move(*value);
}

}  // namespace roce::conform
