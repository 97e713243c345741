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

/// What becomes of a check value that was wrong before a frame was changed.
enum class WrongCheck : std::uint8_t {
  repair,  ///< it is computed, and right
  keep,    ///< it is wrong again, in the same bits
  leave,   ///< it stays as it stands in the frame
};

/// The check values of a frame, to be made right again after the frame was changed: the checksum of every IPv4 header;
/// those of UDP, TCP and ICMPv6 over IP, unless UDP has none; the ICRC; and an Ethernet FCS at the end. What reaches
/// beyond the captured bytes is left as it is.
///
///     const FrameSeal seal{packet};
///     change(bytes);
///     seal.renew(parse_frame(bytes, link_type), bytes, WrongCheck::repair, WrongCheck::keep);
class FrameSeal {
 public:
  /// Notes how wrong each check value of a frame is. `packet` was parsed from its link layer or network header.
  explicit FrameSeal(const Packet& packet) : FrameSeal(packet, packet.bytes()) {}
  /// The same where `frame` has been changed since `packet` was parsed, and everything lies where it did.
  FrameSeal(const Packet& packet, Bytes frame);

  /// The bits in which the ICRC was wrong, 0 if it was right; none if it could not be checked.
  [[nodiscard]] std::optional<std::uint32_t> icrc_error() const { return icrc_error_; }
  /// How many other check values were wrong.
  [[nodiscard]] std::size_t wrong_checksums() const;

  /// Computes the check values of `frame`; `packet` says where everything lies in it. Headers that both frames have
  /// are told apart from the inside; values of headers that the first one did not have count as right. ICRCs that could
  /// not be checked before, and are there now, are computed.
  void renew(const Packet& packet, std::span<std::byte> frame, WrongCheck checksums, WrongCheck icrc) const;

 private:
  /// Of each check value, innermost header first, the bits in which it was wrong.
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
