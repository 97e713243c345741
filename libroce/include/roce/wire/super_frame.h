// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace roce {

/// Several RoCE v2 packets of equal size (the last may be shorter) behind one set of network headers, as a capture
/// shows them where the kernel or the NIC segments on the way out or coalesces on the way in (UDP GSO, GRO).
struct SuperFrame {
  std::uint32_t segment_size = 0;  ///< bytes from BTH through ICRC, of every packet but the last
  std::uint32_t count = 0;         ///< packets, at least 2
  std::uint16_t ip_id_step = 0;    ///< 1 when each packet's IPv4 identification is one more, 0 when all have the same

  friend constexpr bool operator==(const SuperFrame&, const SuperFrame&) = default;
};

/// Finds out whether a RoCE v2 packet whose ICRC is not good is really several. Segment sizes that the opcode or a BTH
/// in the right place suggest are tried, and one counts as found only when the ICRC of one of its packets comes out
/// right.
[[nodiscard]] std::optional<SuperFrame> find_super_frame(const Packet& packet);

/// The same where the segment size (BTH through ICRC) is known from elsewhere: only how the identifications go is to be
/// found out, by the ICRCs. Where none of them is good they are taken to count up, as the kernel's segmentation makes
/// them. None: no whole RoCE v2 packet of more than one segment.
[[nodiscard]] std::optional<SuperFrame> super_frame_of(const Packet& packet, std::uint32_t segment_size);

/// Packet `index` (below `count`) of a super-frame, as a view of the same bytes.
[[nodiscard]] Packet segment(const Packet& packet, const SuperFrame& super_frame, std::uint32_t index);
/// The same where many are looked at: `net` is `packet.net()`.
[[nodiscard]] Packet segment(const Packet& packet, const SuperFrame& super_frame, std::uint32_t index, NetMeta net);

/// Packet `index` (below `count`) as the frame that it is on the wire: the bytes in front of the BTH with lengths, IPv4
/// identification and IPv4 checksum of this packet, UDP checksum 0, then the packet. `whole` was parsed from a frame
/// that begins with its link layer.
void cut_frame(const Packet& whole, const SuperFrame& super_frame, std::uint32_t index, std::vector<std::byte>& frame);

/// Frames of one size that are the same but for some bytes.
struct FrameKind {
  std::vector<std::size_t> varying;  ///< where those are, from the begin of the frame on, ascending
};

/// A frame, or several that follow each other put together into one super-frame: the inverse of `cut_frame`. Only what
/// segmentation makes into just these frames again is put together, UDP checksums aside: RoCE v2 packets over Ethernet
/// with at most one VLAN tag, of one size, behind the same headers of right lengths and checksums, the UDP checksum 0,
/// IPv4 identifications counting up.
class SuperFrameBuilder {
 public:
  /// Begins with this frame, whatever it is. `kind`: all frames that come with the same one are of that kind, as long
  /// as there is this builder; of those only what varies is copied where another one was before.
  void begin(Bytes frame, const FrameKind* kind = nullptr);
  /// Puts `frame` behind those that are there if it belongs there, and the whole has at most `max_packets` packets and
  /// `max_bytes` bytes. False: nothing happened.
  [[nodiscard]] bool add(Bytes frame, std::uint32_t max_packets, std::size_t max_bytes,
                         const FrameKind* kind = nullptr);

  /// How many frames there are.
  [[nodiscard]] std::uint32_t count() const { return count_; }
  /// Of all of them together, as they are on a wire.
  [[nodiscard]] std::size_t wire_bytes() const { return count_ * frame_bytes_; }
  /// Bytes from BTH through ICRC of each packet of a super-frame; 0: there is a single frame.
  [[nodiscard]] std::uint32_t segment_size() const {
    return count_ > 1 ? static_cast<std::uint32_t>(frame_bytes_ - header_bytes_) : 0;
  }
  /// The frame, or the super-frame with lengths and IPv4 checksum of the whole. Valid until the next `begin` or `add`.
  [[nodiscard]] Bytes finish();

 private:
  void find_headers();
  [[nodiscard]] bool has_headers_of(Bytes frame, const FrameKind* kind) const;
  void place(Bytes frame, const FrameKind* kind);
  [[nodiscard]] std::size_t size() const { return header_bytes_ + count_ * (frame_bytes_ - header_bytes_); }

  std::vector<std::byte> bytes_;  ///< those of `size()`, and what is left of longer ones
  std::vector<std::byte> next_;   ///< the headers that the next frame has to have
  LayerList layers_;
  std::uint32_t count_ = 0;
  std::size_t frame_bytes_ = 0;      ///< of the first frame
  std::size_t header_bytes_ = 0;     ///< in front of the BTH; 0: nothing goes behind this frame
  std::size_t ipv4_offset_ = 0;      ///< of its header in the frame; 0: there is none
  std::uint16_t ip_id_ = 0;          ///< of the first frame
  const FrameKind* kind_ = nullptr;  ///< of the first frame
  std::size_t varying_packet_ = 0;   ///< the first of what varies in it that is not in front of the BTH
  std::uint32_t alike_ = 0;          ///< so many packets in `bytes_` are of `kind_`, behind headers of `alike_headers_`
  std::size_t alike_headers_ = 0;
  bool has_looked_for_headers_ = false;
};

/// Calls `use(packet, verdict)` for each RoCE packet in a frame: once for an ordinary frame, once for each packet of a
/// super-frame. The cost over check_icrc falls on frames whose ICRC is not good.
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
