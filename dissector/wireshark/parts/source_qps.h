// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roce/wire/types.h"

namespace roce::plugin {

/// The source QPs of RC and UC streams. A packet only names the QP that it goes to; packets in the opposite direction
/// name the QP that it came from. A repeated query for a frame always gives the same answer.
///
/// Upper protocols join the packets of a message by the QPs of both ends. If a source becomes known after packets
/// without it were seen, it is therefore used only from the next message on.
class SourceQps {
 public:
  enum class News : std::uint8_t {
    none,
    both_known,  ///< the QPs of both ends are known from now on
    in_use,      ///< a source that was known is used from now on
  };

  /// Takes a packet of the first pass that goes in one direction (`direction`: 0 or 1) of a stream to `dest_qp`.
  /// `begins_message`: the packet is the first of a SEND. If memory runs out, the source remains unknown.
  News observe(std::uint32_t stream, std::uint8_t direction, Qpn dest_qp, bool begins_message,
               std::uint64_t frame) noexcept;
  /// Returns the QP that the packets of a direction come from, if it was in use when `frame` was seen.
  [[nodiscard]] std::optional<Qpn> find(std::uint32_t stream, std::uint8_t direction, std::uint64_t frame) const;
  void clear() { streams_.clear(); }

 private:
  struct Source {
    Qpn qpn{};
    bool is_known = false;
    bool sent = false;        ///< packets that come from it were seen
    std::uint64_t since = 0;  ///< the first frame for which it is used; 0: not used yet
  };
  std::vector<std::array<Source, 2>> streams_;
};

}  // namespace roce::plugin
