// SPDX-License-Identifier: BSD-2-Clause
#include "roce/port/port.h"

#include <algorithm>
#include <chrono>

#include "roce/port/dcbx_peer.h"
#include "roce/port/udp_meta.h"
#include "roce/wire/ethernet.h"
#include "roce/wire/frame_template.h"
#include "roce/wire/icrc.h"
#include "roce/wire/super_frame.h"

namespace roce::port {

namespace {

constexpr std::size_t kBatch = 64;
// The most batches that are sent in one round, before frames are received again.
constexpr int kTransmitsPerTurn = 4;
constexpr std::size_t kMaxEvents = 4096;
// Bytes that the device writes before they are sent: a few super-frames, which are still in the cache then.
constexpr std::size_t kSegmentedBuffer = 256 << 10;

// The time of work that waits already.
constexpr Time kAtOnce = Time::min();

/// Calls `use` with each packet of a super-frame, without the headers in front of its BTH.
template <typename Use>
void for_each_packet(const Packet& packet, const SuperFrame& parts, Use use) {
  for (std::uint32_t i = 0; i < parts.count; ++i) use(segment(packet, parts, i));
}
/// Calls `use` with each packet of a super-frame as a whole frame, which is made in `frame`.
template <typename Use>
void for_each_frame(const Packet& packet, const SuperFrame& parts, std::vector<std::byte>& frame, Use use) {
  for (std::uint32_t i = 0; i < parts.count; ++i) {
    cut_frame(packet, parts, i, frame);
    use(Bytes{frame});
  }
}

/// Converts to the packet of a frame, so that the packet is made where it stays.
struct InPlace {
  const link::RxFrame& frame;
  const NetMeta* net;  // for a link that hides the headers
  // NOLINTNEXTLINE(google-explicit-constructor)
  operator Packet() const {
    return net != nullptr ? parse_transport(frame.bytes, *net, frame.wire_length)
                          : parse_frame(frame.bytes, LinkType::ethernet, frame.wire_length);
  }
};

/// True if the frames of a link begin with the BTH: it hides the headers in front of it.
[[nodiscard]] bool hides_headers(const transport::TxCaps& caps) {
  return caps.link == transport::TxCaps::Link::transport;
}

/// Returns how a received super-frame divides into packets; nullopt if the frame is one packet.
[[nodiscard]] std::optional<SuperFrame> parts_of(const Packet& packet, const link::RxFrame& frame) {
  return frame.segment_size != 0 ? super_frame_of(packet, frame.segment_size) : std::nullopt;
}

/// Returns how a unit of several packets will be cut.
[[nodiscard]] SuperFrame parts_of(const transport::TxUnit& unit) {
  return {unit.segment_size, unit.segments, std::uint16_t{1}};
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
      buffer_(std::max(kBatch * link.max_bytes(), kSegmentedBuffer)),
      units_(kBatch),
      frames_(kBatch),
      pauses_(bits_per_second) {
  to_ourselves_.reserve(kBatch);
  caps_.link =
      link.kind() == link::LinkKind::udp ? transport::TxCaps::Link::transport : transport::TxCaps::Link::ethernet;
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
  // Its answers are not needed if `neighbours_` is another object.
  if (own_ != nullptr && own_ != neighbours_ && own_->next_timeout() <= now) (void)own_->poll(now);
  // This goes before all data: the other end goes on sending until it arrives.
  const link::LinkResult<std::size_t> held = send_pfc(now);
  if (!held) return tl::unexpected(held.error());
  const link::LinkResult<std::size_t> agreed = send_dcbx(now);
  if (!agreed) return tl::unexpected(agreed.error());
  const link::LinkResult<std::size_t> went = transmit(now);
  if (!went) return tl::unexpected(went.error());
  const link::LinkResult<std::size_t> own = send_own();
  if (!own) return tl::unexpected(own.error());
  return *came + *held + *agreed + *went + *own != 0;
}

Time Port::next_timeout() const {
  if (taken_ != came_) return kAtOnce;
  // Work was posted, or an address was learnt, since the last round.
  if (device_.has_output() && !wants_to_write()) return kAtOnce;
  if (own_ != nullptr && !own_->output().empty() && !own_waits_) return kAtOnce;
  Time next = std::min(device_.next_timeout(), pause_ends_);
  if (holding_) next = std::min(next, holding_->next_timeout());
  if (own_ != nullptr) next = std::min(next, own_->next_timeout());
  if (dcbx_ != nullptr && !dcbx_waits_) next = std::min(next, dcbx_->next_timeout());
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
  if (taken_ == came_) {
    link::LinkResult<std::size_t> count = link_.receive(received_);
    if (!count) return count;
    came_ = *count;
    taken_ = 0;
    const bool hidden = hides_headers(caps_);
    for (std::size_t i = 0; i < came_; ++i) {
      NetMeta net;
      if (hidden) net = net_of(received_[i].udp, received_[i].timestamp_ns);
      device_.prefetch(packets_[i].emplace(InPlace{received_[i], hidden ? &net : nullptr}));
    }
  }
  // A round takes no more packets than without super-frames: the program has to post receives in between.
  std::size_t packets = 0;
  while (taken_ < came_ && packets < kBatch) {
    const Packet& packet = *packets_[taken_];
    const link::RxFrame& frame = received_[taken_];
    if (tap_ && next_part_ == 0) show_received(packet, frame);
    if (const std::optional<SuperFrame> parts = parts_of(packet, frame)) {
      const NetMeta net = packet.net();
      // The headers are checked once: the packets that it is cut into do not have them.
      if (next_part_ == 0 && !device_.admits(packet)) next_part_ = parts->count;
      for (; next_part_ < parts->count && packets < kBatch; ++next_part_, ++packets) {
        device_.receive(segment(packet, *parts, next_part_, net), now);
      }
      if (next_part_ < parts->count) break;
      next_part_ = 0;
    } else {
      take(packet, frame, now);
      ++packets;
    }
    ++taken_;
  }
  return packets;
}

void Port::show_received(const Packet& packet, const link::RxFrame& frame) {
  const bool hidden = hides_headers(caps_);
  const auto show_one = [&](const Packet& one) {
    NetMeta net = one.net();
    net.ip_id = check_icrc(one).ip_id;
    show(Direction::received, one.bytes(), net, frame.timestamp_ns);
  };
  const std::optional<SuperFrame> parts = parts_of(packet, frame);
  if (!parts) return hidden ? show_one(packet) : show(Direction::received, frame.bytes, {}, frame.timestamp_ns);
  if (hidden) return for_each_packet(packet, *parts, show_one);
  for_each_frame(packet, *parts, segment_, [&](Bytes one) { show(Direction::received, one, {}, frame.timestamp_ns); });
}

void Port::take(const Packet& packet, const link::RxFrame& frame, Time now) {
  if (const std::optional<SuperFrame> parts = parts_of(packet, frame)) {
    if (!device_.admits(packet)) return;
    const NetMeta net = packet.net();
    for (std::uint32_t i = 0; i < parts->count; ++i) device_.receive(segment(packet, *parts, i, net), now);
    return;
  }
  if (!packet.is_roce()) {
    if (take_flow_control(packet, frame.bytes, now)) return;
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
    show_own(frame.bytes);
    ++taken;
  }
  return taken;
}

link::LinkResult<std::size_t> Port::flush() {
  std::size_t taken = 0;
  while (pending_ != pending_end_) {
    link::LinkResult<std::size_t> sent = link_.send(std::span{frames_}.subspan(pending_, pending_end_ - pending_));
    if (!sent) return sent;
    if (*sent == 0 && !cut_refused()) break;
    pending_ += *sent;
    taken += *sent;
  }
  return taken;
}

/// Replaces waiting super-frames by their packets if the link does not take super-frames any more; true if it did.
bool Port::cut_refused() {
  const link::Segmentation segmentation = link_.segmentation();
  if (segmentation.max_segments > 1 || frames_[pending_].segment_size == 0) return false;
  if (on_refusal_) std::exchange(on_refusal_, {})(segmentation.refusal);
  const std::vector<link::TxFrame> refused(frames_.begin() + static_cast<std::ptrdiff_t>(pending_),
                                           frames_.begin() + static_cast<std::ptrdiff_t>(pending_end_));
  cut_.clear();
  frames_.clear();
  for (const link::TxFrame& frame : refused) {
    if (frame.segment_size != 0) {
      cut_unit(frame);
    } else {
      frames_.push_back(frame);
    }
  }
  pending_ = 0;
  pending_end_ = frames_.size();
  frames_.resize(std::max(frames_.size(), kBatch));
  return true;
}

/// Puts the packets of a super-frame into `frames_`.
void Port::cut_unit(const link::TxFrame& frame) {
  const bool hidden = hides_headers(caps_);
  NetMeta net = net_of(frame.udp, 0);
  net.ip_id = 0;
  const Packet packet = hidden ? parse_transport(frame.bytes, net) : parse_frame(frame.bytes, LinkType::ethernet);
  const std::optional<SuperFrame> parts = super_frame_of(packet, frame.segment_size);
  if (!parts) return;
  const auto keep = [&](Bytes one) -> std::vector<std::byte>& {
    std::vector<std::byte>& bytes = cut_.emplace_back(one.begin(), one.end());
    frames_.push_back({bytes, frame.udp});
    return bytes;
  };
  if (!hidden) return for_each_frame(packet, *parts, segment_, keep);
  // A packet that is sent alone has IP identification 0.
  for_each_packet(packet, *parts, [&](const Packet& part) { move_icrc(keep(part.bytes()), part.net(), net); });
}

link::LinkResult<std::size_t> Port::transmit(Time now) {
  std::size_t moved = 0;
  for (int round = 0; round < kTransmitsPerTurn; ++round) {
    link::LinkResult<std::size_t> sent = flush();
    if (!sent) return sent;
    moved += *sent;
    if (pending_ != pending_end_) break;
    const link::Segmentation segmentation = link_.segmentation();
    caps_.max_segments = segmentation.max_segments;
    caps_.max_bytes = std::max(link_.max_bytes(), segmentation.max_bytes);
    const std::size_t count = device_.transmit(buffer_, units_, caps_, now);
    if (count == 0) {
      // The device may have wanted an address that is known.
      take_events(now);
      if (!device_.has_output()) break;
      continue;
    }
    const std::int64_t timestamp_ns = tap_ ? wall_clock() : 0;
    pending_ = pending_end_ = 0;
    for (const transport::TxUnit& unit : std::span{units_}.first(count)) {
      const std::uint16_t source_port = send_unit(unit);
      if (tap_) show_sent(unit, source_port, timestamp_ns);
    }
    moved += to_ourselves_.size();
    take_back_to_ourselves(now);
  }
  link::LinkResult<std::size_t> sent = flush();
  if (!sent) return sent;
  return moved + *sent;
}

void Port::show_sent(const transport::TxUnit& unit, std::uint16_t source_port, std::int64_t timestamp_ns) {
  NetMeta net = *unit.net;
  net.udp_source_port = source_port;
  if (unit.segments <= 1) return show(Direction::sent, unit.bytes, net, timestamp_ns);
  const SuperFrame parts = parts_of(unit);
  if (hides_headers(caps_)) {
    return for_each_packet(parse_transport(unit.bytes, net), parts,
                           [&](const Packet& part) { show(Direction::sent, part.bytes(), part.net(), timestamp_ns); });
  }
  for_each_frame(parse_frame(unit.bytes, LinkType::ethernet), parts, segment_,
                 [&](Bytes one) { show(Direction::sent, one, net, timestamp_ns); });
}

void Port::take_back_to_ourselves(Time now) {
  for (const transport::TxUnit& unit : to_ourselves_) {
    const Packet packet = parse_frame(unit.bytes, LinkType::ethernet);
    const link::RxFrame frame{.bytes = unit.bytes,
                              .wire_length = static_cast<std::uint32_t>(unit.bytes.size()),
                              .timestamp_ns = tap_ ? wall_clock() : 0,
                              .segment_size = unit.segments > 1 ? unit.segment_size : 0};
    if (tap_) show_received(packet, frame);
    take(packet, frame, now);
  }
  to_ourselves_.clear();
}

std::uint16_t Port::send_unit(const transport::TxUnit& unit) {
  const std::uint32_t segment_size = unit.segments > 1 ? unit.segment_size : 0;
  if (!hides_headers(caps_)) {
    if (FieldOf<&Ethernet::destination>::get(unit.bytes.data()) == device_.config().mac) {
      to_ourselves_.push_back(unit);
    } else {
      frames_[pending_end_++] = {unit.bytes, {}, segment_size};
    }
    return unit.net->udp_source_port;
  }
  link::TxFrame& frame = frames_[pending_end_++];
  frame.bytes = unit.bytes;
  frame.segment_size = segment_size;
  frame.udp = udp_of(*unit.net);
  frame.udp.source_port = link_.source_port(unit.net->udp_source_port);
  if (frame.udp.source_port == unit.net->udp_source_port) [[likely]]
    return frame.udp.source_port;
  NetMeta real = *unit.net;
  real.udp_source_port = frame.udp.source_port;
  for (std::size_t start = 0; start < unit.bytes.size(); start += unit.segment_size) {
    const std::size_t bytes = std::min<std::size_t>(unit.segment_size, unit.bytes.size() - start);
    move_icrc(unit.bytes.subspan(start, bytes), *unit.net, real);
  }
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
      // This is refused only if nothing waits for the address any more.
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

void Port::show_own(Bytes frame) {
  if (tap_) tap_(Direction::sent, frame, wall_clock());
}

void Port::show(Direction direction, Bytes bytes, const NetMeta& net, std::int64_t timestamp_ns) {
  if (!hides_headers(caps_)) return tap_(direction, bytes, timestamp_ns);
  const FrameTemplate headers = FrameTemplate::ethernet(net, MacAddress{}, MacAddress{});
  shown_.resize(headers.header_bytes() + bytes.size());
  headers.write_headers(shown_.data(), bytes.size(), net.ip_id.value_or(0));
  std::copy(bytes.begin(), bytes.end(), shown_.begin() + static_cast<std::ptrdiff_t>(headers.header_bytes()));
  tap_(direction, shown_, timestamp_ns);
}

}  // namespace roce::port
