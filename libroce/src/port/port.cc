// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/port.h"

#include <algorithm>
#include <chrono>

#include "roce/wire/ethernet.h"
#include "roce/wire/frame_template.h"
#include "roce/wire/icrc.h"
#include "roce/wire/super_frame.h"

namespace roce::port {

namespace {

constexpr std::size_t kBatch = 64;
// What is sent in one round before the link is asked again what came in.
constexpr int kTransmitsPerTurn = 4;
constexpr std::size_t kMaxEvents = 4096;

/// Makes a packet where it stays.
struct InPlace {
  const link::RxFrame& frame;
  const NetMeta* net;  // of a link that hides the headers
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator Packet() const {
    return net != nullptr ? parse_transport(frame.bytes, *net, frame.wire_length)
                          : parse_frame(frame.bytes, LinkType::ethernet, frame.wire_length);
  }
};

[[nodiscard]] Gid gid_of(const std::array<std::byte, 16>& address) {
  Gid gid;
  std::transform(address.begin(), address.end(), gid.octets.begin(),
                 [](std::byte byte) { return std::to_integer<std::uint8_t>(byte); });
  return gid;
}

[[nodiscard]] std::array<std::byte, 16> address_of(const Gid& gid) {
  std::array<std::byte, 16> address{};
  std::transform(gid.octets.begin(), gid.octets.end(), address.begin(),
                 [](std::uint8_t octet) { return std::byte{octet}; });
  return address;
}

[[nodiscard]] NetMeta net_of(const link::UdpMeta& udp, std::int64_t timestamp_ns) {
  NetMeta net;
  net.source = gid_of(udp.source);
  net.destination = gid_of(udp.destination);
  net.version = net.destination.is_ipv4_mapped() ? RoceVersion::v2_ipv4 : RoceVersion::v2_ipv6;
  net.traffic_class = udp.traffic_class;
  net.hop_limit = udp.hop_limit;
  net.udp_source_port = udp.source_port;
  net.timestamp_ns = timestamp_ns;
  return net;
}

[[nodiscard]] link::UdpMeta udp_of(const NetMeta& net) {
  return {address_of(net.source), address_of(net.destination), net.udp_source_port, net.traffic_class, net.hop_limit};
}

[[nodiscard]] std::int64_t wall_clock() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

}  // namespace

Port::Port(transport::Device& device, link::Link& link, Neighbours* neighbours, OwnAddress* own,
           std::uint64_t bits_per_second)
    : device_(device),
      link_(link),
      neighbours_(neighbours),
      own_(own),
      received_(kBatch),
      packets_(kBatch),
      buffer_(kBatch * link.max_bytes()),
      units_(kBatch),
      frames_(kBatch),
      pauses_(bits_per_second) {
  to_ourselves_.reserve(kBatch);
  caps_.link =
      link.kind() == link::LinkKind::udp ? transport::TxCaps::Link::transport : transport::TxCaps::Link::ethernet;
  caps_.max_bytes = link.max_bytes();
  const auto& thresholds = device.config().receive_thresholds;
  const bool may_hold = std::any_of(thresholds.begin(), thresholds.end(), [](const auto& t) { return t.has_value(); });
  if (may_hold && link.kind() == link::LinkKind::ethernet) holding_.emplace(device.config().mac, bits_per_second);
}

link::LinkResult<bool> Port::turn(Time now) {
  const link::LinkResult<std::size_t> came = receive(now);
  if (!came) return tl::unexpected(came.error());
  if (pause_ends_ <= now) apply_pauses(now);
  if (device_.next_timeout() <= now) device_.advance(now);
  take_events(now);
  if (neighbours_ != nullptr && neighbours_->next_timeout() <= now) take_neighbours(now);
  // Whose answers nobody wants where others know the neighbours.
  if (own_ != nullptr && own_ != neighbours_ && own_->next_timeout() <= now) (void)own_->poll(now);
  // Before all data: who is to stop goes on sending until then.
  const link::LinkResult<std::size_t> held = send_pfc(now);
  if (!held) return tl::unexpected(held.error());
  const link::LinkResult<std::size_t> went = transmit(now);
  if (!went) return tl::unexpected(went.error());
  const link::LinkResult<std::size_t> own = send_own();
  if (!own) return tl::unexpected(own.error());
  return *came + *held + *went + *own != 0;
}

Time Port::next_timeout() const {
  // Work posted, or an address learnt, since the last round.
  if (device_.has_output() && !wants_to_write()) return Time::min();
  if (own_ != nullptr && !own_->output().empty() && !own_waits_) return Time{};
  Time next = std::min(device_.next_timeout(), pause_ends_);
  if (holding_) next = std::min(next, holding_->next_timeout());
  if (own_ != nullptr) next = std::min(next, own_->next_timeout());
  return neighbours_ != nullptr ? std::min(next, neighbours_->next_timeout()) : next;
}

std::optional<transport::Event> Port::poll_event(Time now) {
  take_events(now);
  if (events_.empty()) return std::nullopt;
  const transport::Event event = events_.front();
  events_.pop_front();
  return event;
}

link::LinkResult<std::size_t> Port::receive(Time now) {
  link::LinkResult<std::size_t> count = link_.receive(received_);
  if (!count) return count;
  const bool hidden = link_.kind() == link::LinkKind::udp;
  for (std::size_t i = 0; i < *count; ++i) {
    NetMeta net;
    if (hidden) net = net_of(received_[i].udp, received_[i].timestamp_ns);
    device_.prefetch(packets_[i].emplace(InPlace{received_[i], hidden ? &net : nullptr}));
  }
  for (std::size_t i = 0; i < *count; ++i) {
    const Packet& packet = *packets_[i];
    if (tap_) {
      NetMeta net;
      if (hidden) {
        net = packet.net();
        net.ip_id = check_icrc(packet).ip_id;
      }
      show(Direction::received, received_[i].bytes, net, received_[i].timestamp_ns);
    }
    take(packet, received_[i], now);
  }
  return count;
}

void Port::take(const Packet& packet, const link::RxFrame& frame, Time now) {
  if (frame.segment_size != 0 && packet.is_roce()) [[unlikely]] {
    if (const std::optional<SuperFrame> parts = find_super_frame(packet)) {
      for (std::uint32_t i = 0; i < parts->count; ++i) device_.receive(segment(packet, *parts, i), now);
      return;
    }
  }
  if (!packet.is_roce()) {
    if (pauses_.receive(packet, now)) return apply_pauses(now);
    if (own_ != nullptr && own_->receive(frame.bytes, now)) return;
  }
  device_.receive(packet, now);
}

link::LinkResult<std::size_t> Port::send_own() {
  std::size_t taken = 0;
  own_waits_ = false;
  if (own_ == nullptr) return taken;
  for (; !own_->output().empty(); own_->pop_output()) {
    const link::TxFrame frame{own_->output(), {}};
    link::LinkResult<std::size_t> sent = link_.send({&frame, 1});
    if (!sent) return sent;
    own_waits_ = *sent == 0;
    if (own_waits_) break;
    if (tap_) tap_(Direction::sent, frame.bytes, wall_clock());
    ++taken;
  }
  return taken;
}

link::LinkResult<std::size_t> Port::send_pfc(Time now) {
  if (!holding_) return std::size_t{0};
  // A newer frame says all that an older one did that still waits.
  pfc_waits_ = holding_->update(device_.low_priorities(), now) || pfc_waits_;
  if (!pfc_waits_) return std::size_t{0};
  const link::TxFrame frame{holding_->frame(), {}};
  link::LinkResult<std::size_t> sent = link_.send({&frame, 1});
  if (!sent || *sent == 0) return sent;
  pfc_waits_ = false;
  ++pfc_sent_;
  if (tap_) tap_(Direction::sent, frame.bytes, wall_clock());
  return sent;
}

void Port::apply_pauses(Time now) {
  const std::uint8_t paused = pauses_.paused(now);
  for (unsigned priority = 0; priority < 8; ++priority) {
    const unsigned bit = 1U << priority;
    if (((paused ^ paused_) & bit) == 0) continue;
    (void)device_.set_paused(static_cast<std::uint8_t>(priority), (paused & bit) != 0);
  }
  paused_ = paused;
  pause_ends_ = pauses_.next_end(now);
}

link::LinkResult<std::size_t> Port::flush() {
  std::size_t taken = 0;
  while (pending_ != pending_end_) {
    link::LinkResult<std::size_t> sent = link_.send(std::span{frames_}.subspan(pending_, pending_end_ - pending_));
    if (!sent) return sent;
    if (*sent == 0) break;
    pending_ += *sent;
    taken += *sent;
  }
  return taken;
}

link::LinkResult<std::size_t> Port::transmit(Time now) {
  std::size_t moved = 0;
  for (int round = 0; round < kTransmitsPerTurn; ++round) {
    link::LinkResult<std::size_t> sent = flush();
    if (!sent) return sent;
    moved += *sent;
    if (pending_ != pending_end_) break;
    const std::size_t count = device_.transmit(buffer_, units_, caps_, now);
    if (count == 0) {
      // It may be that an address was wanted, and is known.
      take_events(now);
      if (!device_.has_output()) break;
      continue;
    }
    const std::int64_t timestamp_ns = tap_ ? wall_clock() : 0;
    pending_ = pending_end_ = 0;
    for (const transport::TxUnit& unit : std::span{units_}.first(count)) {
      const std::uint16_t source_port = send_unit(unit);
      if (!tap_) continue;
      NetMeta real = *unit.net;
      real.udp_source_port = source_port;
      show(Direction::sent, unit.bytes, real, timestamp_ns);
    }
    for (const std::span<std::byte> bytes : to_ourselves_) {
      if (tap_) tap_(Direction::received, bytes, timestamp_ns);
      device_.receive(parse_frame(bytes, LinkType::ethernet), now);
    }
    moved += to_ourselves_.size();
    to_ourselves_.clear();
  }
  link::LinkResult<std::size_t> sent = flush();
  if (!sent) return sent;
  return moved + *sent;
}

std::uint16_t Port::send_unit(const transport::TxUnit& unit) {
  if (caps_.link == transport::TxCaps::Link::ethernet) {
    if (FieldOf<&Ethernet::destination>::get(unit.bytes.data()) == device_.config().mac) {
      to_ourselves_.push_back(unit.bytes);
    } else {
      frames_[pending_end_++].bytes = unit.bytes;
    }
    return unit.net->udp_source_port;
  }
  link::TxFrame& frame = frames_[pending_end_++];
  frame.bytes = unit.bytes;
  frame.udp = udp_of(*unit.net);
  frame.udp.source_port = link_.source_port(unit.net->udp_source_port);
  if (frame.udp.source_port == unit.net->udp_source_port) [[likely]]
    return frame.udp.source_port;
  NetMeta real = *unit.net;
  real.udp_source_port = frame.udp.source_port;
  move_icrc(unit.bytes, *unit.net, real);
  return frame.udp.source_port;
}

void Port::take_events(Time now) {
  while (const std::optional<transport::Event> event = device_.poll_event()) {
    if (event->type != transport::EventType::neighbour_wanted) {
      if (events_.size() < kMaxEvents) events_.push_back(*event);
    } else if (neighbours_ != nullptr) {
      const std::optional<MacAddress> mac = neighbours_->find(event->gid, event->vlan_id, now);
      if (!mac) {
        wanted_.emplace(event->gid, event->vlan_id);
        continue;
      }
      // Refused is only an address that nobody waits for any more.
      (void)device_.set_neighbour(event->gid, event->vlan_id, *mac);
      wanted_.erase({event->gid, event->vlan_id});
    }
  }
}

void Port::take_neighbours(Time now) {
  if (neighbours_ == nullptr) return;
  for (const Neighbours::Answer& answer : neighbours_->poll(now)) {
    (void)device_.set_neighbour(answer.ip, answer.vlan_id, answer.mac);
    wanted_.erase({answer.ip, answer.vlan_id});
  }
}

std::string Port::why_waiting() const {
  return wanted_.empty() ? std::string{} : neighbours_->why_unknown(wanted_.begin()->first, wanted_.begin()->second);
}

void Port::show(Direction direction, Bytes bytes, const NetMeta& net, std::int64_t timestamp_ns) {
  if (link_.kind() != link::LinkKind::udp) return tap_(direction, bytes, timestamp_ns);
  const FrameTemplate headers = FrameTemplate::ethernet(net, MacAddress{}, MacAddress{});
  shown_.resize(headers.header_bytes() + bytes.size());
  headers.write_headers(shown_.data(), bytes.size(), net.ip_id.value_or(0));
  std::copy(bytes.begin(), bytes.end(), shown_.begin() + static_cast<std::ptrdiff_t>(headers.header_bytes()));
  tap_(direction, shown_, timestamp_ns);
}

}  // namespace roce::port
