// SPDX-License-Identifier: BSD-2-Clause
#include "gen/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <random>

#include "roce/link/raw_link.h"
#include "roce/link/udp_link.h"
#include "roce/port/interfaces.h"
#include "roce/transport/profile.h"

namespace roce::gen {

namespace {

/// What may stand around the data of the longest packet: IPv6 or GRH, UDP, BTH, RETH, ImmDt, ICRC.
constexpr std::uint32_t kLargestOverhead = 40 + 8 + 12 + 16 + 4 + 4;
/// What an endpoint has to see, also where the kernel leaves the VLAN tag in the frame.
constexpr std::string_view kRoceFilter = "udp dst port 4791 or ether proto 0x8915";
constexpr std::string_view kTaggedRoceFilter =
    "udp dst port 4791 or ether proto 0x8915 or (vlan and (udp dst port 4791 or ether proto 0x8915))";

/// Leaves the ICRC of everything wrong by one bit.
class BadIcrc final : public transport::MisbehaviourHook {
 public:
  transport::TxVerdict on_transmit(std::span<std::byte> packet, Time) override {
    packet.back() ^= std::byte{1};
    return {};
  }
};

[[nodiscard]] Outcome<MacAddress> parse_mac(const std::string& text) {
  MacAddress mac;
  std::array<unsigned, 6> octets{};
  int used = 0;
  const int read = std::sscanf(text.c_str(), "%2x:%2x:%2x:%2x:%2x:%2x%n", &octets[0], &octets[1], &octets[2],
                               &octets[3], &octets[4], &octets[5], &used);
  if (read != 6 || static_cast<std::size_t>(used) != text.size()) {
    return cannot(fmt::format("\"{}\" is not an Ethernet address; write it like 02:00:00:00:00:01", text));
  }
  std::transform(octets.begin(), octets.end(), mac.octets.begin(),
                 [](unsigned octet) { return static_cast<std::uint8_t>(octet); });
  return mac;
}

/// The row of the GID table that the options mean.
[[nodiscard]] Outcome<port::GidTableRow> choose_gid(const EndpointOptions& options, const port::Interface& interface,
                                                    const std::vector<port::GidTableRow>& table) {
  const auto type = options.roce_v1 ? transport::GidType::roce_v1 : transport::GidType::roce_v2;
  const auto in_chosen_vlan = [&](const port::GidTableRow& row) {
    return row.entry.vlan_id.has_value() ? *row.entry.vlan_id == options.vlan : options.vlan < 0;
  };
  const port::GidTableRow* best = nullptr;
  const auto rank = [](const port::GidTableRow& row) {
    if (row.entry.gid.is_ipv4_mapped()) return 2;
    return row.entry.gid.octets[0] == 0xFE && row.entry.gid.octets[1] == 0x80 ? 0 : 1;
  };
  for (const port::GidTableRow& row : table) {
    if (row.entry.type != type || !in_chosen_vlan(row)) continue;
    if (!options.address.empty()) {
      if (to_string(row.entry.gid) == options.address) return row;
    } else if (best == nullptr || rank(row) > rank(*best)) {
      best = &row;
    }
  }
  if (best != nullptr) return *best;
  const std::string in_vlan = options.vlan >= 0 ? fmt::format(" in VLAN {}", options.vlan) : "";
  if (options.address.empty()) {
    return cannot(fmt::format("interface {} has no address{}; give it one (ip address add)", interface.name, in_vlan));
  }
  return cannot(fmt::format("{} is not an address of interface {}{}; roce-gen gids -i {} lists those it has",
                            options.address, interface.name, in_vlan, interface.name));
}

[[nodiscard]] std::uint32_t largest_path_mtu(std::uint32_t interface_mtu) {
  for (const std::uint32_t mtu : {4096U, 2048U, 1024U, 512U}) {
    if (mtu + kLargestOverhead <= interface_mtu) return mtu;
  }
  return 256;
}

}  // namespace

Endpoint::~Endpoint() = default;

Outcome<std::unique_ptr<Endpoint>> Endpoint::open(const EndpointOptions& options) {
  const port::Result<std::vector<port::Interface>> interfaces = port::list_interfaces();
  if (!interfaces) return cannot(interfaces.error().message);
  const port::Result<port::Interface> interface = port::find_interface(options.interface);
  if (!interface) return cannot(interface.error().message);
  if (!interface->up) {
    return cannot(fmt::format("interface {0} is down; ip link set {0} up", interface->name));
  }
  const std::vector<port::GidTableRow> table = port::gid_table(*interface, *interfaces);
  const Outcome<port::GidTableRow> row = choose_gid(options, *interface, table);
  if (!row) return tl::unexpected(row.error());

  std::unique_ptr<Endpoint> endpoint{new Endpoint};
  endpoint->gid_ = row->entry.gid;
  endpoint->sgid_index_ = row->index;
  endpoint->max_path_mtu_ = largest_path_mtu(row->mtu);
  if (Outcome<void> opened = endpoint->open_link(options, *interface); !opened) return tl::unexpected(opened.error());

  transport::DeviceConfig config;
  config.mac = interface->mac;
  config.gids = port::gid_entries(table);
  config.port_mtu = endpoint->max_path_mtu_;
  config.profile = transport::profile_of(options.profile);
  // Keys and numbers that nobody can guess.
  auto random = [source = std::make_shared<std::random_device>()] {
    return std::uint64_t{(*source)()} << 32 | (*source)();
  };
  config.first_qpn = static_cast<std::uint32_t>(random()) & 0x7F'FFFF;
  config.first_qpn = std::max(config.first_qpn, 0x11U);
  transport::VerbResult<transport::Device> device = transport::Device::make(std::move(config), random);
  if (!device) return cannot("cannot make the device: " + to_string(device.error()));
  endpoint->device_.emplace(std::move(*device));
  endpoint->port_.emplace(*endpoint->device_, *endpoint->link_, endpoint->neighbours_.get());
  endpoint->driver_.emplace(*endpoint->link_, *endpoint->port_);
  if (!options.pcap.empty()) {
    Outcome<Recorder> recorder = Recorder::create(options.pcap, options.interface);
    if (!recorder) return tl::unexpected(recorder.error());
    endpoint->recorder_.emplace(std::move(*recorder));
    endpoint->port_->set_tap(
        [recorder = &*endpoint->recorder_](port::Direction direction, Bytes frame, std::int64_t time) {
          recorder->record(direction, frame, time);
        });
  }
  if (options.bad_icrc) endpoint->hook_ = std::make_unique<BadIcrc>();
  return endpoint;
}

Outcome<void> Endpoint::open_raw(const EndpointOptions& options) {
  link::RawLinkOptions raw;
  raw.interface = options.interface;
  raw.filter = options.vlan >= 0 ? kTaggedRoceFilter : kRoceFilter;
  link::LinkResult<std::unique_ptr<link::RawLink>> opened = link::RawLink::open(raw);
  if (!opened) return cannot(opened.error().message);
  link_ = std::move(*opened);
  port_holder_.emplace();
  return {};
}

Outcome<void> Endpoint::open_udp(const EndpointOptions& options) {
  if (options.roce_v1) return cannot("--link udp carries RoCE v2 only; leave out --v1, or use --link raw");
  if (options.vlan >= 0) {
    return cannot("--link udp does not choose VLANs; take the VLAN device's name for -i and leave out --vlan");
  }
  link::UdpLinkOptions udp;
  udp.interface = options.interface;
  std::transform(gid_.octets.begin(), gid_.octets.end(), udp.local.begin(),
                 [](std::uint8_t octet) { return std::byte{octet}; });
  link::LinkResult<std::unique_ptr<link::UdpLink>> opened = link::UdpLink::open(udp);
  if (!opened) return cannot(opened.error().message);
  link_ = std::move(*opened);
  return {};
}

Outcome<void> Endpoint::open_link(const EndpointOptions& options, const port::Interface& interface) {
  std::string why;
  if (options.link != LinkChoice::udp) {
    Outcome<void> raw = open_raw(options);
    if (raw) {
      description_ = fmt::format("raw packet socket on {}", interface.name);
      why = options.link == LinkChoice::automatic ? " (the fastest that may be opened here)" : "";
      if (Outcome<void> opened = open_neighbours(options, interface); !opened) return opened;
    } else if (options.link == LinkChoice::raw) {
      return raw;
    } else {
      why = fmt::format(" (raw is not possible: {})", raw.error().message);
    }
  }
  if (link_ == nullptr) {
    if (Outcome<void> opened = open_udp(options); !opened) return opened;
    description_ = "UDP sockets";
  }
  description_ += fmt::format(", {} {}{}", options.roce_v1 ? "RoCE v1" : "RoCE v2", to_string(gid_), why);
  return {};
}

Outcome<void> Endpoint::open_neighbours(const EndpointOptions& options, const port::Interface& interface) {
  if (!options.peer_mac.empty()) {
    const Outcome<MacAddress> mac = parse_mac(options.peer_mac);
    if (!mac) return tl::unexpected(mac.error());
    neighbours_ = std::make_unique<port::StaticNeighbours>(*mac);
    return {};
  }
  port::Result<std::unique_ptr<port::Neighbours>> opened = port::open_kernel_neighbours(interface);
  if (!opened) return cannot(opened.error().message);
  neighbours_ = std::move(*opened);
  return {};
}

void Endpoint::adopt(Qpn qp) {
  // The QP was made a moment ago, so that it is known.
  if (hook_ != nullptr) (void)device_->set_hook(qp, hook_.get());
}

Outcome<void> Endpoint::close() {
  if (!recorder_) return {};
  port_->set_tap({});
  return recorder_->close();
}

}  // namespace roce::gen
