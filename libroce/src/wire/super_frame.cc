// SPDX-License-Identifier: BSD-2-Clause
#include "roce/wire/super_frame.h"

#include <algorithm>
#include <cstring>

#include "roce/wire/checksum.h"
#include "roce/wire/constants.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/ipv6.h"
#include "roce/wire/reth.h"
#include "roce/wire/udp.h"

namespace roce {

namespace {

constexpr std::uint32_t kSmallestPacket = static_cast<std::uint32_t>(kSize<Bth>) + kIcrcSize;

/// Tries segment sizes on one frame.
class Search {
 public:
  explicit Search(const Packet& packet)
      : packet_(packet),
        first_(packet.bytes().subspan(packet.bth_offset())),
        length_(packet.icrc_offset() + kIcrcSize - packet.bth_offset()) {}

  /// Cuts the frame at this size, whether an ICRC proves it or not.
  [[nodiscard]] std::optional<SuperFrame> run_with(std::uint32_t size) {
    if (size < kSmallestPacket || size >= length_) return std::nullopt;
    found_ = {size, (length_ + size - 1) / size, 0};
    if (packet_.net().ip_id.has_value() && !holds(size)) found_.ip_id_step = 1;
    return found_;
  }

  [[nodiscard]] std::optional<SuperFrame> run() {
    for (const std::uint32_t mtu : {256U, 512U, 1024U, 2048U, 4096U}) {
      if (packet_.info().payload == PayloadRule::exactly_mtu && proves(header_bytes() + mtu + kIcrcSize)) return found_;
    }
    if (const std::optional<Reth> reth = packet_.get<Reth>(); reth && reth->dma_length <= 4096) {
      const std::uint32_t padded = (reth->dma_length + 3) & ~3U;
      if (proves(header_bytes() + padded + kIcrcSize)) return found_;
    }
    // Bounds the work on a large damaged packet whose payload happens to look like headers.
    int attempts = 64;
    for (std::uint32_t size = kSmallestPacket; size + kSmallestPacket <= length_ && attempts > 0; size += 4) {
      if (!looks_like_bth(size)) continue;
      --attempts;
      if (proves(size)) return found_;
    }
    return std::nullopt;
  }

 private:
  [[nodiscard]] std::uint32_t header_bytes() const {
    return static_cast<std::uint32_t>(kSize<Bth>) + packet_.info().header_bytes;
  }

  /// True if a BTH of the same partition may begin `offset` bytes behind the first one.
  [[nodiscard]] bool looks_like_bth(std::uint32_t offset) const {
    if (offset + kSize<Bth> > first_.size()) return false;
    const std::byte* bth = first_.data() + offset;
    return FieldOf<&Bth::version>::get(bth) == 0 &&
           FieldOf<&Bth::p_key>::get(bth) == FieldOf<&Bth::p_key>::get(first_.data()) &&
           opcode_info(FieldOf<&Bth::opcode>::get(bth)).defined();
  }

  [[nodiscard]] bool proves(std::uint32_t size) {
    return size >= kSmallestPacket && size + kSmallestPacket <= length_ && holds(size);
  }

  /// True if an ICRC is right when the frame is cut at `size`. The first packet may be the damaged one, so a few are
  /// tried.
  [[nodiscard]] bool holds(std::uint32_t size) {
    found_ = {size, (length_ + size - 1) / size, 0};
    const bool counts_up = packet_.version() == RoceVersion::v2_ipv4;
    for (const std::uint16_t step : {std::uint16_t{1}, std::uint16_t{0}}) {
      if (step == 1 && !counts_up) continue;
      found_.ip_id_step = step;
      for (std::uint32_t i = 0; i < std::min(found_.count, 3U); ++i) {
        // The first packet is the same for both steps, so it cannot tell them apart.
        if (counts_up && i == 0) continue;
        if (good(i)) return true;
      }
    }
    found_.ip_id_step = 0;
    return good(0);
  }

  [[nodiscard]] bool good(std::uint32_t index) const {
    return check_icrc(segment(packet_, found_, index)).status == IcrcStatus::good;
  }

