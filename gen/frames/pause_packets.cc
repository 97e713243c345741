// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/pause_packets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "roce/wire/mac_control.h"

namespace roce::gen {

namespace {

/// The destination of MAC control frames, which no bridge passes on (IEEE 802.3, annex 31B).
constexpr const char* kDestination = "01:80:c2:00:00:01";
/// The smallest Ethernet frame without its FCS.
constexpr std::size_t kSmallestFrame = 60;

[[nodiscard]] Outcome<VaryingPacket> make(const PauseWish& wish, bool resume) {
  const std::string kind = wish.pfc ? "pfc" : "pause";
  std::vector<std::pair<std::string, std::string>> values{
      {"headers", "eth mac_control " + kind},
      {"eth.dst", kDestination},
      {"mac_control.opcode", wish.pfc ? "PFC" : "PAUSE"},
  };
  if (!wish.source.empty()) values.emplace_back("eth.src", wish.source);
  if (wish.pfc) {
    for (std::size_t priority = 0; priority < wish.quanta.size(); ++priority) {
      if (!wish.quanta[priority]) continue;
      values.emplace_back(fmt::format("pfc.enable{}", priority), "true");
      values.emplace_back(fmt::format("pfc.timer{}", priority), resume ? "0" : *wish.quanta[priority]);
    }
  } else {
    values.emplace_back("pause.quanta", resume ? "0" : wish.all_quanta);
  }
  SpecResult<VaryingPacket> packet = read_packet(values);
  if (!packet) return cannot(packet.error().message);
  const SpecResult<std::vector<std::byte>> bytes = packet->spec.build();
  if (!bytes) return cannot(bytes.error().message);
  const std::string pad(2 * (kSmallestFrame - std::min(kSmallestFrame, bytes->size())), '0');
  if (const SpecResult<void> set = packet->spec.set("payload", pad); !set) return cannot(set.error().message);
  return std::move(*packet);
}

[[nodiscard]] std::optional<unsigned> read_priority(std::string_view text) {
  if (text.size() != 1 || text[0] < '0' || text[0] > '7') return std::nullopt;
  return static_cast<unsigned>(text[0] - '0');
}

}  // namespace

Outcome<std::array<std::optional<std::string>, 8>> read_priorities(const std::string& text, const std::string& usual) {
  std::array<std::optional<std::string>, 8> quanta{};
  for (std::string_view rest = text;;) {
    const std::size_t comma = std::min(rest.find(','), rest.size());
    const std::string_view item = rest.substr(0, comma);
    const std::size_t equals = std::min(item.find('='), item.size());
    const std::string_view which = item.substr(0, equals);
    const std::size_t dash = std::min(which.find('-'), which.size());
    std::optional<unsigned> first = read_priority(which.substr(0, dash));
    std::optional<unsigned> last = dash == which.size() ? first : read_priority(which.substr(dash + 1));
    if (which == "all") {
      first = 0;
      last = 7;
    }
    if (!first || !last || *first > *last || (equals != item.size() && equals + 1 == item.size())) {
      return cannot(fmt::format("-p: expected priorities such as 3, 0-2, all or 3=65535,4=0, found \"{}\"", item));
    }
    for (unsigned priority = *first; priority <= *last; ++priority) {
      if (quanta[priority]) return cannot(fmt::format("-p: priority {} is there twice", priority));
      quanta[priority] = equals == item.size() ? usual : std::string{item.substr(equals + 1)};
    }
    if (comma == rest.size()) return quanta;
    rest.remove_prefix(comma + 1);
  }
}

Outcome<VaryingPacket> pause_packet(const PauseWish& wish) {
  return make(wish, false);
}

Outcome<VaryingPacket> resume_packet(const PauseWish& wish) {
  return make(wish, true);
}

std::optional<Duration> shortest_pause(const VaryingPacket& packet, std::uint64_t bits_per_second) {
  std::optional<std::uint64_t> least;
  const auto consider = [&](std::uint64_t quanta) {
    if (quanta != 0) least = std::min(least.value_or(quanta), quanta);
  };
  const auto read = [](std::string_view text) {
    std::uint64_t number = 0;
    std::from_chars(text.data(), text.data() + text.size(), number);
    return number;
  };
  for (const std::string& name : packet.given) {
    if (!name.starts_with("pfc.timer") && name != "pause.quanta") continue;
    const auto rule =
        std::find_if(packet.rules.begin(), packet.rules.end(), [&](const auto& r) { return r.first == name; });
    if (rule == packet.rules.end()) {
      consider(read(packet.spec.get(name).value_or("")));
    } else if (rule->second.texts.empty()) {
      // In a sweep that begins at 0, the first step is the shortest pause.
      consider(rule->second.first != 0 ? rule->second.first : rule->second.step);
    } else {
      for (const std::string& text : rule->second.texts) consider(read(text));
    }
  }
  if (!least) return std::nullopt;
  constexpr std::uint64_t ps_per_ns = 1000;
  const std::uint64_t ps =
      pause_picoseconds(static_cast<std::uint16_t>(std::min<std::uint64_t>(*least, 65535)), bits_per_second);
  return Duration{static_cast<Duration::rep>(ps / ps_per_ns)};
}

}  // namespace roce::gen
