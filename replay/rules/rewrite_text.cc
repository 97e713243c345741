// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rules/rewrite_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>
#include <utility>

#include "roce/wire/atomiceth.h"
#include "roce/wire/bth.h"
#include "roce/wire/deth.h"
#include "roce/wire/grh.h"
#include "roce/wire/reth.h"

namespace roce::replay {

namespace {

constexpr std::uint8_t kGidBits = 128;
constexpr std::uint8_t kMappedBits = 96;

/// Reads a text as a value of a member of a header, by the field table: `read_as<&Bth::psn>("5")`.
template <auto Member, HeaderType H>
[[nodiscard]] auto read_as(std::string_view text, std::string_view name)
    -> ReadResult<std::remove_cvref_t<decltype(H{}.*Member)>> {
  std::array<std::byte, kSize<H>> header{};
  const FieldInfo* field = find_field(header_info(kHeader<H>.id), name);
  if (const auto set = set_field_text(*field, header, text); !set) return tl::unexpected(set.error());
  return FieldOf<Member>::get(header.data());
}

ReadResult<Gid> read_gid(std::string_view text) {
  return read_as<&Grh::source, Grh>(text, "sgid");
}
ReadResult<Qpn> read_qpn(std::string_view text) {
  return read_as<&Bth::dest_qp, Bth>(text, "dest_qp");
}
ReadResult<std::uint64_t> read_va(std::string_view text) {
  return read_as<&Reth::virtual_address, Reth>(text, "va");
}

struct Pair {
  std::string_view from;
  std::string_view to;
};

ReadResult<Pair> split(std::string_view text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return tl::unexpected(std::string{"expected OLD=NEW"});
  return Pair{text.substr(0, equals), text.substr(equals + 1)};
}

struct Prefix {
  Gid gid{};
  std::uint8_t bits = kGidBits;
};

ReadResult<Prefix> read_prefix(std::string_view text) {
  const std::size_t slash = text.find('/');
  const ReadResult<Gid> gid = read_gid(text.substr(0, slash));
  if (!gid) return tl::unexpected(gid.error());
  Prefix prefix{.gid = *gid};
  if (slash == std::string_view::npos) return prefix;
  const std::string_view digits = text.substr(slash + 1);
  const std::uint8_t most = gid->is_ipv4_mapped() ? kGidBits - kMappedBits : kGidBits;
  unsigned bits = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), bits);
  if (error != std::errc{} || end != digits.data() + digits.size() || bits > most) {
    return tl::unexpected(fmt::format("expected a prefix length of 0 … {}, found '{}'", most, digits));
  }
  prefix.bits = static_cast<std::uint8_t>(bits + (gid->is_ipv4_mapped() ? kMappedBits : 0));
  return prefix;
}

/// Reads both sides of a map; the error is that of the first side that is wrong.
template <typename Read>
auto both(std::string_view text, Read read)
    -> ReadResult<std::pair<typename decltype(read(text))::value_type, typename decltype(read(text))::value_type>> {
  const ReadResult<Pair> sides = split(text);
  if (!sides) return tl::unexpected(sides.error());
  auto from = read(sides->from);
  if (!from) return tl::unexpected(from.error());
  auto to = read(sides->to);
  if (!to) return tl::unexpected(to.error());
  return std::pair{*from, *to};
}

template <auto Member, HeaderType H>
ReadResult<> read_numbers(std::string_view text, std::string_view name, std::map<std::uint64_t, std::uint64_t>& map) {
  const auto pair = both(text, [name](std::string_view side) { return read_as<Member, H>(side, name); });
  if (!pair) return tl::unexpected(pair.error());
  map.emplace(to_raw(pair->first), to_raw(pair->second));
  return {};
}

}  // namespace

ReadResult<> read_ip_map(std::string_view text, RewriteRules& rules) {
  const auto pair = both(text, read_prefix);
  if (!pair) return tl::unexpected(pair.error());
  const auto& [from, to] = *pair;
  if (from.bits != to.bits) {
    return tl::unexpected(fmt::format("expected as many bits behind both prefixes, found {} and {}",
                                      kGidBits - from.bits, kGidBits - to.bits));
  }
  rules.ips.push_back({{from.gid, from.bits}, to.gid});
  std::stable_sort(rules.ips.begin(), rules.ips.end(),
                   [](const GidRule& a, const GidRule& b) { return a.from.bits > b.from.bits; });
  return {};
}

ReadResult<MacAddress> read_mac(std::string_view text) {
  return read_as<&Ethernet::source, Ethernet>(text, "src");
}

ReadResult<> read_mac_map(std::string_view text, RewriteRules& rules) {
  const auto pair = both(text, read_mac);
  if (!pair) return tl::unexpected(pair.error());
  rules.macs.emplace(pair->first, pair->second);
  return {};
}

ReadResult<> read_vlan_map(std::string_view text, RewriteRules& rules) {
  const auto pair = both(text, [](std::string_view side) { return read_as<&VlanTag::vlan_id, VlanTag>(side, "vid"); });
  if (!pair) return tl::unexpected(pair.error());
  rules.vlans.emplace(pair->first, pair->second);
  return {};
}

ReadResult<> read_vlan_tag(std::string_view text, RewriteRules& rules) {
  const std::size_t colon = text.find(':');
  const auto id = read_as<&VlanTag::vlan_id, VlanTag>(text.substr(0, colon), "vid");
  if (!id) return tl::unexpected(id.error());
  VlanTag tag{.vlan_id = *id};
  if (colon != std::string_view::npos) {
    const auto priority = read_as<&VlanTag::priority, VlanTag>(text.substr(colon + 1), "pcp");
    if (!priority) return tl::unexpected(priority.error());
    tag.priority = *priority;
  }
  rules.add_vlan = tag;
  return {};
}

