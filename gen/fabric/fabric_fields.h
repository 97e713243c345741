// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <type_traits>

#include "roce/wire/time.h"
#include "yaml/fields.h"

namespace roce::gen {

using yaml_input::Fields;
using yaml_input::YamlError;
using yaml_input::YamlResult;

/// The places of values by their names, such as `switches.pfc.xoff`, for errors that are found later.
using Places = std::map<std::string, YAML::Mark>;

/// Returns the place of a name, or of what it belongs to: of `a.b` if there is no `a.b.c`. Null if there is none.
[[nodiscard]] YAML::Mark place_of(const Places& places, std::string name);

// Each reads one value; `what` is its name in errors.

/// Reads bytes: `5000`, `12.5KB`, `1MiB`. KB are 1000 bytes, KiB 1024.
[[nodiscard]] YamlResult<std::uint64_t> read_bytes(const YAML::Node& node, std::string_view what);
/// Reads a time: `10us`, `1.5ms`.
[[nodiscard]] YamlResult<Duration> read_time(const YAML::Node& node, std::string_view what);
/// Reads a rate: `25G`, `100Gbit`.
[[nodiscard]] YamlResult<std::uint64_t> read_rate(const YAML::Node& node, std::string_view what);
/// Reads a number with or without a fraction.
[[nodiscard]] YamlResult<double> read_real(const YAML::Node& node, std::string_view what);
/// Reads a whole number of at most `most`.
[[nodiscard]] YamlResult<std::uint64_t> read_whole(const YAML::Node& node, std::string_view what, std::uint64_t most);
[[nodiscard]] YamlResult<bool> read_truth(const YAML::Node& node, std::string_view what);
/// Reads a host: `3` or `h3`.
[[nodiscard]] YamlResult<std::uint32_t> read_host(const YAML::Node& node, std::string_view what);

/// Thrown by `Reader`, and caught where a file is read: each value may be wrong, and all of them end the same way.
struct Mistake {
  YamlError error;
};

/// Reads the values of one map into variables, and keeps their places.
class Reader {
 public:
  /// `path` is the name of the map, such as `switches.pfc`; empty at the top.
  Reader(const YAML::Node& node, std::string path, Places& places);

  /// Returns the value of a name; empty if it is not there.
  [[nodiscard]] std::optional<YAML::Node> find(std::string_view name);
  [[nodiscard]] YAML::Node need(std::string_view name);
  [[nodiscard]] std::string text(std::string_view name, std::string_view otherwise);
  /// Returns the full name of a member.
  [[nodiscard]] std::string path_of(std::string_view name) const;
  /// Throws a mistake of the whole map or of one member.
  [[noreturn]] void refuse(std::string_view name, const std::string& what);
  /// Throws if a name is there that was not asked for.
  void finish() const { check(fields_.finish()); }

  /// Sets `to` if the name is there; `read` is one of the functions above, followed by its further arguments.
  template <typename T, typename Read, typename... Arguments>
  bool set(std::string_view name, T& to, Read read, Arguments... arguments) {
    const std::optional<YAML::Node> node = find(name);
    if (!node) return false;
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      to = static_cast<T>(check(read(*node, path_of(name), arguments...)));
    } else {
      to = check(read(*node, path_of(name), arguments...));
    }
    return true;
  }

  template <typename T>
  static T check(YamlResult<T> result) {
    if (!result) throw Mistake{result.error()};
    if constexpr (!std::is_void_v<T>) return std::move(*result);
  }

 private:
  std::string path_;
  Places& places_;
  Fields fields_;
};

}  // namespace roce::gen
