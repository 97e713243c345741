// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/frame_source.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

namespace roce::gen {

namespace {

using Values = std::vector<std::pair<std::string, std::string>>;

constexpr std::array<std::pair<std::string_view, RoceVersion>, 3> kVersions{
    {{"v1", RoceVersion::v1}, {"v2_ipv4", RoceVersion::v2_ipv4}, {"v2_ipv6", RoceVersion::v2_ipv6}}};

[[nodiscard]] const std::string* find(const Values& values, std::string_view name) {
  const auto found = std::find_if(values.begin(), values.end(), [&](const auto& value) { return value.first == name; });
  return found != values.end() ? &found->second : nullptr;
}

/// Returns the packet that `headers`, `version` and `opcode` describe.
[[nodiscard]] SpecResult<PacketSpec> read_base(const Values& values) {
  const std::string* headers = find(values, "headers");
  const std::string* version = find(values, "version");
  const std::string* opcode = find(values, "opcode");
  if (headers != nullptr) {
    if (version != nullptr) {
      return tl::unexpected(SpecError{"version", "version: headers say it already; leave out one of the two"});
    }
    PacketSpec spec;
    if (const SpecResult<void> set = spec.set("headers", *headers); !set) return tl::unexpected(set.error());
    return spec;
  }
  RoceVersion chosen = RoceVersion::v2_ipv4;
  if (version != nullptr) {
    const auto* row =
        std::find_if(kVersions.begin(), kVersions.end(), [&](const auto& v) { return v.first == *version; });
    if (row == kVersions.end()) {
      return tl::unexpected(
          SpecError{"version", fmt::format("version: expected v1, v2_ipv4 or v2_ipv6, found '{}'", *version)});
    }
    chosen = row->second;
  }
  const std::optional<Opcode> known = opcode != nullptr ? opcode_from_name(*opcode) : std::nullopt;
  return PacketSpec::for_opcode(known.value_or(Opcode::rc_send_only), chosen);
}

/// True if the values of a rule can be written into a packet that is already built, and not only into its spec.
[[nodiscard]] bool stays_in_place(const PacketSpec& spec, const std::string& name, const ValueRule& rule) {
  const SpecResult<SpecField> row = spec.field(name);
  return row && row->field != nullptr && std::find(rule.texts.begin(), rule.texts.end(), "auto") == rule.texts.end();
}

}  // namespace

SpecResult<VaryingPacket> read_packet(const Values& values) {
  SpecResult<PacketSpec> base = read_base(values);
  if (!base) return tl::unexpected(base.error());
  VaryingPacket packet{std::move(*base), {}, 1, {}};
  const auto take = [&](const std::string& name, const std::string& text) -> SpecResult<void> {
    SpecResult<ValueRule> rule = ValueRule::read(packet.spec, name, text);
    if (!rule) return tl::unexpected(rule.error());
    const std::string& first = rule->texts.empty() ? rule->start : rule->texts.front();
    if (!first.empty() || rule->kind == ValueRule::Kind::constant) {
      if (SpecResult<void> set = packet.spec.set(name, first); !set) return set;
    }
    packet.given.push_back(name);
    if (rule->kind != ValueRule::Kind::constant) packet.rules.emplace_back(name, std::move(*rule));
    return {};
  };
  if (const std::string* opcode = find(values, "opcode")) {
    if (const SpecResult<void> taken = take("opcode", *opcode); !taken) return tl::unexpected(taken.error());
  }
  for (const auto& [name, text] : values) {
    if (name == "headers" || name == "version" || name == "opcode") continue;
    if (const SpecResult<void> taken = take(name, text); !taken) return tl::unexpected(taken.error());
  }
  return packet;
}

SpecResult<FrameSource::Turn> FrameSource::make_turn(const VaryingPacket& packet, std::uint64_t seed) {
  Turn turn{packet.spec, {}, {}, {}, {}, 0, packet.repeat};
  std::uint64_t number = 0;
  for (const auto& [name, rule] : packet.rules) {
    std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U),
                        static_cast<std::uint32_t>(number++)};
    std::array<std::uint32_t, 2> halves{};
    mixed.generate(halves.begin(), halves.end());
    NumberSequence numbers{rule, std::uint64_t{halves[0]} << 32U | halves[1]};
    if (!stays_in_place(packet.spec, name, rule)) {
      turn.texts.push_back({name, rule.texts, numbers, 0});
      continue;
    }
    // A computed field is set to some value, so that it is not computed any more.
    if (turn.spec.get(name) == "auto") {
      if (const SpecResult<void> set = turn.spec.set(name, "0"); !set) return tl::unexpected(set.error());
    }
    const SpecResult<SpecField> row = packet.spec.field(name);
    FieldRule field{turn.names.size(), numbers, {}, {}, 0};
    for (const std::string& text : rule.texts) {
      std::vector<std::byte> header(row->header->size);
      if (const auto set = set_field_text(*row->field, header, text); !set) {
        return tl::unexpected(SpecError{name, fmt::format("{}: {}", name, set.error())});
      }
      if (is_octets(*row->field)) {
        const Bytes octets = field_octets(*row->field, header);
        field.octets.emplace_back(octets.begin(), octets.end());
      } else {
        field.list.push_back(field_number(*row->field, header));
      }
    }
    turn.names.push_back(name);
    turn.fields.push_back(std::move(field));
  }
  SpecResult<PacketTemplate> made = PacketTemplate::make(turn.spec, turn.names);
  if (!made) return tl::unexpected(made.error());
  // This does not pay for a packet that is built anew each time.
  if (turn.texts.empty() && !turn.fields.empty()) made->expect_many();
  turn.kind.varying = made->varying();
  turn.packets.push_back(std::move(*made));
  return turn;
}