ReadResult<QpName> read_qp(std::string_view text) {
  const std::size_t at = text.find('@');
  const ReadResult<Qpn> qpn = read_qpn(text.substr(0, at));
  if (!qpn) return tl::unexpected(qpn.error());
  if (qpn->value() <= 1) {
    return tl::unexpected(fmt::format("QP {} is a management QP of every port and of no connection", qpn->value()));
  }
  QpName name{.qpn = *qpn};
  if (at == std::string_view::npos) return name;
  const ReadResult<Gid> owner = read_gid(text.substr(at + 1));
  if (!owner) return tl::unexpected(owner.error());
  name.owner = *owner;
  return name;
}

ReadResult<> read_qpn_map(std::string_view text, RewriteRules& rules) {
  const ReadResult<Pair> sides = split(text);
  if (!sides) return tl::unexpected(sides.error());
  const ReadResult<QpName> from = read_qp(sides->from);
  if (!from) return tl::unexpected(from.error());
  const ReadResult<Qpn> to = read_qpn(sides->to);
  if (!to) return tl::unexpected(to.error());
  rules.qpns.push_back({.from = from->qpn, .owner = from->owner, .to = *to});
  return {};
}

ReadResult<> read_psn_offset(std::string_view text, RewriteRules& rules) {
  const bool negative = text.starts_with('-');
  const auto psn = read_as<&Bth::psn, Bth>(negative ? text.substr(1) : text, "psn");
  if (!psn) return tl::unexpected(psn.error());
  rules.psn_offset = (negative ? Psn{} - psn->value() : *psn).value();
  return {};
}

ReadResult<> read_p_key_map(std::string_view text, RewriteRules& rules) {
  return read_numbers<&Bth::p_key, Bth>(text, "p_key", rules.p_keys);
}

ReadResult<> read_q_key_map(std::string_view text, RewriteRules& rules) {
  return read_numbers<&Deth::q_key, Deth>(text, "q_key", rules.q_keys);
}

ReadResult<> read_r_key_map(std::string_view text, RewriteRules& rules) {
  return read_numbers<&Reth::r_key, Reth>(text, "r_key", rules.r_keys);
}

ReadResult<> read_va_map(std::string_view text, RewriteRules& rules) {
  const ReadResult<Pair> sides = split(text);
  if (!sides) return tl::unexpected(sides.error());
  const std::size_t plus = sides->from.find('+');
  const ReadResult<std::uint64_t> start = read_va(sides->from.substr(0, plus));
  if (!start) return tl::unexpected(start.error());
  const ReadResult<std::uint64_t> to = read_va(sides->to);
  if (!to) return tl::unexpected(to.error());
  VirtualAddressRule rule{.start = *start, .length = 0, .to = *to};
  if (plus != std::string_view::npos) {
    const ReadResult<std::uint64_t> length = read_va(sides->from.substr(plus + 1));
    if (!length) return tl::unexpected(length.error());
    if (*length == 0) return tl::unexpected(std::string{"expected a length of 1 and more, found 0"});
    rule.length = *length;
  } else {
    // From `start` to the end of the address space.
    rule.length = 0 - *start;
  }
  rules.virtual_addresses.push_back(rule);
  return {};
}

ReadResult<> read_source_port(std::string_view text, RewriteRules& rules) {
  if (text == "keep") {
    rules.source_port = SourcePort::keep;
  } else if (text == "flow-label") {
    rules.source_port = SourcePort::flow_label;
  } else if (text == "random") {
    rules.source_port = SourcePort::random;
  } else {
    std::uint16_t port = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), port);
    if (error != std::errc{} || end != text.data() + text.size()) {
      return tl::unexpected(fmt::format("expected keep, flow-label, random or 0 … 65535, found '{}'", text));
    }
    rules.source_port = SourcePort::fixed;
    rules.udp_source_port = port;
  }
  return {};
}

ReadResult<> read_field_setting(std::string_view text, RewriteRules& rules) {
  const std::size_t equals = text.find('=');
  if (equals == std::string_view::npos) return tl::unexpected(std::string{"expected NAME=VALUE"});
  const std::string_view name = text.substr(0, equals);
  const std::size_t dot = name.find('.');
  std::string_view header = name.substr(0, dot);
  FieldSetting setting{.value = std::string{text.substr(equals + 1)}};
  if (const std::size_t bracket = header.find('['); bracket != std::string_view::npos) {
    std::size_t index = 0;
    const std::string_view digits = header.substr(bracket + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
    if (error != std::errc{} || std::string_view{end, digits.data() + digits.size()} != "]") {
      return tl::unexpected(fmt::format("expected a header like vlan[1], found '{}'", header));
    }
    setting.index = index;
    header = header.substr(0, bracket);
  }
  setting.header = find_header(header);
  if (setting.header == nullptr) {
    return tl::unexpected(
        fmt::format("there is no header '{}'; the names are those that roce-analyze decode -v shows", header));
  }
  if (dot != std::string_view::npos) setting.field = find_field(*setting.header, name.substr(dot + 1));
  if (setting.field == nullptr) {
    std::string names;
    for (const FieldInfo& field : setting.header->fields) names += fmt::format(" {}.{}", header, field.name);
    return tl::unexpected(fmt::format("there is no field '{}'; {} has:{}", name, setting.header->title, names));
  }
  std::vector<std::byte> trial(setting.header->size);
  if (const auto set = set_field_text(*setting.field, trial, setting.value); !set) {
    return tl::unexpected(fmt::format("{}: {}", name, set.error()));
  }
  rules.fields.push_back(std::move(setting));
  return {};
}

}  // namespace roce::replay
