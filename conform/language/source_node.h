// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "conform/language/expression.h"
#include "conform/language/place.h"
#include "yaml/yaml_input.h"

namespace roce::conform {

/// A node of a case file that knows its place.
struct SourceNode {
  std::shared_ptr<const std::string> file;
  YAML::Node node;

  [[nodiscard]] Place place() const;
  [[nodiscard]] tl::unexpected<CaseError> error(std::string message) const {
    return tl::unexpected(CaseError{place(), std::move(message)});
  }
  [[nodiscard]] SourceNode with(const YAML::Node& other) const { return {file, other}; }
};

/// The error of a result that has one, for another result.
template <typename T>
[[nodiscard]] tl::unexpected<CaseError> because(const CaseResult<T>& result) {
  return tl::unexpected(result.error());
}

/// Reads the text of a file, within the bounds of yaml_input. Error: it cannot be read.
[[nodiscard]] CaseResult<std::string> read_source_text(const std::string& path);
/// Returns the root of a YAML text that is in the file `path`. Error: it is no YAML.
[[nodiscard]] CaseResult<SourceNode> read_source(const std::string& path, const std::string& text);

/// A name in a map with its value.
struct Member {
  std::string name;
  SourceNode key;
  SourceNode value;
};

/// Returns the members of a map. Errors: no map, a name that is not a scalar, a name that is there twice. `what` says
/// what the node is: `a step`.
[[nodiscard]] CaseResult<std::vector<Member>> read_members(const SourceNode& node, std::string_view what);

/// The error for a member whose name is not one of those allowed: `step "expct" is unknown; steps are: inject, …`.
[[nodiscard]] tl::unexpected<CaseError> unknown_member(const Member& member, std::string_view kind,
                                                       const std::vector<std::string_view>& allowed);

/// Returns the items of a list; a single value is a list of one.
[[nodiscard]] CaseResult<std::vector<SourceNode>> read_items(const SourceNode& node);

/// Returns the text of a scalar. Error: it is none.
[[nodiscard]] CaseResult<std::string> read_text(const SourceNode& node, std::string_view what);
/// Returns the value of a field: a scalar, in which `$` and `(` make an expression, or a list of such.
[[nodiscard]] CaseResult<Expression> read_value(const SourceNode& node, std::string_view what);
/// Returns a condition, a number or a time.
[[nodiscard]] CaseResult<Expression> read_expression(const SourceNode& node, std::string_view what);

}  // namespace roce::conform
