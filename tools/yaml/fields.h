// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "yaml/yaml_input.h"

namespace roce::yaml_input {

template <typename T>
using YamlResult = tl::expected<T, YamlError>;

/// A map of names and values, from which values are taken by their names. The names that were asked for are those that
/// there may be: any other one is a mistake.
class Fields {
 public:
  /// Reads a map. `what` says what it is, as in `the map of switches`. Errors: it is none, a name is not a text or
  /// there twice.
  [[nodiscard]] static YamlResult<Fields> read(const YAML::Node& node, std::string_view what);

  /// Returns the value of a name; empty if it is not there.
  [[nodiscard]] std::optional<YAML::Node> take(std::string_view name);
  /// Returns the value of a name. Error: it is not there.
  [[nodiscard]] YamlResult<YAML::Node> need(std::string_view name);
  /// Error: a name is there that was not asked for; the error lists those that were.
  [[nodiscard]] YamlResult<void> finish() const;
  [[nodiscard]] YAML::Mark mark() const { return mark_; }

 private:
  struct Member {
    std::string name;
    YAML::Node key;
    YAML::Node value;
    bool is_taken = false;
  };

  std::string what_;
  YAML::Mark mark_ = YAML::Mark::null_mark();
  std::vector<Member> members_;
  std::vector<std::string> known_;
};

/// Returns the text of a scalar. Error: it is none; `what` says which.
[[nodiscard]] YamlResult<std::string> read_scalar(const YAML::Node& node, std::string_view what);

}  // namespace roce::yaml_input
