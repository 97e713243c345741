// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/endpoint.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <optional>

#include "roce/congestion/choice.h"
#include "roce/link/udp_link.h"
#include "roce/live/dcbx_text.h"
#include "roce/live/link_plan.h"
#include "roce/live/own_ip.h"
#include "roce/port/address_text.h"
#include "roce/port/interfaces.h"
#include "roce/port/link_speed.h"
#include "roce/port/udp_meta.h"
#include "roce/transport/loss_recovery_text.h"
#include "roce/transport/profile.h"
#include "roce/wire/path_mtu.h"

namespace roce::live {

namespace {

using XdpMode = link::XdpLinkOptions::Mode;

/// Frames that an endpoint has to see: RoCE v2 and v1, PAUSE and PFC.
constexpr std::string_view kRoceFilter = "udp dst port 4791 or ether proto 0x8915 or ether proto 0x8808";

/// Frames that an own address needs too; the hop-by-hop header is in front of multicast listener queries.
constexpr std::string_view kAddressFilter = "arp or icmp or igmp or icmp6 or ip6 proto 0";

/// Adds tagged frames: the kernel may leave a VLAN tag in place, and leaves the second of two, which the device counts.
[[nodiscard]] std::string also_tagged(const std::string& filter) {
  return fmt::format("{0} or (vlan and ({0}))", filter);
}

/// Makes the ICRC of every packet wrong by one bit.
class BadIcrc final : public transport::MisbehaviourHook {
 public:
  transport::TxVerdict on_transmit(std::span<std::byte> packet, Time) override {
    packet.back() ^= std::byte{1};
    return {};
  }
};

/// Returns the row of the GID table that the options select.
[[nodiscard]] Result<port::GidTableRow> choose_gid(const EndpointOptions& options, const port::Interface& interface,
                                                   const std::vector<port::GidTableRow>& table) {
  const auto type = options.roce_v1 ? transport::GidType::roce_v1 : transport::GidType::roce_v2;
  const auto in_chosen_vlan = [&](const port::GidTableRow& row) {
    return row.entry.vlan_id.has_value() ? *row.entry.vlan_id == options.vlan : options.vlan < 0;
  };
  if (options.gid_index >= 0 && !table.empty()) {
    const auto index = static_cast<std::size_t>(options.gid_index);
    if (index < table.size()) return table[index];
    return cannot(fmt::format("interface {} has GIDs 0 to {}, and no {}; roce-gen gids -i {} lists them",
                              interface.name, table.size() - 1, index, interface.name));
  }
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

/// Returns the interface with `address` added if that is a loopback address: Linux takes all of 127.0.0.0/8 for the
/// loopback interface's own, whether it is configured there or not.
[[nodiscard]] port::Interface with_loopback_address(port::Interface interface, const std::string& address) {
  constexpr std::uint8_t loopback_net = 127;
  constexpr std::uint8_t prefix_bits = 8;
  constexpr std::size_t ipv4_offset = 12;
  const std::optional<Gid> gid = port::parse_ip(address);
  if (!interface.loopback || !gid || !gid->is_ipv4_mapped() || gid->octets[ipv4_offset] != loopback_net) {
    return interface;
  }
  interface.addresses.push_back({*gid, prefix_bits});
  return interface;
}

/// Parses `PRIORITY:LOW:ENOUGH` into the thresholds of a device.
[[nodiscard]] Result<void> read_thresholds(const std::vector<std::string>& texts, transport::DeviceConfig& config) {
  for (const std::string& text : texts) {
    unsigned priority = 0;
    transport::ReceiveThresholds thresholds;
    int used = 0;
    const int read = std::sscanf(text.c_str(), "%u:%u:%u%n", &priority, &thresholds.low, &thresholds.enough, &used);
    const bool is_right = read == 3 && static_cast<std::size_t>(used) == text.size() && priority < 8 &&
                          text.find_first_not_of("0123456789:") == std::string::npos &&
                          thresholds.enough > thresholds.low;
    if (!is_right) {
      return cannot(
          fmt::format("pfc: expected PRIORITY:LOW:ENOUGH such as 3:16:64, the priority 0 … 7 and LOW "
                      "below ENOUGH, found \"{}\"",
                      text));
    }
    if (config.receive_thresholds[priority]) return cannot(fmt::format("pfc: priority {} is there twice", priority));
    config.receive_thresholds[priority] = thresholds;
  }
  return {};
}

/// Returns the factory of the congestion controls that the options ask for, and sets the device's notification point
/// where they are those of a card. No factory: none.
[[nodiscard]] Result<transport::CongestionFactory> read_congestion(const std::string& text,
                                                                   transport::DeviceConfig& config) {
  // A program wakes up late: under a rate it sends some packets together, as a card does.
  constexpr std::uint32_t usual_burst = 16'384;
  if (text.empty()) return transport::CongestionFactory{};
  tl::expected<congestion::Choice, std::string> choice = congestion::parse_choice(text);
  if (!choice) return cannot("congestion: " + choice.error());
  if (std::holds_alternative<std::monostate>(*choice)) return transport::CongestionFactory{};
  std::visit(
      [](auto& parameters) {
        if constexpr (requires { parameters.burst_bytes; }) {
          if (parameters.burst_bytes == 0) parameters.burst_bytes = usual_burst;
        }
      },
      *choice);
  if (const auto* card = std::get_if<congestion::Mlx5Parameters>(&*choice)) {
    if (card->min_time_between_cnps) config.cnp.interval = std::chrono::microseconds{*card->min_time_between_cnps};
    if (card->cnp_dscp) config.cnp.dscp = static_cast<std::uint8_t>(*card->cnp_dscp);
    if (card->cnp_802p_prio) config.cnp.priority = static_cast<std::uint8_t>(*card->cnp_802p_prio);
  }
  return transport::CongestionFactory{[choice = *choice](Qpn /*qp*/) { return congestion::make_control(choice); }};
}

[[nodiscard]] Result<port::Interface> usable_interface(const EndpointOptions& options) {
  port::Result<port::Interface> interface = port::find_interface(options.interface);
  if (!interface) return cannot(interface.error().message);
  if (interface->up) return std::move(*interface);
  return cannot(fmt::format("interface {0} is down; ip link set {0} up", interface->name));
}

/// Returns the speed of an interface, or a usual one, in bits a second.
[[nodiscard]] std::uint64_t speed_of(const std::string& interface) {
  return port::link_speed_bps(interface).value_or(port::Port::kUsualSpeed);
}

[[nodiscard]] Result<transport::Device> make_device(transport::DeviceConfig config, Random& random,
                                                    transport::CongestionFactory congestion) {
  // Keys and numbers must not be guessable.
  config.first_qpn = std::max(static_cast<std::uint32_t>(random.number()) & 0x7F'FFFFU, 0x11U);
  transport::VerbResult<transport::Device> device = transport::Device::make(
      std::move(config), [&random] { return random.number(); }, std::move(congestion));
  if (!device) return cannot("cannot make the device: " + to_string(device.error()));
  return std::move(*device);
}

}  // namespace

Endpoint::~Endpoint() {
  // The frames recorded before a failure are the ones that explain it.
  if (recorder_) (void)recorder_->close();
}

Result<std::unique_ptr<Endpoint>> Endpoint::open(const EndpointOptions& options) {
  Shards only_one;
  return open_one(options, only_one);
}

Result<std::unique_ptr<Endpoint>> Endpoint::open_on(std::unique_ptr<link::Link> link, const EndpointOptions& options) {
  if (link->kind() != link::LinkKind::ethernet) {
    return cannot("this link carries no Ethernet frames, which an address of its own needs; give an Ethernet link");
  }
  Shards only_one;
  return open_one(options, only_one, std::move(link));
}

Result<std::unique_ptr<Endpoint>> Endpoint::open_one(const EndpointOptions& options, Shards& shards,
                                                     std::unique_ptr<link::Link> given) {
  transport::DeviceConfig config;
  if (Result<void> read = read_thresholds(options.pfc, config); !read) return tl::unexpected(read.error());
  Result<transport::CongestionFactory> congestion = read_congestion(options.congestion, config);
  if (!congestion) return tl::unexpected(congestion.error());
  const auto recovery = transport::parse_loss_recovery(options.recovery);
  if (!recovery) return cannot("recovery: " + recovery.error());
  std::unique_ptr<Endpoint> endpoint{new Endpoint{options}};
  const bool is_stream = options.link == LinkChoice::stream;
  const bool has_interface = !is_stream && given == nullptr;
  if (options.seed && has_interface) {
    return cannot("a seed is for the stream link: on a network keys and numbers must not be guessed; leave it out");
  }
  const Result<port::Interface> interface = has_interface ? usable_interface(options)
                                            : is_stream   ? endpoint->open_stream(options)
                                                          : endpoint->take_link(std::move(given), options);
  if (!interface) return tl::unexpected(interface.error());
  endpoint->interface_ = interface->name;
  Result<std::vector<transport::GidEntry>> gids = endpoint->choose_address(options, *interface);
  if (!gids) return tl::unexpected(gids.error());
  if (Result<void> made = endpoint->make_dcbx(options, *interface); !made) return tl::unexpected(made.error());
  if (Result<void> opened = endpoint->open_link(options, *interface, shards); !opened)
    return tl::unexpected(opened.error());
  if (!options.pfc.empty() && endpoint->link_->kind() != link::LinkKind::ethernet) {
    return cannot("PFC is sent as Ethernet frames, which the UDP link cannot; use the raw link, or leave out pfc");
  }

  config.line_rate_bps = has_interface ? speed_of(interface->name) : port::Port::kUsualSpeed;
  config.mac = interface->mac;
  config.gids = std::move(*gids);
  config.port_mtu = endpoint->max_path_mtu_;
  config.shard_bits = shards.bits;
  config.shard = shards.next++;
  config.profile = transport::profile_of(options.profile);
  config.profile.recovery = *recovery;
  Result<transport::Device> device = make_device(std::move(config), endpoint->random_, std::move(*congestion));
  if (!device) return tl::unexpected(device.error());
  endpoint->device_.emplace(std::move(*device));
  port::OwnAddress* const own = endpoint->own_address_.get();
  endpoint->port_.emplace(*endpoint->device_, *endpoint->link_,
                          endpoint->neighbours_ != nullptr ? endpoint->neighbours_.get() : own, own,
                          endpoint->device_->config().line_rate_bps);
  endpoint->start_dcbx(options);
  if (options.note) endpoint->tell_segmentation(options);
  endpoint->driver_.emplace(*endpoint->link_, *endpoint->port_, endpoint->clock_, options.stop_fd);
  if (endpoint->time_source_ != nullptr) endpoint->driver_->follow(*endpoint->time_source_);
  if (!options.pcap.empty()) {
    Result<Recorder> recorder = Recorder::create(options.pcap, options.interface);
    if (!recorder) return tl::unexpected(recorder.error());
    endpoint->recorder_.emplace(std::move(*recorder));
    endpoint->port_->set_tap([recorder = &*endpoint->recorder_, &clock = endpoint->clock_](
                                 port::Direction direction, Bytes frame, std::int64_t time) {
      recorder->record(direction, frame, clock.is_simulated() ? clock.now().time_since_epoch().count() : time);
    });
  }
  if (options.bad_icrc) endpoint->hook_ = std::make_unique<BadIcrc>();
  if (options.before_first_frame) {
    if (Result<void> ready = options.before_first_frame(*endpoint); !ready) return tl::unexpected(ready.error());
  }
  if (Result<void> claimed = endpoint->claim_address(); !claimed) return tl::unexpected(claimed.error());
  return endpoint;
}

Result<std::vector<transport::GidEntry>> Endpoint::choose_address(const EndpointOptions& options,
                                                                  const port::Interface& interface) {
  if (!options.ip.empty()) {
    Result<std::unique_ptr<port::OwnAddress>> own = open_own_address(options, interface, now());
    if (!own) return tl::unexpected(own.error());
    own_address_ = std::move(*own);
    gid_ = parse_own_ip(options.ip)->gid;
    roce_v1_ = options.roce_v1;
    if (options.vlan >= 0) vlan_ = static_cast<std::uint16_t>(options.vlan);
    sgid_index_ = options.roce_v1 ? 0 : 1;
    max_path_mtu_ = largest_path_mtu(interface.mtu);
    std::vector<transport::GidEntry> gids;
    for (const transport::GidType type : {transport::GidType::roce_v1, transport::GidType::roce_v2}) {
      gids.push_back({.gid = gid_, .type = type});
      if (options.vlan >= 0) gids.back().vlan_id = static_cast<std::uint16_t>(options.vlan);
    }
    return gids;
  }
  const port::Result<std::vector<port::Interface>> interfaces = port::list_interfaces();
  if (!interfaces) return cannot(interfaces.error().message);
  const std::vector<port::GidTableRow> table =
      port::gid_table(with_loopback_address(interface, options.address), *interfaces);
  const Result<port::GidTableRow> row = choose_gid(options, interface, table);
  if (!row) return tl::unexpected(row.error());
  roce_v1_ = row->entry.type == transport::GidType::roce_v1;
  vlan_ = row->entry.vlan_id;
  gid_ = row->entry.gid;
  sgid_index_ = row->index;
  max_path_mtu_ = largest_path_mtu(row->mtu);
  return port::gid_entries(table);
}

Result<void> Endpoint::claim_address() {
  if (own_address_ == nullptr) return {};
  const Result<bool> ran = driver_->run([this](Time) {
    return own_address_->state() == port::OwnAddress::State::probing ? Driver::Step::idle : Driver::Step::done;
  });
  if (!ran) return tl::unexpected(ran.error());
  if (!*ran) return failed(fmt::format("stopped while asking whether another host has {}", to_string(gid_)));
  if (own_address_->state() != port::OwnAddress::State::owned) return cannot(own_address_->duplicate_text());
  return {};
}

Result<void> Endpoint::open_raw(const EndpointOptions& options, Shards& shards) {
  link::RawLinkOptions raw;
  raw.interface = options.interface;
  std::string filter{kRoceFilter};
  if (own_address_ != nullptr) filter += fmt::format(" or {}", kAddressFilter);
  if (dcbx_ != nullptr) filter += " or ether proto 0x88cc";
  raw.filter = also_tagged(filter);
  raw.segmentation = options.segmentation && !roce_v1_;
  raw.all_multicast = options.all_multicast || own_address_ != nullptr || dcbx_ != nullptr;
  if (shards.links.empty()) {
    link::LinkResult<std::vector<std::unique_ptr<link::RawLink>>> opened = link::RawLink::open_shards(raw, shards.bits);
    if (!opened) return cannot(opened.error().message);
    shards.links = std::move(*opened);
  }
  link_ = std::move(shards.links[shards.next]);
  // The kernel does not answer for an address that it does not have.
  if (own_address_ == nullptr && shards.next == 0) port_holder_.emplace();
  return {};
}

Result<void> Endpoint::open_udp(const EndpointOptions& options) {
  link::UdpLinkOptions udp;
  udp.interface = options.interface;
  udp.segmentation = options.segmentation;
  udp.local = port::address_of(gid_);
  link::LinkResult<std::unique_ptr<link::UdpLink>> opened = link::UdpLink::open(udp);
  if (!opened) return cannot(opened.error().message);
  link_ = std::move(*opened);
  return {};
}

Result<void> Endpoint::open_link(const EndpointOptions& options, const port::Interface& interface, Shards& shards) {
  using Kind = LinkPlan::Kind;
  const Result<LinkPlan> plan =
      plan_link({.choice = options.link,
                 .has_link = link_ != nullptr,
                 .own_address = own_address_ != nullptr,
                 .roce_v1 = roce_v1_,
                 .vlan = vlan_.has_value(),
                 .dcbx = dcbx_ != nullptr,
                 .xdp_settings = options.xdp_queues != 0 || options.xdp_mode != XdpMode::automatic,
                 .shards = options.shards});
  if (!plan) return tl::unexpected(plan.error());
  std::string why;
  Kind kind = plan->first;
  if (kind == Kind::xdp) {
    const std::string copies{own_address_ != nullptr ? kAddressFilter : std::string_view{}};
    Result<void> opened = open_xdp(options, vlan_.has_value() && !copies.empty() ? also_tagged(copies) : copies);
    if (!opened) return opened;
  } else if (kind == Kind::raw) {
    Result<void> raw = open_raw(options, shards);
    if (raw) {
      description_ = fmt::format("raw packet socket on {}", interface.name);
      if (options.link == LinkChoice::automatic) why = " (the fastest that may be opened here)";
    } else if (plan->or_udp) {
      kind = Kind::udp;
      why = fmt::format(" (raw is not possible: {})", raw.error().message);
    } else if (!plan->needs_raw.empty()) {
      return cannot(fmt::format("{} the raw link, and that is not possible: {}", plan->needs_raw, raw.error().message));
    } else {
      return raw;
    }
  }
  if (kind == Kind::udp) {
    if (Result<void> opened = open_udp(options); !opened) return opened;
    description_ = "UDP sockets";
  } else if (Result<void> opened = open_neighbours(options, interface); !opened) {
    return opened;
  }
  description_ += fmt::format(", {} {}{}", roce_v1_ ? "RoCE v1" : "RoCE v2", to_string(gid_), why);
  if (options.shards > 1) description_ += fmt::format(", {} shards", options.shards);
  return {};
}

void Endpoint::tell_segmentation(const EndpointOptions& options) {
  const link::Segmentation segmentation = link_->segmentation();
  const auto tell = [note = options.note](const std::string& text) { note("segmentation", text); };
  const auto tell_refusal = [tell](const std::string& why) { tell(fmt::format("packets go out one by one: {}", why)); };
  if (segmentation.max_segments > 1) {
    tell(fmt::format("the kernel cuts super-frames of up to {} packets and {} bytes", segmentation.max_segments,
                     segmentation.max_bytes));
    port_->set_on_refusal(tell_refusal);
  } else if (!options.segmentation) {
    tell_refusal("segmentation is switched off");
  } else {
    const std::string none = segmentation.refusal.empty() ? "this link sends none together" : segmentation.refusal;
    tell_refusal(roce_v1_ ? "the kernel cuts no RoCE v1" : none);
  }
}

Result<void> Endpoint::open_neighbours(const EndpointOptions& options, const port::Interface& interface) {
  if (!options.peer_mac.empty()) {
    const std::optional<MacAddress> mac = port::parse_mac(options.peer_mac);
    if (!mac) {
      return cannot(
          fmt::format("\"{}\" is not an Ethernet address; write it like 02:00:00:00:00:01", options.peer_mac));
    }
    neighbours_ = std::make_unique<port::StaticNeighbours>(*mac);
    return {};
  }
  if (own_address_ != nullptr) return {};
  port::Result<std::unique_ptr<port::Neighbours>> opened = port::open_kernel_neighbours(interface);
  if (!opened) return cannot(opened.error().message);
  neighbours_ = std::move(*opened);
  return {};
}

Result<void> Endpoint::join(const Gid& group) {
  if (own_address_ != nullptr) {
    if (own_address_->join(group, now())) return {};
    return cannot(fmt::format("{} is no multicast group of the kind of {}", to_string(group), to_string(gid_)));
  }
  Result<HostMembership> membership = HostMembership::join(interface_, group);
  if (!membership) return tl::unexpected(membership.error());
  memberships_.push_back(std::move(*membership));
  return {};
}

void Endpoint::adopt(Qpn qp) {
  // This cannot fail: the QP was created a moment ago.
  if (hook_ != nullptr) (void)device_->set_hook(qp, hook_.get());
}

Result<void> Endpoint::make_dcbx(const EndpointOptions& options, const port::Interface& interface) {
  if (options.dcbx.empty()) return {};
  Result<port::DcbxConfig> config = parse_dcbx(options.dcbx);
  if (!config) return cannot("dcbx: " + config.error().message);
  dcbx_ = std::make_unique<port::DcbxPeer>(std::move(*config), interface.mac, interface.name);
  return {};
}

void Endpoint::start_dcbx(const EndpointOptions& options) {
  if (dcbx_ == nullptr) return;
  const auto tell = [note = options.note, peer = dcbx_.get()] {
    if (note) note("dcbx", describe_dcbx(*peer));
  };
  port_->set_dcbx(dcbx_.get(), tell);
  tell();
}

Result<void> Endpoint::close() {
  port_->leave_dcbx();
  if (!recorder_) return {};
  port_->set_tap({});
  return recorder_->close();
}

}  // namespace roce::live
