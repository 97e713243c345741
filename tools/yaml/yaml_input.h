// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <yaml-cpp/yaml.h>

#include <cstddef>
#include <string>
#include <tl/expected.hpp>

// The one place that loads YAML, for everything that a program reads as YAML, and that keeps bounds.
namespace roce::yaml_input {

/// The limits of a text. A text beyond them is refused while it is read, before anything is made of it.
struct Bounds {
  /// Bytes. To look ahead in lists that are not closed, yaml-cpp takes up to 240 times as much memory.
  std::size_t bytes = std::size_t{4} << 20U;
  /// Values, lists, maps and names of them. An alias counts as everything that it stands for, because code that walks
  /// the document meets it as often.
  std::size_t nodes = 500'000;
  /// Depth of lists and maps inside one another.
  std::size_t depth = 16;
};

/// The error in a text.
struct YamlError {
  std::string what;                           ///< without the place
  YAML::Mark mark = YAML::Mark::null_mark();  ///< the place; null if the text as a whole is meant
};

/// Loads the first document of `text`; an empty one is null. An alias is the node that it stands for. Errors: the text
/// is not YAML, is beyond `bounds`, or has an alias inside the node that it stands for.
[[nodiscard]] tl::expected<YAML::Node, YamlError> load(const std::string& text, const Bounds& bounds = {});

/// Returns the content of the file at `path`. Errors: it cannot be read, or is longer than `bounds` allow; of a file
/// without an end no more than that is read.
[[nodiscard]] tl::expected<std::string, YamlError> read_file(const std::string& path, const Bounds& bounds = {});

}  // namespace roce::yaml_input
