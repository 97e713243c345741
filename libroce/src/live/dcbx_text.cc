// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/dcbx_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "roce/wire/header.h"
#include "wire/text.h"

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
  const std::optional<std::uint64_t> value = text::number(text);
  return value && *value <= most ? std::optional{static_cast<unsigned>(*value)} : std::nullopt;
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
  return cannot(fmt::format("expected {}, found \"{}\"", expected, part));
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
    return cannot(fmt::format("{}: {}", part, expectation(checked.error())));
  }
  return {};
}

/// A kind of application: its selector, and the numbers that it has.
struct ApplicationKind {
  std::string_view name;
  DcbxSelector selector{};
  unsigned least = 0;
  unsigned most = 0;
};
constexpr std::array kApplicationKinds{ApplicationKind{"ethertype", DcbxSelector::ether_type, 0x600, 0xFFFF},
                                       ApplicationKind{"tcp", DcbxSelector::tcp_port, 1, 0xFFFF},
                                       ApplicationKind{"udp", DcbxSelector::udp_port, 1, 0xFFFF},
                                       ApplicationKind{"tcp_udp", DcbxSelector::tcp_or_udp_port, 1, 0xFFFF},
                                       ApplicationKind{"dscp", DcbxSelector::dscp, 0, 63}};

[[nodiscard]] Result<void> read_application(std::string_view part, std::string_view value, DcbxConfig& config) {
  const std::vector<std::string_view> parts = split(value, ':');
  const auto* const kind = parts.size() == 3 ? std::ranges::find(kApplicationKinds, parts[0], &ApplicationKind::name)
                                             : kApplicationKinds.end();
  if (kind == kApplicationKinds.end()) {
    return wrong(part, "app=KIND:NUMBER:PRIORITY such as app=udp:4791:3, KIND ethertype, tcp, udp, tcp_udp or dscp");
  }
  const std::optional<unsigned> number = read_number(parts[1], kind->most);
  if (!number || *number < kind->least) {
    return wrong(part, fmt::format("a NUMBER of {} to {} for {}", kind->least, kind->most, kind->name));
  }
  const std::optional<unsigned> priority = read_number(parts[2], kPriorities - 1);
  if (!priority) return wrong(part, "a PRIORITY of 0 to 7");
  const DcbxAppEntry entry{.priority = static_cast<std::uint8_t>(*priority),
                           .selector = kind->selector,
                           .protocol = static_cast<std::uint16_t>(*number)};
  const auto is_same = [&entry](const DcbxAppEntry& other) {
    return other.selector == entry.selector && other.protocol == entry.protocol;
  };
  if (std::ranges::any_of(config.applications, is_same)) return wrong(part, "an application that is not there twice");
  if (config.applications.size() == port::DcbxPeer::kMaxApplications) return wrong(part, "at most 168 applications");
  config.applications.push_back(entry);
  return {};
}

[[nodiscard]] Result<void> read_capability(std::string_view part, std::string_view value, DcbxConfig& config) {
  const std::optional<unsigned> count = read_number(value, kPriorities);
  if (!count || *count == 0) return wrong(part, "capability=1 … 8");
  config.pfc.capability = static_cast<std::uint8_t>(*count);
  return {};
}

/// The parts that may be there once, and those that were.
class Parts {
 public:
  /// Reads `NAME=VALUE`, or `recommend`.
  [[nodiscard]] Result<void> read(std::string_view part, DcbxConfig& config) {
    const std::size_t sign = part.find('=');
    const std::string_view name = part.substr(0, sign);
    const std::string_view value = sign == std::string_view::npos ? std::string_view{} : part.substr(sign + 1);
    if (name == "app") return read_application(part, value, config);
    if (!names_.insert(name).second) return wrong(part, fmt::format("{} once", name));
    if (name == "willing") return read_willing(part, value, config);
    if (name == "pfc") return read_pfc(part, value, config);
    if (name == "shares") return read_shares(part, value, config);
    if (name == "capability") return read_capability(part, value, config);
    if (part == "recommend") return {};
    return wrong(part, "willing, pfc, shares, app or capability with a value, or recommend");
  }
  /// Checks what the parts are together.
  [[nodiscard]] Result<void> check(const DcbxConfig& config) const {
    const int lossless = std::popcount(config.pfc.priorities());
    if (lossless > config.pfc.capability) {
      return cannot(
          fmt::format("dcbx: pfc names {} priorities, and capability allows {}", lossless, config.pfc.capability));
    }
    if (recommends() && !names_.contains("shares")) return cannot("recommend needs shares to recommend");
    return {};
  }
  [[nodiscard]] bool recommends() const { return names_.contains("recommend"); }

