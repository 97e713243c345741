// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/side_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "roce/port/address_text.h"
#include "roce/wire/all_headers.h"

namespace roce::replay {

namespace {

constexpr unsigned kMappedBits = 96;

[[nodiscard]] bool same_start(const Gid& a, const Gid& b, unsigned bits) {
  const std::size_t whole = bits / 8;
  if (!std::equal(a.octets.begin(), a.octets.begin() + static_cast<std::ptrdiff_t>(whole), b.octets.begin())) {
    return false;
  }
  const unsigned rest = bits % 8;
  return rest == 0 || ((a.octets[whole] ^ b.octets[whole]) >> (8 - rest)) == 0;
}

struct Ends {
  Gid source{};
  Gid destination{};
};

/// Returns the ends of the innermost IP header or GRH.
[[nodiscard]] std::optional<Ends> ip_ends(const Packet& packet) {
  if (packet.is_roce()) {
    const NetMeta net = packet.net();
    return Ends{net.source, net.destination};
  }
  std::optional<Ends> ends;
  for (const Layer& layer : packet.layers()) {
    const std::byte* const header = packet.layer_bytes(layer).data();
    if (layer.id == HeaderId::ipv4) {
      const auto ip = read<Ipv4>(header);
      ends = Ends{Gid::from_ipv4(ip.source), Gid::from_ipv4(ip.destination)};
    } else if (layer.id == HeaderId::ipv6) {
      const auto ip = read<Ipv6>(header);
      ends = Ends{ip.source, ip.destination};
    }
  }
  return ends;
}

}  // namespace

Outcome<SideSplit> SideSplit::make(const std::vector<std::string>& members) {
  constexpr std::string_view qp_prefix = "qp=";
  SideSplit split;
  for (const std::string& text : members) {
    if (text == "clients") {
      split.ends_.clients = true;
      continue;
    }
    if (text.starts_with(qp_prefix)) {
      const ReadResult<QpName> qp = read_qp(std::string_view{text}.substr(qp_prefix.size()));
      if (!qp) return cannot(fmt::format("--side-a: \"{}\": {}", text, qp.error()));
      split.ends_.qps.push_back(*qp);
      continue;
    }
    if (const auto mac = port::parse_mac(text)) {
      split.macs_.push_back(*mac);
      continue;
    }
    const std::size_t slash = text.find('/');
    const std::optional<Gid> gid = port::parse_ip(text.substr(0, slash));
    const unsigned most = gid && gid->is_ipv4_mapped() ? 32 : 128;
    unsigned bits = most;
    bool is_right = gid.has_value();
    if (slash != std::string::npos) {
      const char* const end = text.data() + text.size();
      const auto [stop, error] = std::from_chars(text.data() + slash + 1, end, bits);
      is_right = is_right && error == std::errc{} && stop == end && bits <= most;
    }
    if (!is_right) {
      return cannot(fmt::format(
          "--side-a: expected an IP address, a network such as 10.1.0.0/16, an Ethernet address, a queue pair such as "
          "qp=0x11 or qp=0x11@10.1.2.3, or \"clients\"; found \"{}\"",
          text));
    }
    split.networks_.push_back({*gid, most == 32 ? bits + kMappedBits : bits});
  }
  return split;
}

bool SideSplit::has(const Gid& gid) const {
  return std::ranges::any_of(networks_,
                             [&](const Network& network) { return same_start(gid, network.address, network.bits); });
}

bool SideSplit::has(const MacAddress& mac) const {
  return std::ranges::find(macs_, mac) != macs_.end();
}

std::optional<std::uint8_t> SideSplit::side_of(const Packet& packet, Time time) const {
  if (connections_) {
    if (const std::optional<std::uint8_t> side = connections_->side_of(packet, time)) return side;
  }
  if (const std::optional<Ends> ends = ip_ends(packet)) {
    if (has(ends->source)) return std::uint8_t{0};
    if (has(ends->destination)) return std::uint8_t{1};
  }
  if (const auto ethernet = packet.get<Ethernet>(); ethernet && !macs_.empty()) {
    if (has(ethernet->source)) return std::uint8_t{0};
    // A frame that went to all has no such destination: it may have come from anybody.
    if (has(ethernet->destination)) return std::uint8_t{1};
  }
  return std::nullopt;
}

}  // namespace roce::replay
