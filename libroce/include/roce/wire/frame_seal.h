// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"

namespace roce {

/// Treatment of a check value that was wrong before a frame was changed.
enum class WrongCheck : std::uint8_t {
  repair,  ///< it is computed, and is right
  keep,    ///< it is wrong again, in the same bits
  leave,   ///< it stays as it is in the frame
};

/// The check values of a frame, to be made right again after the frame was changed: the checksum of every IPv4 header;
/// those of UDP, TCP and ICMPv6 over IP, unless UDP has none; the ICRC; and an Ethernet FCS at the end.
/// A value that covers bytes beyond the captured ones is left as it is.
///
///     const FrameSeal seal{packet};
///     change(bytes);
///     seal.renew(parse_frame(bytes, link_type), bytes, WrongCheck::repair, WrongCheck::keep);
class FrameSeal {
 public:
  /// Records the wrong bits in each check value of a frame. `packet` was parsed from its link layer or network header.
  explicit FrameSeal(const Packet& packet) : FrameSeal(packet, packet.bytes()) {}
  /// As above, for a `frame` that was changed since `packet` was parsed, with everything still in its place.
  FrameSeal(const Packet& packet, Bytes frame);

  /// Returns the bits in which the ICRC was wrong, 0 if it was right; empty if it could not be checked.
  [[nodiscard]] std::optional<std::uint32_t> icrc_error() const { return icrc_error_; }
  /// Returns the number of other checksums that were wrong.
  [[nodiscard]] std::size_t wrong_checksums() const;

  /// Computes the check values of `frame`; `packet` has the places of everything in it. Headers of the two frames
  /// are matched from the innermost outwards; values of headers that the first frame did not have count as right.
  /// An ICRC that could not be checked before, and is there now, is computed.
  void renew(const Packet& packet, std::span<std::byte> frame, WrongCheck checksums, WrongCheck icrc) const;

 private:
  /// The bits in which each check value was wrong, innermost header first.
  struct Errors {
    std::array<std::uint16_t, LayerList::kCapacity> bits{};
    std::size_t count = 0;
  };

  Errors ipv4_;
  Errors upper_;
  std::optional<std::uint32_t> icrc_error_;
  bool has_fcs_ = false;
};

}  // namespace roce
