// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "roce/wire/types.h"

namespace roce::plugin {

/// Where the packets of RC and UC streams come from. A packet only names the QP that it goes to; what goes the other
/// way names the QP it came from. What is known of a frame does not change when it is asked for again.
///
/// Upper protocols put messages together by the QPs of both ends. Where a source becomes known while packets without it
/// were seen, it is therefore used from the next message on.
class SourceQps {
 public:
  enum class News : std::uint8_t {
    none,
    both_known,  ///< the QPs of both ends are known from here on
    in_use,      ///< a source that was known is used from here on
  };

  /// Takes a packet of the first pass that goes one way (`direction`: 0 or 1) of a stream to `dest_qp`;
  /// `begins_message`: it is the first of a SEND. Without memory for it, the source stays unknown.
  News observe(std::uint32_t stream, std::uint8_t direction, Qpn dest_qp, bool begins_message,
               std::uint64_t frame) noexcept;
  /// The QP that the packets of a direction come from, as far as it was in use when `frame` was seen.
  [[nodiscard]] std::optional<Qpn> find(std::uint32_t stream, std::uint8_t direction, std::uint64_t frame) const;
  void clear() { streams_.clear(); }

 private:
  struct Source {
    Qpn qpn{};
    bool is_known = false;
    bool sent = false;        ///< packets that come from it were seen
    std::uint64_t since = 0;  ///< the frame from which on it is used; 0: none yet
  };
  std::vector<std::array<Source, 2>> streams_;
};

}  // namespace roce::plugin
