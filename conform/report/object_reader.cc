// SPDX-License-Identifier: BSD-2-Clause
#include "conform/report/object_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "roce/json_input/json_input.h"

namespace roce::conform {

namespace {

/// Returns text as it may be printed: control characters but the end of a line, which a terminal would obey, become
/// `?`.
std::string printable(std::string text) {
  std::ranges::replace_if(
      text, [](char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\n') || c == 0x7F; }, '?');
  return text;
}

}  // namespace

ObjectReader::ObjectReader(const Json& object, std::string place, std::optional<std::string>& problem)
    : json_(object), place_(std::move(place)), problem_(problem) {
  if (!object.is_object() && !problem_) {
    problem_ = fmt::format("{}expected an object, found {}", place_.empty() ? "" : place_ + ": ",
                           json_input::shown_value(object));
  }
}

std::string ObjectReader::place_of(std::string_view name) const {
  return place_.empty() ? std::string{name} : fmt::format("{}.{}", place_, name);
}

std::string ObjectReader::place_of(std::string_view name, std::size_t element) const {
  return fmt::format("{}[{}]", place_of(name), element);
}

void ObjectReader::refuse(std::string_view name, std::string_view expected, const Json& found) const {
  if (problem_) return;
  problem_ = fmt::format("{}: expected {}, found {}", place_of(name), expected, json_input::shown_value(found));
}

const ObjectReader::Json* ObjectReader::find(const char* name, std::string_view expected) const {
  if (has(name)) return &json_[name];
  if (!problem_) problem_ = fmt::format("{}: expected {}, found nothing", place_of(name), expected);
  return nullptr;
}

std::string ObjectReader::text(const char* name) const {
  const Json* member = find(name, "a text");
  if (member == nullptr) return {};
  if (member->is_string()) return printable(member->get<std::string>());
  refuse(name, "a text", *member);
  return {};
}

std::string ObjectReader::optional_text(const char* name) const {
  return has(name) ? text(name) : std::string{};
}

std::uint64_t ObjectReader::number(const char* name) const {
  constexpr std::string_view expected = "a number that is not negative";
  const Json* member = find(name, expected);
  if (member == nullptr) return 0;
  if (member->is_number_unsigned()) return member->get<std::uint64_t>();
  refuse(name, expected, *member);
  return 0;
}

int ObjectReader::small_number(const char* name) const {
  const std::uint64_t value = number(name);
  constexpr auto most = std::numeric_limits<int>::max();
  if (value <= static_cast<std::uint64_t>(most)) return static_cast<int>(value);
  refuse(name, fmt::format("a number of at most {}", most), json_[name]);
  return 0;
}

std::vector<std::pair<std::string, std::string>> ObjectReader::pairs(const char* name) const {
  std::vector<std::pair<std::string, std::string>> all;
  const Json& json = object(name);
  all.reserve(json.size());
  for (const auto& [key, value] : json.items()) {
    if (!value.is_string()) {
      refuse(name, "an object of texts", value);
      return {};
    }
    all.emplace_back(printable(key), printable(value.get<std::string>()));
  }
  return all;
}

bool ObjectReader::flag(const char* name) const {
  const Json* member = find(name, "true or false");
  if (member == nullptr) return false;
  if (member->is_boolean()) return member->get<bool>();
  refuse(name, "true or false", *member);
  return false;
}

std::vector<std::string> ObjectReader::texts(const char* name) const {
  std::vector<std::string> all;
  const Json& json = list(name);
  all.reserve(json.size());
  for (const Json& one : json) {
    if (!one.is_string()) {
      refuse(name, "a list of texts", one);
      return {};
    }
    all.push_back(printable(one.get<std::string>()));
  }
  return all;
}

std::vector<std::string> ObjectReader::optional_texts(const char* name) const {
  return has(name) ? texts(name) : std::vector<std::string>{};
}

const ObjectReader::Json& ObjectReader::list(const char* name) const {
  static const Json none = Json::array();
  const Json* member = find(name, "a list");
  if (member != nullptr && member->is_array()) return *member;
  if (member != nullptr) refuse(name, "a list", *member);
  return none;
}

const ObjectReader::Json& ObjectReader::object(const char* name) const {
  static const Json none = Json::object();
  const Json* member = find(name, "an object");
  if (member != nullptr && member->is_object()) return *member;
  if (member != nullptr) refuse(name, "an object", *member);
  return none;
}

}  // namespace roce::conform
