// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string>
#include <tl/expected.hpp>

// Everything that a program reads as YAML comes through here: the one place that loads it, and keeps bounds.
namespace roce::yaml_input {

/// How much a text may hold. What is beyond is refused while it is read, before anything is made of it.
struct Bounds {
  /// yaml-cpp takes up to 240 times as much memory to look ahead in lists that are not closed.
  std::size_t bytes = std::size_t{4} << 20U;
  /// Values, lists, maps and names of them. An alias counts as all that it stands for, as whoever walks the document
  /// meets it as often.
  std::size_t nodes = 500'000;
  /// Lists and maps inside one another.
  std::size_t depth = 16;
};

/// What is wrong with a text.
struct YamlError {
  std::string what;                           ///< without the place
  YAML::Mark mark = YAML::Mark::null_mark();  ///< where; null if the text as a whole is meant
};

/// The first document of `text`; an empty one is null. An alias is the node that it stands for. Errors: it is no YAML,
/// is beyond `bounds`, or has an alias inside of what that stands for.
[[nodiscard]] tl::expected<YAML::Node, YamlError> load(const std::string& text, const Bounds& bounds = {});

/// The content of the file at `path`. Errors: it cannot be read, or is longer than `bounds` allow; of a file without an
/// end no more than that is read.
[[nodiscard]] tl::expected<std::string, YamlError> read_file(const std::string& path, const Bounds& bounds = {});

}  // namespace roce::yaml_input
