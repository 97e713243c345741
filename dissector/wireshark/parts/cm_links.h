// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "roce/analysis/observation.h"

namespace roce::plugin {

/// The CM messages of each connection, in the order of the capture.
class CmLinks {
 public:
  /// Links of one message; empty where there is none.
  struct Links {
    analysis::PacketId request{};  ///< the REQ, or the first message that was seen
    analysis::PacketId before{};
    analysis::PacketId next{};
  };

  /// Takes a packet; ignores one that is not a CM message of a connection.
  void observe(const analysis::Observation& observation);
  /// Returns the links of a message; all are empty for a packet that is none.
  [[nodiscard]] Links find(analysis::PacketId message) const;

 private:
  struct End {
    Gid address{};
    std::uint16_t point = 0;
    std::uint32_t comm_id = 0;
    friend auto operator<=>(const End& a, const End& b) {
      if (const auto order = a.address.octets <=> b.address.octets; std::is_neq(order)) return order;
      if (const auto order = a.point <=> b.point; std::is_neq(order)) return order;
      return a.comm_id <=> b.comm_id;
    }
    friend bool operator==(const End&, const End&) = default;
  };
  struct Connection {
    std::vector<analysis::PacketId> messages;
    bool has_ended = false;  ///< a REJ or DREP was seen: its communication IDs may be used again
  };
  struct Place {
    std::size_t connection = 0;
    std::size_t index = 0;  ///< in `Connection::messages`
  };

  /// Returns the number of the connection that a message belongs to.
  std::size_t connection_of(const analysis::Observation& observation);

  std::vector<Connection> connections_;
  std::map<End, std::size_t> by_end_;  ///< the latest connection of each end
  std::map<analysis::PacketId, Place> places_;
};

}  // namespace roce::plugin
