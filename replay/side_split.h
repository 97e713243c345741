// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "replay/failure.h"
#include "roce/wire/packet.h"

namespace roce::replay {

/// Which of two sides sent a frame, by its addresses.
class SideSplit {
 public:
  /// Who is side 0: IP addresses, networks (`10.1.0.0/16`, `fd00::/8`) and Ethernet addresses; all others are side 1.
  /// Failure: which text is none of these.
  [[nodiscard]] static Outcome<SideSplit> make(const std::vector<std::string>& addresses);

  /// The side of its source: 0 or 1. None where it has no end on side 0, so that it is unknown whether it passed
  /// between the sides at all. The innermost IP header or GRH counts, and without one the Ethernet addresses.
  [[nodiscard]] std::optional<std::uint8_t> side_of(const Packet& packet) const;

 private:
  struct Network {
    Gid address{};
    unsigned bits = 0;  ///< of the GID
  };

  SideSplit() = default;
  [[nodiscard]] bool has(const Gid& gid) const;
  [[nodiscard]] bool has(const MacAddress& mac) const;

  std::vector<Network> networks_;
  std::vector<MacAddress> macs_;
};

}  // namespace roce::replay
