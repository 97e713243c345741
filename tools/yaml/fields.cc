// SPDX-License-Identifier: BSD-2-Clause
#include "yaml/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace roce::yaml_input {

YamlResult<Fields> Fields::read(const YAML::Node& node, std::string_view what) {
  if (!node.IsMap()) return tl::unexpected(YamlError{fmt::format("{}: expected names and values", what), node.Mark()});
  Fields fields;
  fields.what_ = what;
  fields.mark_ = node.Mark();
  for (const auto& entry : node) {
    if (!entry.first.IsScalar()) return tl::unexpected(YamlError{"expected a name", entry.first.Mark()});
    const std::string& name = entry.first.Scalar();
    if (std::ranges::find(fields.members_, name, &Member::name) != fields.members_.end()) {
      return tl::unexpected(YamlError{fmt::format("{}: \"{}\" is there twice", what, name), entry.first.Mark()});
    }
    fields.members_.push_back({name, entry.first, entry.second});
  }
  return fields;
}

std::optional<YAML::Node> Fields::take(std::string_view name) {
  known_.emplace_back(name);
  const auto member = std::ranges::find(members_, name, &Member::name);
  if (member == members_.end()) return std::nullopt;
  member->is_taken = true;
  return member->value;
}

YamlResult<YAML::Node> Fields::need(std::string_view name) {
  if (std::optional<YAML::Node> value = take(name)) return *value;
  return tl::unexpected(YamlError{fmt::format("{}: there is no \"{}\"", what_, name), mark_});
}

YamlResult<void> Fields::finish() const {
  const auto member = std::ranges::find(members_, false, &Member::is_taken);
  if (member == members_.end()) return {};
  return tl::unexpected(
      YamlError{fmt::format("{}: \"{}\" is unknown; there are: {}", what_, member->name, fmt::join(known_, ", ")),
                member->key.Mark()});
}

YamlResult<std::string> read_scalar(const YAML::Node& node, std::string_view what) {
  if (!node.IsScalar()) return tl::unexpected(YamlError{fmt::format("{}: expected one value", what), node.Mark()});
  return node.Scalar();
}

}  // namespace roce::yaml_input
