// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command_line/outcome.h"
#include "replay/survey/connection_sides.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::replay {

/// Tells which of two sides sent a frame, by its connection or its addresses.
class SideSplit {
 public:
  /// Makes a split with these members on side 0: IP addresses, networks (`10.1.0.0/16`, `fd00::/8`), Ethernet
  /// addresses, queue pairs (`qp=0x11`, `qp=0x11@10.1.2.3`) and `clients`, the ends that asked for their connections by
  /// CM; all others are side 1. Failure: names the text that is none of these.
  [[nodiscard]] static Outcome<SideSplit> make(const std::vector<std::string>& members);

  /// Returns the ends of connections among the members; if there are any, `side_of` needs `set_connections`.
  [[nodiscard]] const SideEnds& ends() const { return ends_; }
  void set_connections(std::shared_ptr<const ConnectionSides> connections) { connections_ = std::move(connections); }

  /// Returns the side of a frame's source: 0 or 1; none if neither end is on side 0, so that it is unknown whether the
  /// frame passed between the sides at all. The connection decides; if it is not known, the innermost IP header or GRH,
  /// and if that is not on side 0, the Ethernet addresses.
  [[nodiscard]] std::optional<std::uint8_t> side_of(const Packet& packet, Time time) const;

 private:
  struct Network {
    Gid address{};
    unsigned bits = 0;  ///< prefix length, in bits of the GID
  };

  SideSplit() = default;
  [[nodiscard]] bool has(const Gid& gid) const;
  [[nodiscard]] bool has(const MacAddress& mac) const;

  std::vector<Network> networks_;
  std::vector<MacAddress> macs_;
  SideEnds ends_;
  std::shared_ptr<const ConnectionSides> connections_{};
};

}  // namespace roce::replay
