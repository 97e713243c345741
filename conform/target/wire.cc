// SPDX-License-Identifier: BSD-2-Clause
#include "conform/target/wire.h"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <utility>

#include "conform/target/comm_ids.h"
#include "roce/live/resolve_mac.h"
#include "roce/port/interfaces.h"
#include "roce/wire/packet.h"
#include "roce/wire/path_mtu.h"
#include "roce/wire/super_frame.h"

namespace roce::conform {

namespace {

// Frames of a case are few, but some cases make hundreds at once while the agent is asked something.
constexpr std::size_t kRingBytes = 4 << 20;
// With segmentation offload each may be many packets.
constexpr std::size_t kBatch = 4;
constexpr std::size_t kBurst = 32;
// QPNs of one device, and of one instance on it: an instance has at most a few QPs.
constexpr std::uint32_t kQpnsOfDevice = 1U << 16U;
constexpr std::uint32_t kQpnsOfInstance = 256;

std::optional<Gid> own_gid(const port::Interface& interface, bool is_ipv4) {
  const auto found = std::ranges::find_if(interface.addresses, [&](const port::InterfaceAddress& address) {
    return address.gid.is_ipv4_mapped() == is_ipv4;
  });
  if (found == interface.addresses.end()) return std::nullopt;
  return found->gid;
}

/// Returns the kernel's filter for packets to the QPNs of one device and to QP1, so that those of others do not fill
/// its ring. The number of the device is in the first byte of the DestQP, which is byte 5 of the BTH.
std::string filter_of(std::uint32_t first_qpn, const Gid& device) {
  const std::uint32_t byte = first_qpn / kQpnsOfDevice;
  constexpr int ipv6_header = 40;
  constexpr int bth = 8;  // behind the UDP header
  const auto is_ours = [&](std::string_view header, int offset) {
    return fmt::format("({0}[{1}] = {2} or {0}[{3}:4] & 0xffffff = 1)", header, offset + 5, byte, offset + 4);
  };
  if (device.is_ipv4_mapped()) return "udp dst port 4791 and " + is_ours("udp", bth);
  return "ip6 proto 17 and " + is_ours("ip6", ipv6_header + bth);
}

/// Returns the time of a frame on the clock of the cases; `stamp` is the kernel's, since the Unix epoch.
Time time_of(std::int64_t stamp, Time now) {
  if (stamp == 0) return now;
  const auto wall = std::chrono::duration_cast<Duration>(std::chrono::system_clock::now().time_since_epoch());
  return std::min(now, now - (wall - Duration{stamp}));
}

}  // namespace

live::Result<std::unique_ptr<Wire>> Wire::open(const WireSettings& settings) {
  std::unique_ptr<Wire> wire{new Wire};
  wire->interface_ = settings.interface;
  wire->to_others_ = settings.to_others;
  wire->first_qpn_ = kQpnsOfDevice * (settings.number + 1);
  const port::Result<port::Interface> interface = port::find_interface(settings.interface);
  if (!interface) return live::cannot(interface.error().message);
  const std::optional<Gid> own = own_gid(*interface, settings.device.is_ipv4_mapped());
  if (!own) {
    return live::cannot(fmt::format("the device has the address {}, and {} has none of that kind; give it one",
                                    to_string(settings.device), settings.interface));
  }
  const live::Result<MacAddress> mac = live::resolve_mac(*interface, settings.device);
  if (!mac) return tl::unexpected(mac.error());
  wire->max_path_mtu_ = largest_path_mtu(interface->mtu);
  wire->port_ = {.version = settings.device.is_ipv4_mapped() ? RoceVersion::v2_ipv4 : RoceVersion::v2_ipv6,
                 .device_mac = *mac,
                 .tester_mac = interface->mac,
                 .device_gid = settings.device,
                 .tester_gid = *own};
  link::RawLinkOptions wanted;
  wanted.interface = settings.interface;
  wanted.ring_bytes = kRingBytes;
  wanted.filter = filter_of(wire->first_qpn_, settings.device);
  auto link = link::RawLink::open(wanted);
  if (!link) return live::cannot(link.error().message);
  wire->link_ = std::move(*link);
  return wire;
}

bool Wire::is_up() const {
  const port::Result<port::Interface> interface = port::find_interface(interface_);
  return interface && interface->up;
}

Qpn Wire::next_peers() {
  peers_ = first_qpn_ + kQpnsOfInstance * (instances_++ % (kQpnsOfDevice / kQpnsOfInstance));
  collect();
  came_.clear();
  hears_qp1_ = false;
  past_ids_.merge(own_ids_);
  own_ids_.clear();
  sent_ids_.clear();
  lost_before_ = link_->counters().receive_drops;
  return Qpn{peers_};
}

bool Wire::may_send(std::span<const std::byte> frame) const {
  if (to_others_) return true;
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const std::optional<Layer> ethernet = packet.find(HeaderId::ethernet);
  if (!ethernet || read<Ethernet>(packet.layer_bytes(*ethernet).data()).destination != port_.device_mac) return false;
  return packet.net().destination == port_.device_gid;
}

void Wire::send(std::span<const std::byte> frame) {
  send_all(std::array{link::TxFrame{.bytes = frame}});
}

void Wire::send_burst(std::span<const std::vector<std::byte>> frames) {
  std::array<link::TxFrame, kBurst> batch;
  while (!frames.empty()) {
    const auto now = frames.first(std::min(frames.size(), batch.size()));
    std::ranges::transform(now, batch.begin(), [](const auto& frame) { return link::TxFrame{.bytes = frame}; });
    send_all(std::span{batch}.first(now.size()));
    frames = frames.subspan(now.size());
  }
}

void Wire::send_all(std::span<const link::TxFrame> frames) {
  // A case may send thousands at once, and the ring has room for a few hundred answers.
  collect();
  if (hears_qp1_) note_ids(frames);
  while (!frames.empty()) {
    const link::LinkResult<std::size_t> sent = link_->send(frames);
    if (!sent) throw DeviceGone(sent.error().message, Damage::no_link);
    frames = frames.subspan(*sent);
    if (frames.empty() || *sent != 0) continue;
    pollfd room{link_->fd(), POLLOUT, 0};
    (void)::poll(&room, 1, 1);
  }
}

void Wire::collect() {
  while (collect_some()) {
  }
}

bool Wire::collect_some() {
  std::array<link::RxFrame, kBatch> frames;
  const link::LinkResult<std::size_t> count = link_->receive(frames);
  if (!count) throw DeviceGone(count.error().message, Damage::no_link);
  const Time now = clock_.now();
  for (const link::RxFrame& frame : std::span{frames}.first(*count)) {
    take(frame, time_of(frame.timestamp_ns, now));
  }
  return *count != 0;
}

void Wire::take(const link::RxFrame& frame, Time time) {
  const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
  if (!packet.is_roce() || packet.net().source != port_.device_gid) return;
  const std::uint32_t qpn = packet.bth().dest_qp.value();
  const bool is_own = qpn == 1 ? hears_qp1_ && is_of_instance(packet) : qpn - peers_ < kQpnsOfInstance;
  if (!is_own) return;
  const std::optional<SuperFrame> several =
      frame.segment_size != 0 ? super_frame_of(packet, frame.segment_size) : std::nullopt;
  if (!several) {
    came_.push_back({time, {frame.bytes.begin(), frame.bytes.end()}});
    return;
  }
  for (std::uint32_t i = 0; i < several->count; ++i) {
    came_.push_back({time, {}});
    cut_frame(packet, *several, i, came_.back().bytes);
  }
}

bool Wire::is_of_instance(const Packet& packet) {
  const CommIds ids = comm_ids_of(packet);
  // An answer names the tester's; a REQ, and a REJ of one that was never answered, can name the device's alone.
  if (ids.remote != 0) return sent_ids_.contains(ids.remote);
  if (ids.local == 0) return true;
  own_ids_.insert(ids.local);
  return !past_ids_.contains(ids.local);
}

void Wire::note_ids(std::span<const link::TxFrame> frames) {
  for (const link::TxFrame& frame : frames) {
    sent_ids_.insert(comm_ids_of(parse_frame(frame.bytes, LinkType::ethernet)).local);
  }
}

std::optional<SeenFrame> Wire::receive(Time until) {
  for (;;) {
    // A device that goes on sending must not keep a step from its first frame.
    (void)collect_some();
    if (!came_.empty()) {
      SeenFrame frame = std::move(came_.front());
      came_.pop_front();
      return frame;
    }
    const Duration left = until - clock_.now();
    if (left <= Duration{}) return std::nullopt;
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(left);
    const timespec wait{seconds.count(), static_cast<long>((left - seconds).count())};
    pollfd readable{link_->fd(), POLLIN, 0};
    (void)::ppoll(&readable, 1, &wait, nullptr);
  }
}

}  // namespace roce::conform