  const Packet& packet_;
  Bytes first_;
  std::uint32_t length_;
  SuperFrame found_;
};

/// True for RoCE v2 with a place for an ICRC, from which cuts can be measured.
[[nodiscard]] bool is_measured_v2(const Packet& packet) {
  const bool is_v2 = packet.version() == RoceVersion::v2_ipv4 || packet.version() == RoceVersion::v2_ipv6;
  const ParseError& problem = packet.problem();
  // A packet that ends inside its headers does not have such a place.
  const bool is_measured = problem.reason == ParseReason::none ||
                           (problem.reason == ParseReason::cut_short && problem.layer == HeaderId::payload);
  return packet.is_roce() && is_v2 && is_measured;
}

/// Sets lengths, identification and checksums in the headers to those of a frame of `frame_bytes`.
void put_right(std::span<std::byte> headers, std::size_t frame_bytes, const LayerList& layers, std::uint16_t ip_id) {
  for (const Layer& layer : layers) {
    std::byte* header = headers.data() + layer.offset;
    const auto length = static_cast<std::uint16_t>(frame_bytes - layer.offset);
    if (layer.id == HeaderId::ipv4) {
      FieldOf<&Ipv4::total_length>::set(header, length);
      FieldOf<&Ipv4::identification>::set(header, ip_id);
      FieldOf<&Ipv4::checksum>::set(header, ipv4_checksum({header, layer.size}));
    } else if (layer.id == HeaderId::ipv6) {
      FieldOf<&Ipv6::payload_length>::set(header, static_cast<std::uint16_t>(length - kSize<Ipv6>));
    } else if (layer.id == HeaderId::udp) {
      FieldOf<&Udp::length>::set(header, length);
      FieldOf<&Udp::checksum>::set(header, 0);
    }
  }
}

/// Sets the identification, and updates the checksum from its old value and the change (RFC 1624).
void set_identification(std::byte* ipv4, std::uint16_t ip_id) {
  const std::uint16_t before = FieldOf<&Ipv4::identification>::get(ipv4);
  const std::uint16_t checksum = FieldOf<&Ipv4::checksum>::get(ipv4);
  const std::uint64_t sum = std::uint64_t{static_cast<std::uint16_t>(~checksum)} +
                            std::uint64_t{static_cast<std::uint16_t>(~before)} + std::uint64_t{ip_id};
  FieldOf<&Ipv4::identification>::set(ipv4, ip_id);
  FieldOf<&Ipv4::checksum>::set(ipv4, detail::fold_checksum(sum));
}

/// True if the headers in front of a BTH are those that segmentation supports.
[[nodiscard]] bool are_segmentable(const Packet& packet, const LayerList& layers) {
  std::size_t i = 0;
  const auto next_is = [&](HeaderId id) { return i < layers.size() && layers[i].id == id; };
  if (!next_is(HeaderId::ethernet)) return false;
  ++i;
  if (next_is(HeaderId::vlan)) ++i;
  const bool has_options = next_is(HeaderId::ipv4) && layers[i].size != kSize<Ipv4>;
  if (has_options || !(next_is(HeaderId::ipv4) || next_is(HeaderId::ipv6))) return false;
  ++i;
  return next_is(HeaderId::udp) && layers[i].offset + layers[i].size == packet.bth_offset();
}

}  // namespace

// W-ENC-5 (a frame may hold several packets; only the ICRC proves where they begin)
std::optional<SuperFrame> find_super_frame(const Packet& packet) {
  if (!is_measured_v2(packet)) return std::nullopt;
  return Search{packet}.run();
}

std::optional<SuperFrame> super_frame_of(const Packet& packet, std::uint32_t segment_size) {
  if (!is_measured_v2(packet)) return std::nullopt;
  return Search{packet}.run_with(segment_size);
}

std::uint32_t captured_count(const Packet& packet, const SuperFrame& super_frame) {
  const std::size_t captured = packet.bytes().size() - packet.bth_offset();
  if (captured < kSize<Bth>) return 0;
  const auto begun = static_cast<std::uint32_t>((captured - kSize<Bth>) / super_frame.segment_size) + 1;
  return std::min(super_frame.count, begun);
}

Packet segment(const Packet& packet, const SuperFrame& super_frame, std::uint32_t index) {
  return segment(packet, super_frame, index, packet.net());
}

Packet segment(const Packet& packet, const SuperFrame& super_frame, std::uint32_t index, NetMeta net) {
  if (net.ip_id) net.ip_id = static_cast<std::uint16_t>(*net.ip_id + super_frame.ip_id_step * index);
  const std::uint32_t start = packet.bth_offset() + index * super_frame.segment_size;
  const std::uint32_t end = packet.icrc_offset() + kIcrcSize;
  const std::uint32_t length = std::min(super_frame.segment_size, end - start);
  const Bytes all = packet.bytes();
  const Bytes captured =
      start < all.size() ? all.subspan(start, std::min<std::size_t>(length, all.size() - start)) : Bytes{};
  return parse_transport(captured, net, length);
}

void cut_frame(const Packet& whole, const SuperFrame& super_frame, std::uint32_t index, std::vector<std::byte>& frame) {
  const Packet part = segment(whole, super_frame, index);
  const Bytes headers = whole.bytes().first(whole.bth_offset());
  frame.assign(headers.begin(), headers.end());
  frame.insert(frame.end(), part.bytes().begin(), part.bytes().end());
  put_right(frame, frame.size(), whole.layers(), part.net().ip_id.value_or(0));
}

void SuperFrameBuilder::begin(Bytes frame, const FrameKind* kind) {
  if (kind == nullptr || kind != kind_ || frame.size() != frame_bytes_ || bytes_.size() < frame.size()) alike_ = 1;
  bytes_.resize(std::max(bytes_.size(), frame.size()));
  std::copy(frame.begin(), frame.end(), bytes_.begin());
  kind_ = kind;
  frame_bytes_ = frame.size();
  count_ = 1;
  header_bytes_ = 0;
  has_looked_for_headers_ = false;
}

void SuperFrameBuilder::find_headers() {
  has_looked_for_headers_ = true;
  const Packet packet = parse_frame(Bytes{bytes_}.first(frame_bytes_), LinkType::ethernet);
  if (!is_measured_v2(packet) || packet.problem().reason != ParseReason::none) return;
  if (packet.icrc_offset() + kIcrcSize != frame_bytes_) return;
  layers_ = packet.layers();
  if (!are_segmentable(packet, layers_)) return;
  ip_id_ = packet.net().ip_id.value_or(0);
  const Bytes headers = packet.bytes().first(packet.bth_offset());
  next_.assign(headers.begin(), headers.end());
  put_right(next_, frame_bytes_, layers_, ip_id_);
  // If they differ, something in the headers is wrong on purpose, or is left to the segmentation.
  if (!std::equal(headers.begin(), headers.end(), next_.begin())) return;
  header_bytes_ = headers.size();
  const auto* ipv4 =
      std::find_if(layers_.begin(), layers_.end(), [](const Layer& layer) { return layer.id == HeaderId::ipv4; });
  ipv4_offset_ = ipv4 != layers_.end() ? ipv4->offset : 0;
  if (header_bytes_ != alike_headers_) alike_ = 1;
  alike_headers_ = header_bytes_;
  if (kind_ == nullptr) return;
  const auto& varying = kind_->varying;
  varying_packet_ = static_cast<std::size_t>(std::ranges::lower_bound(varying, header_bytes_) - varying.begin());
}

/// True if the frame has the headers that have to come next.
bool SuperFrameBuilder::has_headers_of(Bytes frame, const FrameKind* kind) const {
  // std::equal would compare values of type std::byte one by one.
  if (kind == nullptr || kind != kind_) return std::memcmp(next_.data(), frame.data(), header_bytes_) == 0;
  const auto is_same = [&](std::size_t at) { return next_[at] == frame[at]; };
  const auto is_same_field = [&](auto field) {
    for (std::size_t at = field.kFirstByte; at < field.kEndByte; ++at) {
      if (!is_same(ipv4_offset_ + at)) return false;
    }
    return true;
  };
  // These two have to change from packet to packet, whether they vary in the frames or not.
  if (ipv4_offset_ != 0 &&
      !(is_same_field(FieldOf<&Ipv4::identification>{}) && is_same_field(FieldOf<&Ipv4::checksum>{}))) {
    return false;
  }
  return std::ranges::all_of(std::span{kind->varying}.first(varying_packet_), is_same);
}

/// Writes the packet of a frame behind those that are already there.
void SuperFrameBuilder::place(Bytes frame, const FrameKind* kind) {
  const std::size_t end = size();
  const Bytes packet = frame.subspan(header_bytes_);
  if (kind == nullptr || kind != kind_) alike_ = std::min(alike_, count_);
  if (count_ < alike_) {
    std::byte* const to = bytes_.data() + end - header_bytes_;
    for (const std::size_t at : std::span{kind->varying}.subspan(varying_packet_)) to[at] = frame[at];
    return;
  }
  if (bytes_.size() < end + packet.size()) bytes_.resize(end + packet.size());
  std::memcpy(bytes_.data() + end, packet.data(), packet.size());
  if (kind != nullptr && kind == kind_ && alike_ == count_) ++alike_;
}

bool SuperFrameBuilder::add(Bytes frame, std::uint32_t max_packets, std::size_t max_bytes, const FrameKind* kind) {
  if (count_ >= max_packets || frame.size() != frame_bytes_) return false;
  if (!has_looked_for_headers_) find_headers();
  if (header_bytes_ == 0 || size() + frame_bytes_ - header_bytes_ > max_bytes) return false;
  if (ipv4_offset_ != 0) set_identification(next_.data() + ipv4_offset_, static_cast<std::uint16_t>(ip_id_ + count_));
  if (!has_headers_of(frame, kind)) return false;
  place(frame, kind);
  ++count_;
  return true;
}

Bytes SuperFrameBuilder::finish() {
  const std::span<std::byte> whole = std::span{bytes_}.first(size());
  if (count_ > 1) put_right(whole, whole.size(), layers_, ip_id_);
  return whole;
}

}  // namespace roce
