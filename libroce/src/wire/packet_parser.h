// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>

#include "roce/wire/ethernet.h"
#include "roce/wire/ipv4.h"
#include "roce/wire/packet.h"

namespace roce {

/// Walks the headers of one frame and fills a Packet. Each header is checked against the end of the captured bytes and
/// against the end that the layer around it states, whichever comes first.
class PacketParser {
 public:
  PacketParser(Packet& packet, Bytes captured, std::uint32_t reported_length) : packet_(packet) {
    packet_.data_ = captured.data();
    packet_.captured_ = static_cast<std::uint32_t>(captured.size());
    packet_.reported_ = std::max(packet_.captured_, reported_length);
    packet_.bth_offset_ = packet_.network_offset_ = packet_.payload_offset_ = packet_.payload_size_ = 0;
    packet_.pad_size_ = packet_.layer_count_ = packet_.outer_count_ = packet_.chain_ = packet_.chain_bytes_ = 0;
    packet_.kind_ = PacketKind::other;
    packet_.version_ = RoceVersion::none;
    packet_.network_id_ = HeaderId::none;
    packet_.has_icrc_ = false;
    end_ = packet_.reported_;
    limit_ = packet_.captured_;
  }

  void parse_frame(LinkType link_type);
  void parse_transport(const NetMeta& net);

 private:
  // One function per layer, in link_layers.cc, network_layers.cc and transport_layers.cc. Each leaves `position_`
  // behind the bytes that it took.
  void link(LinkType link_type);
  void ether_type(EtherType type);
  void mac_control();
  void ip_by_version();
  void ipv4();
  void ipv6();
  void grh();
  void ip_protocol(IpProtocol protocol);
  void udp();
  void gre();
  void geneve();
  void erspan3();
  void mpls();
  void ethernet();
  void transport(RoceVersion version);
  void payload_and_icrc(std::uint8_t pad_count);
  /// Notes the place of a payload at `payload_offset`, if only the snap length hides the headers before it.
  void payload_of_cut_headers(std::uint32_t payload_offset, std::uint8_t pad_count);
  void management_datagram();

  /// Records the first problem; later ones follow from it.
  void note(ParseReason reason, HeaderId layer, std::uint32_t needed, std::uint32_t available) {
    if (packet_.problem_.reason == ParseReason::none) {
      packet_.problem_ = {reason, layer, position_, needed, available};
    }
  }

  /// True if there are `size` more bytes; if not, records how they are missing.
  [[nodiscard]] bool need(HeaderId id, std::uint32_t size) {
    if (size <= limit_ - position_) return true;
    if (size > end_ - position_) {
      note(ParseReason::truncated, id, size, end_ - position_);
    } else {
      note(ParseReason::cut_short, id, size, limit_ - position_);
    }
    return false;
  }

  /// Records a header for which `need` was called, and steps over it.
  [[nodiscard]] bool push(HeaderId id, std::uint32_t size) {
    if (packet_.layer_count_ == Packet::kMaxLayers) {
      note(ParseReason::too_many_headers, id, Packet::kMaxLayers + 1, Packet::kMaxLayers);
      return false;
    }
    packet_.layers_[packet_.layer_count_++] = {position_, static_cast<std::uint16_t>(size), id};
    position_ += size;
    return true;
  }

  [[nodiscard]] bool take(HeaderId id, std::uint32_t size) { return need(id, size) && push(id, size); }

  /// Takes header `H`; returns a pointer to it, or null.
  template <HeaderType H>
  [[nodiscard]] const std::byte* take() {
    const std::byte* header = here();
    return take(kHeader<H>.id, kSize<H>) ? header : nullptr;
  }

  /// Ends the packet where a layer ends, which begins at `start` and states a length of `length` bytes: W-ENC-3 (the
  /// packet ends where its length field says, not where the frame ends).
  void enclose(HeaderId id, std::uint32_t start, std::uint32_t length) {
    if (length > end_ - start) {
      note_at(start, ParseReason::bad_length, id, length, end_ - start);
      end_is_known_ = false;
      return;
    }
    end_ = start + length;
    limit_ = std::min(packet_.captured_, end_);
  }

  void note_at(std::uint32_t offset, ParseReason reason, HeaderId layer, std::uint32_t needed,
               std::uint32_t available) {
    if (packet_.problem_.reason == ParseReason::none) packet_.problem_ = {reason, layer, offset, needed, available};
  }

  [[nodiscard]] const std::byte* here() const { return packet_.data_ + position_; }

  Packet& packet_;
  std::uint32_t position_ = 0;
  std::uint32_t end_;    ///< end of the packet on the wire, by the lengths of the layers so far
  std::uint32_t limit_;  ///< the smaller of `end_` and the number of captured bytes
  bool end_is_known_ = true;
  bool fragmented_ = false;
};

}  // namespace roce
