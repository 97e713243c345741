// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "roce/wire/packet.h"
#include "roce/wire/types.h"

namespace roce::plugin {

/// The parts of a CM message that matter for the rest of the connection.
struct CmMessage {
  std::uint16_t attribute = 0;            ///< MAD attribute
  std::uint32_t local_comm_id = 0;        ///< that of the sender
  std::uint32_t remote_comm_id = 0;       ///< 0 for a REQ
  Qpn qpn{};                              ///< for a REQ or REP: QPN of the sender
  std::uint64_t service_id = 0;           ///< for a REQ
  std::uint32_t offset = 0;               ///< offset in the bytes of the packet
  std::uint32_t size = 0;                 ///< in bytes
  std::uint32_t private_data_offset = 0;  ///< offset of the upper protocol's data, after the header of the RDMA IP CM
  std::uint32_t private_data_size = 0;
};

/// Reads a REQ, REP, RTU, REJ, DREQ or DREP. Returns nothing for another packet and for one not captured whole.
[[nodiscard]] std::optional<CmMessage> read_cm_message(const Packet& packet);

/// A connection that the CM sets up.
struct CmConnection {
  std::uint64_t service_id = 0;
  Qpn client_qpn{};  ///< QPN of the sender of the REQ
  Qpn server_qpn{};  ///< QPN of the sender of the REP; 0: no REP was seen
};

/// The connections that the CM messages of a capture set up, as known on the first pass.
class CmConnections {
 public:
  enum class News : std::uint8_t { none, requested, answered };
  struct Found {
    std::optional<CmConnection> connection{};  ///< the connection that the message belongs to
    News news = News::none;                    ///< what the message made known; nothing if it was sent before
  };

  /// Takes a message in the order of the capture. If memory runs out, the message belongs to no connection.
  Found observe(const CmMessage& message, const Gid& source, const Gid& destination) noexcept;
  void clear();

 private:
  struct Key {
    Gid end;
    std::uint32_t comm_id;
    friend auto operator<=>(const Key& a, const Key& b) {
      if (const auto order = a.end.octets <=> b.end.octets; std::is_neq(order)) return order;
      return a.comm_id <=> b.comm_id;
    }
    friend bool operator==(const Key&, const Key&) = default;
  };

  Found request(const CmMessage& message, const Key& sender);

  std::vector<CmConnection> connections_;
  std::map<Key, std::size_t> by_end_;  ///< the latest connection for a communication ID of either side
};

}  // namespace roce::plugin