 private:
  std::set<std::string_view> names_;
};

/// Returns numbers with ranges of three and more, such as `0-2,5,6`.
[[nodiscard]] std::string ranges(const std::vector<unsigned>& numbers) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (last < i + 2) last = i;
    texts.push_back(last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]));
    i = last + 1;
  }
  return fmt::format("{}", fmt::join(texts, ","));
}

[[nodiscard]] std::string text_of(const DcbxPfc& pfc) {
  std::vector<unsigned> priorities;
  for (unsigned i = 0; i < kPriorities; ++i) {
    if (pfc.enabled(i)) priorities.push_back(i);
  }
  if (priorities.empty()) return "no lossless priorities";
  return fmt::format("lossless priorit{} {}", priorities.size() == 1 ? "y" : "ies", ranges(priorities));
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
    classes.push_back(fmt::format("{} for {}", share, ranges(priorities)));
  }
  return fmt::format("shares {}", fmt::join(classes, ", "));
}

[[nodiscard]] std::string text_of(const std::vector<DcbxAppEntry>& applications) {
  constexpr std::size_t most = 8;
  std::vector<std::string> texts;
  for (const DcbxAppEntry& entry : std::span{applications}.first(std::min(applications.size(), most))) {
    const auto kind = static_cast<std::uint64_t>(entry.selector);
    const auto* const name = std::ranges::find(kDcbxSelectorNames, kind, &ValueName::value);
    const std::string what =
        name != kDcbxSelectorNames.end() ? std::string{name->name} : fmt::format("selector {} number", kind);
    const std::string number = entry.selector == DcbxSelector::ether_type ? fmt::format("0x{:04X}", entry.protocol)
                                                                          : fmt::format("{}", entry.protocol);
    texts.push_back(fmt::format("{} {} priority {}", what, number, entry.priority));
  }
  if (applications.size() > most) texts.push_back(fmt::format("and {} more", applications.size() - most));
  return fmt::format("{}", fmt::join(texts, ", "));
}

}  // namespace

Result<DcbxConfig> parse_dcbx(std::string_view text) {
  DcbxConfig config;
  config.ets.willing = true;
  config.pfc = {.willing = true, .capability = kPriorities};
  Parts parts;
  for (const std::string_view part : split(text, ',')) {
    if (Result<void> read = parts.read(part, config); !read) return tl::unexpected(read.error());
  }
  if (Result<void> checked = parts.check(config); !checked) return tl::unexpected(checked.error());
  if (parts.recommends()) config.recommendation = port::recommendation_of(config.ets);
  return config;
}

std::string describe_dcbx(const port::DcbxPeer& peer) {
  const port::DcbxOperational& now = peer.operational();
  std::string text = fmt::format("DCBX, {}: {} ({}); {} ({})", peer.has_peer() ? "with the other end" : "alone",
                                 text_of(now.pfc), now.pfc_is_of_peer ? "the other end's" : "own", text_of(now.ets),
                                 now.ets_is_recommended ? "recommended" : "own");
  if (!now.peer_applications.empty()) text += "; the other end announces " + text_of(now.peer_applications);
  if (!peer.problem().empty()) text += "; " + peer.problem();
  return text;
}

}  // namespace roce::live
