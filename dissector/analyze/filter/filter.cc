// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/filter/filter.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "command_line/number_text.h"
#include "roce/wire/deth.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/fields.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/opcode.h"

namespace roce::analyze {

namespace {

/// Returns the value that `text` gives to member `Member` of header `H`; nothing if the text is not valid.
template <HeaderType H, auto Member>
auto field_value(std::string_view name, std::string_view text) {
  std::array<std::byte, kSize<H>> header{};
  const FieldInfo* field = find_field(header_info(kHeader<H>.id), name);
  const bool valid = set_field_text(*field, header, text).has_value();
  using Value = std::remove_cvref_t<decltype(read<H>(header.data()).*Member)>;
  return valid ? std::optional<Value>{read<H>(header.data()).*Member} : std::optional<Value>{};
}

std::optional<Qpn> parse_qp(std::string_view text) {
  return field_value<Bth, &Bth::dest_qp>("dest_qp", text);
}

/// Returns the opcodes that a number, a name or a pattern of names (`RC_WRITE*`) stands for.
std::bitset<256> parse_opcode(const std::string& text) {
  std::bitset<256> set;
  if (const std::optional<Opcode> opcode = opcode_from_name(text)) {
    set.set(static_cast<std::size_t>(*opcode));
    return set;
  }
  for (const ValueName& row : kOpcodeNames) {
    if (fnmatch(text.c_str(), std::string{row.name}.c_str(), FNM_CASEFOLD) == 0) set.set(row.value);
  }
  return set;
}

bool any_matches(const std::vector<AddressPattern>& patterns, const std::optional<MacAddress>& mac,
                 const std::optional<Gid>& address) {
  return std::any_of(patterns.begin(), patterns.end(), [&](const AddressPattern& pattern) {
    return pattern.is_mac() ? mac && pattern.matches(*mac) : address && pattern.matches(*address);
  });
}

}  // namespace

tl::expected<AddressPattern, std::string> AddressPattern::parse(std::string_view text) {
  const auto fail = [&] {
    return tl::unexpected(
        fmt::format("expected an address such as 192.0.2.1, 192.0.2.0/24, 2001:db8::1 or 02:00:00:00:00:01, found {}",
                    command_line::quote(text)));
  };
  AddressPattern pattern;
  pattern.mac_ = field_value<Ethernet, &Ethernet::source>("src", text);
  if (pattern.mac_) return pattern;
  const std::size_t slash = text.find('/');
  const std::string_view address = text.substr(0, slash);
  const std::optional<Gid> gid = field_value<Ipv6, &Ipv6::source>("src", address);
  if (!gid) return fail();
  pattern.address_ = *gid;
  if (slash != std::string_view::npos) {
    const unsigned bits = address.find(':') == std::string_view::npos ? 32 : 128;
    const std::string_view digits = text.substr(slash + 1);
    unsigned prefix = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), prefix);
    if (error != std::errc{} || end != digits.data() + digits.size() || prefix > bits) return fail();
    pattern.prefix_ = 128 - bits + prefix;
  }
  return pattern;
}

bool AddressPattern::matches(const Gid& address) const {
  const std::size_t whole = prefix_ / 8;
  if (!std::equal(address_.octets.begin(), address_.octets.begin() + static_cast<std::ptrdiff_t>(whole),
                  address.octets.begin())) {
    return false;
  }
  const unsigned rest = prefix_ % 8;
  return rest == 0 || (address_.octets[whole] ^ address.octets[whole]) >> (8 - rest) == 0;
}

