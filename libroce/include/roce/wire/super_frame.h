// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace roce {

/// Several RoCE v2 packets of equal size (the last may be shorter) behind one set of network headers,
/// as a capture shows them if the kernel or the NIC segments on the way out or coalesces on the way in (UDP GSO, GRO).
struct SuperFrame {
  std::uint32_t segment_size = 0;  ///< bytes from BTH through ICRC, of every packet but the last
  std::uint32_t count = 0;         ///< packets, at least 2
  std::uint16_t ip_id_step = 0;    ///< 1 if each packet's IPv4 identification is one more, 0 if all have the same

  friend constexpr bool operator==(const SuperFrame&, const SuperFrame&) = default;
};

/// Finds out whether a RoCE v2 packet whose ICRC is not good is really several packets.
/// Tries the segment sizes that the opcode or a BTH in the right place suggests;
/// a size counts as found only if the ICRC of one of its packets is right.
[[nodiscard]] std::optional<SuperFrame> find_super_frame(const Packet& packet);

/// Does the same for a known segment size (BTH through ICRC): only the step of the identifications is found out,
/// from the ICRCs. If none of them is good, the identifications are taken to count up,
/// as the kernel's segmentation makes them. Empty: not a whole RoCE v2 packet of more than one segment.
[[nodiscard]] std::optional<SuperFrame> super_frame_of(const Packet& packet, std::uint32_t segment_size);

/// Returns how many packets of a super-frame were captured at least up to the end of their BTH: `count` unless a snap
/// length cut the frame.
[[nodiscard]] std::uint32_t captured_count(const Packet& packet, const SuperFrame& super_frame);

/// Returns packet `index` (below `count`) of a super-frame, as a view of the same bytes.
[[nodiscard]] Packet segment(const Packet& packet, const SuperFrame& super_frame, std::uint32_t index);
/// Returns the same packet, at less cost if many are looked at: `net` is `packet.net()`.
[[nodiscard]] Packet segment(const Packet& packet, const SuperFrame& super_frame, std::uint32_t index, NetMeta net);

/// Writes packet `index` (below `count`) to `frame` as the frame that it is on the wire:
/// the bytes in front of the BTH with the lengths, IPv4 identification and IPv4 checksum of this packet,
/// UDP checksum 0, then the packet. `whole` was parsed from a frame that begins with its link layer.
void cut_frame(const Packet& whole, const SuperFrame& super_frame, std::uint32_t index, std::vector<std::byte>& frame);

/// Frames of one size that are equal except for some bytes.
struct FrameKind {
  std::vector<std::size_t> varying;  ///< offsets of these bytes from the start of the frame, ascending
};

/// A frame, or several successive frames joined to one super-frame: the inverse of `cut_frame`.
/// Joins only frames that segmentation would make of the result again, UDP checksums aside:
/// RoCE v2 packets over Ethernet with at most one VLAN tag, of one size, behind the same headers
/// with right lengths and checksums, UDP checksum 0, IPv4 identifications counting up.
class SuperFrameBuilder {
 public:
  /// Begins with this frame, whatever it is. `kind`: all frames that are passed with the same one are of that kind,
  /// as long as this builder exists; only their varying bytes are copied where another frame of that kind was before.
  void begin(Bytes frame, const FrameKind* kind = nullptr);
  /// Appends `frame` if it belongs behind the others, and the whole has at most
  /// `max_packets` packets and `max_bytes` bytes. If it returns false, nothing happened.
  [[nodiscard]] bool add(Bytes frame, std::uint32_t max_packets, std::size_t max_bytes,
                         const FrameKind* kind = nullptr);

  /// Returns the number of frames.
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Returns the bytes of all frames together, as they are on a wire.
  [[nodiscard]] std::size_t wire_bytes() const { return count_ * frame_bytes_; }
  /// Returns the bytes from BTH through ICRC of each packet of a super-frame; 0 for a single frame.
  [[nodiscard]] std::uint32_t segment_size() const {
    return count_ > 1 ? static_cast<std::uint32_t>(frame_bytes_ - header_bytes_) : 0;
  }
  /// Returns the frame, or the super-frame with lengths and IPv4 checksum of the whole. Valid until `begin` or `add`.
  [[nodiscard]] Bytes finish();

 private:
  void find_headers();
  [[nodiscard]] bool has_headers_of(Bytes frame, const FrameKind* kind) const;
  void place(Bytes frame, const FrameKind* kind);
  [[nodiscard]] std::size_t size() const { return header_bytes_ + count_ * (frame_bytes_ - header_bytes_); }

  std::vector<std::byte> bytes_;  ///< the first `size()` bytes count; the rest is left from longer ones
  std::vector<std::byte> next_;   ///< headers that the next frame has to have
  LayerList layers_;
  std::uint32_t count_ = 0;
  std::size_t frame_bytes_ = 0;      ///< size of the first frame
  std::size_t header_bytes_ = 0;     ///< bytes in front of the BTH; 0: nothing can follow this frame
  std::size_t ipv4_offset_ = 0;      ///< offset of the IPv4 header in the frame; 0: there is none
  std::uint16_t ip_id_ = 0;          ///< identification of the first frame
  const FrameKind* kind_ = nullptr;  ///< kind of the first frame
  std::size_t varying_packet_ = 0;   ///< index of the first varying byte that is not in front of the BTH
  std::uint32_t alike_ = 0;          ///< packets in `bytes_` that are of `kind_`, behind headers of `alike_headers_`
  std::size_t alike_headers_ = 0;
  bool has_looked_for_headers_ = false;
};

/// Calls `use(packet, verdict)` for each packet in a frame: once for an ordinary frame,
/// once for each packet of a super-frame. Costs more than check_icrc only for frames whose ICRC is not good.
template <typename Use>
void for_each_packet(const Packet& packet, Use use) {
  const IcrcVerdict verdict = check_icrc(packet);
  if (verdict.status != IcrcStatus::good && packet.is_roce()) {
    if (const std::optional<SuperFrame> super_frame = find_super_frame(packet)) {
      for (std::uint32_t i = 0; i < super_frame->count; ++i) {
        const Packet part = segment(packet, *super_frame, i);
        use(part, check_icrc(part));
      }
      return;
    }
  }
  use(packet, verdict);
}

}  // namespace roce
