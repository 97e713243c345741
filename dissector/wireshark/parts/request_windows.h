// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "roce/wire/time.h"
#include "wireshark/parts/request_channel.h"

namespace roce::plugin {

/// The PSNs that a requester has sent and that were not answered, and its shortest round trip, as the capture point
/// sees them.
class RequestWindows {
 public:
  struct Window {
    std::int64_t sent_end = 0;               ///< the PSN after the last one that was sent
    std::int64_t answered_end = 0;           ///< the PSN after the last one that was answered
    std::uint32_t most = 0;                  ///< the most PSNs that were in flight
    bool is_answered = false;                ///< the capture has responses of this channel
    Duration base_round_trip{};              ///< shortest time between a request and the response to it; 0: unknown
    std::optional<std::uint32_t> credits{};  ///< messages after `granted_at` that the latest ACK allows
    std::int64_t granted_at = 0;             ///< PSN of that ACK
  };

  /// Takes a request that uses `count` PSNs from `psn` on. Returns the PSNs in flight after it.
  std::uint32_t send(RequestChannel channel, std::int64_t psn, std::uint32_t count) {
    Window& window = windows_[channel];
    window.sent_end = std::max(window.sent_end, psn + count);
    const auto in_flight = static_cast<std::uint32_t>(
        std::clamp<std::int64_t>(window.sent_end - std::max<std::int64_t>(window.answered_end, 0), 0, kMost));
    window.most = std::max(window.most, in_flight);
    return in_flight;
  }
  /// Takes a response: everything before the PSN `end` has arrived.
  void answer(RequestChannel channel, std::int64_t end) {
    Window& window = windows_[channel];
    window.answered_end = std::max(window.answered_end, end);
    window.is_answered = true;
  }
  /// Takes the end-to-end credits of an ACK for `psn`, in messages; not set: it does not limit the requester.
  void grant(RequestChannel channel, std::int64_t psn, std::optional<std::uint32_t> credits) {
    Window& window = windows_[channel];
    window.credits = credits;
    window.granted_at = psn;
  }
  /// Takes the time between a request and the response to it.
  void round_trip(RequestChannel channel, Duration time) {
    if (time <= Duration{}) return;
    Duration& least = windows_[channel].base_round_trip;
    if (least == Duration{} || time < least) least = time;
  }
  void move(RequestChannel from, RequestChannel to) { windows_.move(from, to); }
  /// Forgets a channel, for another connection.
  void forget(RequestChannel channel) { windows_[channel] = {}; }
  /// Returns null for a channel without packets.
  [[nodiscard]] const Window* find(RequestChannel channel) const { return windows_.find(channel); }

 private:
  static constexpr std::int64_t kMost = 1 << 24;  // all PSNs

  PerChannel<Window> windows_;
};

}  // namespace roce::plugin
