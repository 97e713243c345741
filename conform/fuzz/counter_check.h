// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace roce::conform::fuzz {

/// The counter of the packets that a device sent.
inline constexpr const char* kSentPackets = "sent_packets";

/// A counter of the device with an impossible value.
struct CounterDeviation {
  std::string counter;
  std::string what;                      ///< a sentence
  std::string place;                     ///< the same without numbers
  std::optional<std::uint64_t> least{};  ///< what it is at least once as much happened; empty: the frames that came
};

/// Judges the counters of a device, which others may make grow too: none goes back or vanishes, and at least the frames
/// that came from it were sent.
class CounterCheck {
 public:
  using Counters = std::map<std::string, std::uint64_t>;

  explicit CounterCheck(Counters now) : last_(std::move(now)) {}

  /// Judges the counters after the device has sent `frames` since the last call. Empty: they may be so.
  [[nodiscard]] std::optional<CounterDeviation> judge(Counters now, std::uint64_t frames);

 private:
  Counters last_;
};

}  // namespace roce::conform::fuzz