tl::expected<PacketFilter, std::string> PacketFilter::make(const PacketSelection& wanted) {
  PacketFilter filter;
  const auto fail = [](std::string_view option, std::string_view expected, std::string_view found) {
    return tl::unexpected(fmt::format("{}: expected {}, found {}", option, expected, command_line::quote(found)));
  };
  for (const std::string& text : wanted.qps) {
    const std::optional<Qpn> qp = parse_qp(text);
    if (!qp) return fail("--qp", "a queue pair number of at most 24 bits such as 17 or 0x11", text);
    filter.qps_.push_back(*qp);
  }
  for (const std::string& text : wanted.opcodes) {
    const std::bitset<256> set = parse_opcode(text);
    if (set.none()) {
      return fail("--opcode", "a name such as RC_WRITE_FIRST, a pattern such as 'RC_WRITE*', or a number 0 ... 255",
                  text);
    }
    filter.opcodes_ = filter.opcodes_.value_or(std::bitset<256>{}) | set;
  }
  const auto add = [](std::string_view option, const std::vector<std::string>& texts,
                      std::vector<AddressPattern>& patterns) -> tl::expected<void, std::string> {
    for (const std::string& text : texts) {
      auto pattern = AddressPattern::parse(text);
      if (!pattern) return tl::unexpected(fmt::format("{}: {}", option, pattern.error()));
      patterns.push_back(*pattern);
    }
    return {};
  };
  if (auto done = add("--address", wanted.addresses, filter.either_); !done) return tl::unexpected(done.error());
  if (auto done = add("--src", wanted.sources, filter.sources_); !done) return tl::unexpected(done.error());
  if (auto done = add("--dst", wanted.destinations, filter.destinations_); !done) return tl::unexpected(done.error());
  const auto bound = [&](const std::string& text, std::optional<packet_text::TimeBound>& into) {
    if (!text.empty()) into = packet_text::parse_time(text);
    return text.empty() || into;
  };
  constexpr std::string_view kTime =
      "seconds since the first packet (12.5), seconds since 1970, or a time such as 2026-11-20T23:55:31.5Z";
  if (!bound(wanted.from, filter.from_)) return fail("--from", kTime, wanted.from);
  if (!bound(wanted.to, filter.to_)) return fail("--to", kTime, wanted.to);
  filter.has_time_ = filter.from_ || filter.to_;
  filter.has_transport_ = !filter.qps_.empty() || filter.opcodes_;
  filter.has_addresses_ = !filter.either_.empty() || !filter.sources_.empty() || !filter.destinations_.empty();
  return filter;
}

bool PacketFilter::is_in_time(std::optional<std::int64_t> time_ns, std::int64_t relative_ns) const {
  if (!time_ns) return false;
  const auto at = [&](const packet_text::TimeBound& bound) { return bound.relative ? relative_ns : *time_ns; };
  return (!from_ || at(*from_) >= from_->ns) && (!to_ || at(*to_) <= to_->ns);
}

bool PacketFilter::has_wanted(const Packet& packet) const {
  if (!packet.is_roce()) return false;
  if (opcodes_ && !opcodes_->test(static_cast<std::size_t>(packet.opcode()))) return false;
  if (qps_.empty()) return true;
  const auto wanted = [&](Qpn qp) { return std::find(qps_.begin(), qps_.end(), qp) != qps_.end(); };
  if (wanted(packet.bth().dest_qp)) return true;
  const std::optional<Deth> deth = packet.get<Deth>();
  return deth && wanted(deth->source_qp);
}

bool PacketFilter::has_address(const Packet& frame) const {
  std::optional<Gid> source;
  std::optional<Gid> destination;
  if (frame.network_header() != HeaderId::none) {
    const NetMeta net = frame.net();
    source = net.source;
    destination = net.destination;
  }
  std::optional<MacAddress> source_mac;
  std::optional<MacAddress> destination_mac;
  if (const std::optional<Ethernet> ethernet = frame.get<Ethernet>()) {
    source_mac = ethernet->source;
    destination_mac = ethernet->destination;
  }
  const bool from_matches = any_matches(either_, source_mac, source);
  const bool to_matches = any_matches(either_, destination_mac, destination);
  return (either_.empty() || from_matches || to_matches) &&
         (sources_.empty() || any_matches(sources_, source_mac, source)) &&
         (destinations_.empty() || any_matches(destinations_, destination_mac, destination));
}

}  // namespace roce::analyze
