// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/dcbx_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "roce/wire/header.h"

namespace roce::live {

namespace {

using port::DcbxConfig;

constexpr unsigned kPriorities = 8;

[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(at);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

[[nodiscard]] std::optional<unsigned> read_number(std::string_view text, unsigned most) {
  unsigned value = 0;
  const bool is_hex = text.starts_with("0x");
  if (is_hex) text.remove_prefix(2);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, is_hex ? 16 : 10);
  if (error != std::errc{} || end != text.data() + text.size() || value > most) return std::nullopt;
  return value;
}

/// Returns one bit for each priority; nothing if the text is not digits 0 … 7, each at most once.
[[nodiscard]] std::optional<unsigned> read_priorities(std::string_view text) {
  unsigned bits = 0;
  for (const char digit : text) {
    if (digit < '0' || digit > '7') return std::nullopt;
    const unsigned bit = 1U << static_cast<unsigned>(digit - '0');
    if ((bits & bit) != 0) return std::nullopt;
    bits |= bit;
  }
  return text.empty() ? std::nullopt : std::optional{bits};
}

[[nodiscard]] tl::unexpected<Error> wrong(std::string_view part, std::string_view expected) {
  return cannot(fmt::format("dcbx: expected {}, found \"{}\"", expected, part));
}

[[nodiscard]] Result<void> read_willing(std::string_view part, std::string_view value, DcbxConfig& config) {
  if (value != "both" && value != "none" && value != "ets" && value != "pfc") {
    return wrong(part, "willing=ets, pfc, both or none");
  }
  config.ets.willing = value == "both" || value == "ets";
  config.pfc.willing = value == "both" || value == "pfc";
  return {};
}

[[nodiscard]] Result<void> read_pfc(std::string_view part, std::string_view value, DcbxConfig& config) {
  const std::optional<unsigned> bits = read_priorities(value);
  if (!bits) return wrong(part, "pfc=PRIORITIES such as pfc=3 or pfc=34, digits 0 … 7");
  for (unsigned i = 0; i < kPriorities; ++i) config.pfc.set(i, (*bits >> i & 1U) != 0);
  return {};
}

[[nodiscard]] Result<void> read_shares(std::string_view part, std::string_view value, DcbxConfig& config) {
  constexpr std::string_view form =
      "shares=PRIORITIES:SHARE/… such as shares=012467:60/3:40, at most 8 classes with a percent each, or strict";
  const std::vector<std::string_view> classes = split(value, '/');
  if (classes.size() > kPriorities) return wrong(part, form);
  unsigned known = 0;
  for (unsigned i = 0; i < classes.size(); ++i) {
    const std::vector<std::string_view> pair = split(classes[i], ':');
    const std::optional<unsigned> bits = pair.size() == 2 ? read_priorities(pair[0]) : std::nullopt;
    if (!bits || (*bits & known) != 0) return wrong(part, form);
    known |= *bits;
    for (unsigned priority = 0; priority < kPriorities; ++priority) {
      if ((*bits >> priority & 1U) != 0) config.ets.set_traffic_class(priority, static_cast<std::uint8_t>(i));
    }
    if (pair[1] == "strict") continue;
    const std::optional<unsigned> percent = read_number(pair[1], 100);
    if (!percent) return wrong(part, form);
    config.ets.set_share(i, static_cast<std::uint8_t>(*percent));
  }
  if (const auto checked = port::traffic_classes_of(config.ets); !checked) {
    return wrong(part, fmt::format("{} {}", checked.error().needs, checked.error().expected));
  }
  return {};
}

[[nodiscard]] Result<void> read_application(std::string_view part, std::string_view value, DcbxConfig& config) {
  constexpr std::array kinds{std::pair{std::string_view{"ethertype"}, DcbxSelector::ether_type},
                             std::pair{std::string_view{"tcp"}, DcbxSelector::tcp_port},
                             std::pair{std::string_view{"udp"}, DcbxSelector::udp_port},
                             std::pair{std::string_view{"tcp_udp"}, DcbxSelector::tcp_or_udp_port},
                             std::pair{std::string_view{"dscp"}, DcbxSelector::dscp}};
  const std::vector<std::string_view> parts = split(value, ':');
  const auto kind =
      parts.size() == 3 ? std::ranges::find(kinds, parts[0], [](const auto& one) { return one.first; }) : kinds.end();
  if (kind == kinds.end()) {
    return wrong(part, "app=KIND:NUMBER:PRIORITY such as app=udp:4791:3, KIND ethertype, tcp, udp, tcp_udp or dscp");
  }
  const std::optional<unsigned> number = read_number(parts[1], kind->second == DcbxSelector::dscp ? 63 : 65535);
  const std::optional<unsigned> priority = read_number(parts[2], 7);
  if (!number || !priority) return wrong(part, "a number that the kind has, and a priority 0 … 7");
  if (config.applications.size() == port::DcbxPeer::kMaxApplications) return wrong(part, "at most 168 applications");
  config.applications.push_back({.priority = static_cast<std::uint8_t>(*priority),
                                 .selector = kind->second,
                                 .protocol = static_cast<std::uint16_t>(*number)});
  return {};
}

/// Reads `NAME=VALUE`, or `recommend`.
[[nodiscard]] Result<void> read_part(std::string_view part, DcbxConfig& config, bool& recommends) {
  const std::size_t sign = part.find('=');
  const std::string_view name = part.substr(0, sign);
  const std::string_view value = sign == std::string_view::npos ? std::string_view{} : part.substr(sign + 1);
  if (name == "willing") return read_willing(part, value, config);
  if (name == "pfc") return read_pfc(part, value, config);
  if (name == "shares") return read_shares(part, value, config);
  if (name == "app") return read_application(part, value, config);
  if (name == "capability") {
    const std::optional<unsigned> count = read_number(value, kPriorities);
    if (!count || *count == 0) return wrong(part, "capability=1 … 8");
    config.pfc.capability = static_cast<std::uint8_t>(*count);
    return {};
  }
  if (part != "recommend") return wrong(part, "willing, pfc, shares, app or capability with a value, or recommend");
  recommends = true;
  return {};
}

[[nodiscard]] std::string text_of(const DcbxPfc& pfc) {
  std::vector<unsigned> priorities;
  for (unsigned i = 0; i < kPriorities; ++i) {
    if (pfc.enabled(i)) priorities.push_back(i);
  }
  if (priorities.empty()) return "no priority is lossless";
  return fmt::format("{} {} lossless", fmt::join(priorities, ", "), priorities.size() == 1 ? "is" : "are");
}

[[nodiscard]] std::string text_of(const DcbxEts& ets) {
  std::vector<std::string> classes;
  for (unsigned i = 0; i < kPriorities; ++i) {
    std::vector<unsigned> priorities;
    for (unsigned p = 0; p < kPriorities; ++p) {
      if (ets.traffic_class(p) == i) priorities.push_back(p);
    }
    if (priorities.empty()) continue;
    const std::string share = ets.tsa(i) == DcbxTsa::ets ? fmt::format("{} %", ets.bandwidth(i)) : "strict";
    classes.push_back(fmt::format("{} {}", fmt::join(priorities, ", "), share));
  }
  return fmt::format("{}", fmt::join(classes, "; "));
}

[[nodiscard]] std::string text_of(const std::vector<DcbxAppEntry>& applications) {
  std::vector<std::string> texts;
  for (const DcbxAppEntry& entry : applications) {
    const auto kind = static_cast<std::uint64_t>(entry.selector);
    const auto name = std::ranges::find(kDcbxSelectorNames, kind, &ValueName::value);
    const std::string what =
        name != kDcbxSelectorNames.end() ? std::string{name->name} : fmt::format("selector {}", kind);
    const std::string number = entry.selector == DcbxSelector::ether_type ? fmt::format("0x{:04X}", entry.protocol)
                                                                          : fmt::format("{}", entry.protocol);
    texts.push_back(fmt::format("{} {} has {}", what, number, entry.priority));
  }
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

Result<DcbxConfig> parse_dcbx(std::string_view text) {
  DcbxConfig config;
  config.ets.willing = true;
  config.pfc = {.willing = true, .capability = kPriorities};
  bool recommends = false;
  for (const std::string_view part : split(text, ',')) {
    if (Result<void> read = read_part(part, config, recommends); !read) return tl::unexpected(read.error());
  }
  if (recommends) config.recommendation = port::recommendation_of(config.ets);
  return config;
}

std::string describe_dcbx(const port::DcbxPeer& peer) {
  const port::DcbxOperational& now = peer.operational();
  const bool has_peer = peer.has_peer();
  std::string text = fmt::format(
      "DCBX, {}: priorities: {} ({}); shares: {} ({})", has_peer ? "with the other end" : "alone", text_of(now.pfc),
      now.pfc_is_of_peer ? "the other end's" : "own", text_of(now.ets), now.ets_is_recommended ? "recommended" : "own");
  if (!now.peer_applications.empty()) text += "; applications, says the other end: " + text_of(now.peer_applications);
  if (!peer.problem().empty()) text += "; " + peer.problem();
  return text;
}

}  // namespace roce::live