SpecResult<void> FrameSource::measure(const VaryingPacket& packet) {
  const auto build = [this](const PacketSpec& spec) -> SpecResult<void> {
    const SpecResult<std::vector<std::byte>> bytes = spec.build();
    if (!bytes) return tl::unexpected(bytes.error());
    longest_ = std::max(longest_, bytes->size());
    return {};
  };
  if (SpecResult<void> built = build(packet.spec); !built) return built;
  for (const auto& [name, rule] : packet.rules) {
    if (stays_in_place(packet.spec, name, rule)) continue;
    std::vector<std::string> texts = rule.texts;
    if (texts.empty()) texts = {fmt::format("{}", rule.first), fmt::format("{}", rule.last)};
    for (const std::string& text : texts) {
      PacketSpec spec = packet.spec;
      if (SpecResult<void> set = spec.set(name, text); !set) return set;
      if (SpecResult<void> built = build(spec); !built) return built;
    }
  }
  return {};
}

SpecResult<FrameSource> FrameSource::make(const std::vector<VaryingPacket>& packets, std::uint64_t seed,
                                          std::size_t held) {
  FrameSource source;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    if (const SpecResult<void> measured = source.measure(packets[i]); !measured) {
      return tl::unexpected(measured.error());
    }
    SpecResult<Turn> turn = make_turn(packets[i], seed + i);
    if (!turn) return tl::unexpected(turn.error());
    source.turns_.push_back(std::move(*turn));
  }
  source.make_held(held);
  return source;
}

/// Makes enough copies of each packet that none is used again while its frame is held.
void FrameSource::make_held(std::size_t held) {
  const std::uint64_t rounds = held / std::max<std::uint64_t>(round(), 1) + 1;
  for (Turn& turn : turns_) {
    const bool is_constant = turn.texts.empty() && turn.fields.empty();
    const std::uint64_t repeat = std::clamp<std::uint64_t>(turn.repeat, 1, held);
    const std::uint64_t copies = is_constant ? 1 : std::min<std::uint64_t>(repeat * rounds, held);
    turn.packets.assign(copies, PacketTemplate{turn.packets.front()});
  }
}

std::uint64_t FrameSource::round() const {
  std::uint64_t frames = 0;
  for (const Turn& turn : turns_) frames += turn.repeat;
  return frames;
}

SpecResult<Bytes> FrameSource::next() {
  Turn& turn = turns_[turn_];
  if (++repeated_ >= turn.repeat) {
    repeated_ = 0;
    turn_ = turn_ + 1 < turns_.size() ? turn_ + 1 : 0;
  }
  const auto step = [](std::size_t& position, std::size_t size) {
    const std::size_t present = position;
    position = present + 1 < size ? present + 1 : 0;
    return present;
  };
  PacketTemplate& packet = turn.packets[turn.packet];
  turn.packet = turn.packet + 1 < turn.packets.size() ? turn.packet + 1 : 0;
  if (!turn.texts.empty()) {
    for (TextRule& rule : turn.texts) {
      const std::string text =
          rule.list.empty() ? fmt::format("{}", rule.numbers.next()) : rule.list[step(rule.position, rule.list.size())];
      if (const SpecResult<void> set = turn.spec.set(rule.name, text); !set) return tl::unexpected(set.error());
    }
    SpecResult<PacketTemplate> made = PacketTemplate::make(turn.spec, turn.names);
    if (!made) return tl::unexpected(made.error());
    packet = std::move(*made);
  }
  for (FieldRule& rule : turn.fields) {
    if (!rule.octets.empty()) {
      packet.set_octets(rule.which, rule.octets[step(rule.position, rule.octets.size())]);
    } else if (!rule.list.empty()) {
      packet.set_number(rule.which, rule.list[step(rule.position, rule.list.size())]);
    } else {
      packet.set_number(rule.which, rule.numbers.next());
    }
  }
  if (!turn.fields.empty()) packet.seal();
  kind_ = turn.texts.empty() ? &turn.kind : nullptr;
  return packet.bytes();
}

}  // namespace roce::gen
