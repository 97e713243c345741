// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/counters/nic_statistics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>

#include "roce/json_input/json_input.h"

namespace roce::analyze {

namespace {

using Json = nlohmann::ordered_json;
using Result = tl::expected<NicStatistics, std::string>;

constexpr std::string_view kSpaces = " \t\r";
constexpr std::size_t kLargest = std::size_t{1} << 20;
constexpr std::string_view kWhatIsRead =
    "what is read: the output of `rdma -j statistic show link DEV/PORT`, or lines of a name and a number, such as "
    "`grep "
    ". /sys/class/infiniband/DEV/ports/1/hw_counters/*` writes";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpaces);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpaces) - first + 1);
}

/// Shortens text of a file for a message and replaces control characters, which a terminal would obey.
std::string shown(std::string_view text) {
  constexpr std::size_t longest = 60;
  std::string result{text.substr(0, longest)};
  std::replace_if(
      result.begin(), result.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
  return result;
}

/// True for settings listed among the counters, and for what `rdma statistic` states about the link.
bool is_no_counter(std::string_view name) {
  return name == "lifespan" || name == "ifindex" || name == "ifname" || name == "port";
}

Result from_json(const Json& json, std::string_view source) {
  const auto fail = [&](const std::string& what) { return tl::unexpected(fmt::format("{}: {}", source, what)); };
  std::vector<const Json*> links;
  if (json.is_object()) links.push_back(&json);
  if (json.is_array()) {
    for (const Json& link : json) {
      if (!link.is_object()) {
        return fail(fmt::format("expected an object for each link, found {}; {}", link.type_name(), kWhatIsRead));
      }
      if (!link.empty()) links.push_back(&link);
    }
  }
  const auto name_of = [](const Json& link) {
    const auto name = link.find("ifname");
    const auto port = link.find("port");
    std::string text = name != link.end() && name->is_string() ? name->get<std::string>() : "?";
    if (port != link.end() && port->is_number_unsigned()) text += fmt::format("/{}", port->get<std::uint64_t>());
    return text;
  };
  if (links.empty()) return fail(fmt::format("there are no counters in it; {}", kWhatIsRead));
  if (links.size() > 1) {
    std::vector<std::string> names;
    names.reserve(links.size());
    for (const Json* link : links) names.push_back(shown(name_of(*link)));
    return fail(fmt::format("it has the counters of {} links ({}), and one is wanted: rdma -j statistic show link {}",
                            links.size(), fmt::join(names, ", "), names.front()));
  }
  NicStatistics statistics;
  if (links[0]->contains("ifname")) statistics.link = name_of(*links[0]);
  for (const auto& [name, value] : links[0]->items()) {
    if (is_no_counter(name)) continue;
    if (!value.is_number_unsigned()) {
      return fail(fmt::format("{}: expected a whole number from 0 to 2^64-1, found {}", shown(name),
                              shown(value.dump(-1, ' ', false, Json::error_handler_t::replace))));
    }
    statistics.counters.push_back({name, value.get<std::uint64_t>()});
  }
  if (statistics.counters.empty()) return fail(fmt::format("there are no counters in it; {}", kWhatIsRead));
  return statistics;
}

struct Line {
  std::string_view folder;
  std::string_view name;
  std::uint64_t value = 0;
};

std::optional<Line> parse_line(std::string_view line) {
  const std::size_t before = line.find_last_of(" \t:=");
  if (before == std::string_view::npos) return std::nullopt;
  const std::string_view digits = line.substr(before + 1);
  Line result;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), result.value);
  if (error != std::errc{} || end != digits.data() + digits.size()) return std::nullopt;
  std::string_view name = trimmed(line.substr(0, before));
  if (!name.empty() && (name.back() == ':' || name.back() == '=')) name = trimmed(name.substr(0, name.size() - 1));
  const std::size_t slash = name.rfind('/');
  if (slash != std::string_view::npos) {
    result.folder = name.substr(0, slash);
    name.remove_prefix(slash + 1);
  }
  result.name = name;
  if (name.empty()) return std::nullopt;
  return result;
}

Result from_lines(std::string_view text, std::string_view source) {
  NicStatistics statistics;
  bool has_folder = false;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view whole = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (whole.empty() || whole.starts_with('#')) continue;
    const auto fail = [&](const std::string& what) {
      return tl::unexpected(fmt::format("{}: line {}: {}", source, number, what));
    };
    if (whole.starts_with("link ")) {
      return fail("this is the output of `rdma statistic` for people; save that of `rdma -j statistic` instead");
    }
    const std::optional<Line> line = parse_line(whole);
    if (!line) {
      return fail(fmt::format("expected a name and a whole number from 0 to 2^64-1, found '{}'; {}", shown(whole),
                              kWhatIsRead));
    }
    if (is_no_counter(line->name)) continue;
    if (has_folder && line->folder != statistics.link) {
      return fail(
          fmt::format("expected the counters of one port, found '{}' behind '{}'; save each in a file of its own",
                      shown(line->folder), shown(statistics.link)));
    }
    if (!statistics.counters.empty() && statistics.find(line->name) != nullptr) {
      return fail(fmt::format("{} stands here for the second time; one snapshot a file is wanted", shown(line->name)));
    }
    statistics.link = line->folder;
    has_folder = true;
    statistics.counters.push_back({std::string{line->name}, line->value});
  }
  if (statistics.counters.empty()) {
    return tl::unexpected(fmt::format("{}: there are no counters in it; {}", source, kWhatIsRead));
  }
  return statistics;
}

}  // namespace

const NicValue* NicStatistics::find(std::string_view name) const {
  const auto found =
      std::find_if(counters.begin(), counters.end(), [&](const NicValue& counter) { return counter.name == name; });
  return found == counters.end() ? nullptr : &*found;
}

Result parse_nic_statistics(std::string_view text, std::string_view source) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos || (text[first] != '[' && text[first] != '{')) return from_lines(text, source);
  const auto json = json_input::parse<Json>(text, {.bytes = kLargest});
  if (!json) {
    return tl::unexpected(fmt::format("{}: it begins like JSON and is none: byte {}: {}; {}", source, json.error().byte,
                                      json.error().what, kWhatIsRead));
  }
  return from_json(*json, source);
}

Result load_nic_statistics(const std::string& path) {
  std::ifstream file{path, std::ios::binary};
  std::string text;
  if (file) {
    text.resize(kLargest + 1);
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
  }
  if (!file.is_open() || file.bad() || (!file && !file.eof())) {
    return tl::unexpected(fmt::format("cannot read the counters in '{}': {}", path, std::strerror(errno)));
  }
  if (text.size() > kLargest) {
    return tl::unexpected(
        fmt::format("'{}' is larger than 1 MiB and cannot be the counters of a NIC; {}", path, kWhatIsRead));
  }
  return parse_nic_statistics(text, path);
}

}  // namespace roce::analyze
