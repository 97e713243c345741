// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "replay/connection_sides.h"
#include "replay/failure.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::replay {

/// Which of two sides sent a frame, by its connection or its addresses.
class SideSplit {
 public:
  /// Who is side 0: IP addresses, networks (`10.1.0.0/16`, `fd00::/8`), Ethernet addresses, queue pairs
  /// (`qp=0x11`, `qp=0x11@10.1.2.3`) and `clients`, who asked for their connections by CM; all others are side 1.
  /// Failure: which text is none of these.
  [[nodiscard]] static Outcome<SideSplit> make(const std::vector<std::string>& members);

  /// The ends of connections among the members; if there are any, `side_of` needs `set_connections`.
  [[nodiscard]] const SideEnds& ends() const { return ends_; }
  void set_connections(std::shared_ptr<const ConnectionSides> connections) { connections_ = std::move(connections); }

  /// The side of its source: 0 or 1. None where it has no end on side 0, so that it is unknown whether it passed
  /// between the sides at all. Its connection counts, else the innermost IP header or GRH, and without one the Ethernet
  /// addresses.
  [[nodiscard]] std::optional<std::uint8_t> side_of(const Packet& packet, Time time) const;

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
  SideEnds ends_;
  std::shared_ptr<const ConnectionSides> connections_{};
};

}  // namespace roce::replay
