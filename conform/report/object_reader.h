// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace roce::conform {

/// Takes members of JSON objects one by one. The first that is missing or has another type is kept as the problem, and
/// all later ones are empty: whoever reads looks at the problem once, at the end. Control characters in texts, which a
/// terminal would obey, become `?`, but for the ends of lines.
class ObjectReader {
 public:
  using Json = nlohmann::ordered_json;

  /// `place` names the object in messages: `results[3]`; empty: the whole. `problem` and `object` have to outlive it.
  ObjectReader(const Json& object, std::string place, std::optional<std::string>& problem);

  [[nodiscard]] std::string text(const char* name) const;
  /// Returns a text, or an empty one if there is no such member.
  [[nodiscard]] std::string optional_text(const char* name) const;
  [[nodiscard]] std::uint64_t number(const char* name) const;
  /// Returns a number that an int holds and that is not negative.
  [[nodiscard]] int small_number(const char* name) const;
  [[nodiscard]] bool flag(const char* name) const;
  /// Returns false if there is no such member.
  [[nodiscard]] bool optional_flag(const char* name) const { return has(name) && flag(name); }
  [[nodiscard]] std::vector<std::string> texts(const char* name) const;
  [[nodiscard]] std::vector<std::string> optional_texts(const char* name) const;
  /// Returns the members of an object whose values are texts.
  [[nodiscard]] std::vector<std::pair<std::string, std::string>> pairs(const char* name) const;
  /// Returns a list, or an empty one.
  [[nodiscard]] const Json& list(const char* name) const;
  /// Returns an object, or an empty one.
  [[nodiscard]] const Json& object(const char* name) const;
  [[nodiscard]] bool has(const char* name) const { return json_.is_object() && json_.contains(name); }

  /// Returns the place of a member, or of an element of one.
  [[nodiscard]] std::string place_of(std::string_view name) const;
  [[nodiscard]] std::string place_of(std::string_view name, std::size_t element) const;
  /// Keeps that a member is wrong.
  void refuse(std::string_view name, std::string_view expected, const Json& found) const;

 private:
  [[nodiscard]] const Json* find(const char* name, std::string_view expected) const;

  const Json& json_;
  std::string place_;
  std::optional<std::string>& problem_;
};

}  // namespace roce::conform
