// SPDX-License-Identifier: BSD-2-Clause
#include "gen/fabric/fabric_fields.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <utility>

#include "command_line/number_text.h"
#include "text/human_units.h"

namespace roce::gen {

namespace {

[[nodiscard]] tl::unexpected<YamlError> expected(const YAML::Node& node, std::string_view what, std::string_view form) {
  const std::string found = node.IsScalar() ? command_line::quote(node.Scalar()) : "a list or names and values";
  return tl::unexpected(YamlError{fmt::format("{}: expected {}, found {}", what, form, found), node.Mark()});
}

[[nodiscard]] std::string scalar_of(const YAML::Node& node) {
  return node.IsScalar() ? node.Scalar() : std::string{};
}

}  // namespace

YAML::Mark place_of(const Places& places, std::string name) {
  for (;;) {
    if (const auto place = places.find(name); place != places.end()) return place->second;
    const std::size_t cut = name.find_last_of(".[");
    if (cut == std::string::npos) return YAML::Mark::null_mark();
    name.resize(cut);
  }
}

YamlResult<std::uint64_t> read_bytes(const YAML::Node& node, std::string_view what) {
  constexpr std::array<std::pair<std::string_view, double>, 7> units{
      {{"KiB", 1024.0}, {"MiB", 1048576.0}, {"GiB", 1073741824.0}, {"KB", 1e3}, {"MB", 1e6}, {"GB", 1e9}, {"B", 1}}};
  constexpr double most = 1e15;
  std::string text = scalar_of(node);
  double factor = 1;
  for (const auto& [unit, value] : units) {
    if (!text.ends_with(unit)) continue;
    text.resize(text.size() - unit.size());
    factor = value;
    break;
  }
  while (text.ends_with(' ')) text.pop_back();
  const std::optional<double> number = command_line::read_number<double>(text);
  if (!number || *number < 0 || *number * factor > most)
    return expected(node, what, "bytes such as 5000, 12.5KB or 1MiB");
  return static_cast<std::uint64_t>(std::llround(*number * factor));
}

YamlResult<Duration> read_time(const YAML::Node& node, std::string_view what) {
  const std::optional<std::int64_t> value = text::parse_duration(scalar_of(node));
  if (!value) return expected(node, what, "a time such as 10us");
  return Duration{*value};
}

YamlResult<std::uint64_t> read_rate(const YAML::Node& node, std::string_view what) {
  const std::optional<std::uint64_t> value = text::parse_bit_rate(scalar_of(node));
  if (!value) return expected(node, what, "a rate such as 25G");
  return *value;
}

YamlResult<double> read_real(const YAML::Node& node, std::string_view what) {
  const std::optional<double> value = command_line::read_number<double>(scalar_of(node));
  if (!value) return expected(node, what, "a number");
  return *value;
}

YamlResult<std::uint64_t> read_whole(const YAML::Node& node, std::string_view what, std::uint64_t most) {
  const auto value = command_line::read_number<std::uint64_t>(scalar_of(node));
  if (!value || *value > most) return expected(node, what, fmt::format("a whole number of at most {}", most));
  return *value;
}

YamlResult<bool> read_truth(const YAML::Node& node, std::string_view what) {
  const std::string text = scalar_of(node);
  if (text == "true" || text == "yes" || text == "on") return true;
  if (text == "false" || text == "no" || text == "off") return false;
  return expected(node, what, "true or false");
}

YamlResult<std::uint32_t> read_host(const YAML::Node& node, std::string_view what) {
  std::string text = scalar_of(node);
  if (text.starts_with('h')) text.erase(0, 1);
  const auto value = command_line::read_number<std::uint32_t>(text);
  if (!value) return expected(node, what, "a host such as h3 or 3");
  return *value;
}

Reader::Reader(const YAML::Node& node, std::string path, Places& places)
    : path_(std::move(path)),
      places_(places),
      fields_(check(Fields::read(node, path_.empty() ? std::string_view{"the file"} : std::string_view{path_}))) {
  places_[path_] = node.Mark();
}

std::string Reader::path_of(std::string_view name) const {
  return path_.empty() ? std::string{name} : fmt::format("{}.{}", path_, name);
}

std::optional<YAML::Node> Reader::find(std::string_view name) {
  std::optional<YAML::Node> node = fields_.take(name);
  if (node) places_[path_of(name)] = node->Mark();
  return node;
}

YAML::Node Reader::need(std::string_view name) {
  const YAML::Node node = check(fields_.need(name));
  places_[path_of(name)] = node.Mark();
  return node;
}

std::string Reader::text(std::string_view name, std::string_view otherwise) {
  const std::optional<YAML::Node> node = find(name);
  return node ? check(yaml_input::read_scalar(*node, path_of(name))) : std::string{otherwise};
}

void Reader::refuse(std::string_view name, const std::string& what) {
  const std::string path = name.empty() ? path_ : path_of(name);
  throw Mistake{{path.empty() ? what : fmt::format("{}: {}", path, what), place_of(places_, path)}};
}

}  // namespace roce::gen
