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

/// A CM message as those see it who come after it in the connection.
struct CmMessage {
  std::uint16_t attribute = 0;            ///< its MAD attribute
  std::uint32_t local_comm_id = 0;        ///< its sender's
  std::uint32_t remote_comm_id = 0;       ///< of a REQ: 0
  Qpn qpn{};                              ///< of a REQ or REP: its sender's
  std::uint64_t service_id = 0;           ///< of a REQ
  std::uint32_t offset = 0;               ///< where it begins in the bytes of the packet
  std::uint32_t size = 0;                 ///< bytes
  std::uint32_t private_data_offset = 0;  ///< of what the upper protocol put in; behind the header of the RDMA IP CM
  std::uint32_t private_data_size = 0;
};

/// The CM message of a packet: REQ, REP, RTU, REJ, DREQ or DREP. None: it has no other, or was not captured whole.
[[nodiscard]] std::optional<CmMessage> read_cm_message(const Packet& packet);

/// A connection that the CM sets up.
struct CmConnection {
  std::uint64_t service_id = 0;
  Qpn client_qpn{};  ///< of the sender of the REQ
  Qpn server_qpn{};  ///< of the sender of the REP; 0: none was seen
};

/// The connections of the CM messages of a capture, on the first pass.
class CmConnections {
 public:
  enum class News : std::uint8_t { none, requested, answered };
  struct Found {
    std::optional<CmConnection> connection{};  ///< that the message belongs to
    News news = News::none;                    ///< what it made known; a message sent again makes nothing known
  };

  /// Takes a message in the order of the capture. Without memory for its connection it belongs to none.
  Found observe(const CmMessage& message, const Gid& source, const Gid& destination) noexcept;
  void clear();

 private:
  struct Key {
    Gid end;
    std::uint32_t comm_id;
    friend auto operator<=>(const Key& a, const Key& b) {
      if (const auto order = a.end.octets <=> b.end.octets; order != 0) return order;
      return a.comm_id <=> b.comm_id;
    }
    friend bool operator==(const Key&, const Key&) = default;
  };

  Found request(const CmMessage& message, const Key& sender);

  std::vector<CmConnection> connections_;
  std::map<Key, std::size_t> by_end_;  ///< the last connection of a communication ID of either side
};

}  // namespace roce::plugin
