// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyze/charts/psn_tracks.h"
#include "analyze/run/slowest_messages.h"

namespace roce::analyze {

/// A slow message, and the packets of its requester and of its responder from its first one to its answer.
struct MessageStory {
  analysis::Message message;
  std::int64_t first_psn = 0;  ///< of the message, from the first PSN of its requester
  std::vector<PsnPoint> packets;
  /// Packets between these that are known and not among them: they came before the packet of that frame, in time order.
  struct Break {
    std::uint64_t frame = 0;
    std::uint64_t packets = 0;
  };
  std::vector<Break> breaks;
};

/// Keeps the slowest messages of a capture with their packets. Memory does not depend on the capture.
class MessageStories {
 public:
  static constexpr std::size_t kMost = 20;
  static constexpr std::size_t kPackets = 60;  ///< of one message

  /// Takes a message when it has become known; `psns` has followed the capture until then.
  void add(const analysis::Message& message, PsnTracks& psns);
  /// Returns them, the slowest first, with what has become known of their packets since then.
  [[nodiscard]] std::vector<MessageStory> stories(const PsnTracks& psns) const;

 private:
  SlowestMessages<MessageStory> slowest_{kMost};
};

}  // namespace roce::analyze
