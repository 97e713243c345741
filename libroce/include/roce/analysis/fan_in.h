// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::analysis {

/// Data that came to a host, and the harm that it took on the way.
struct FanInLoad {
  std::uint64_t windows = 0;  ///< windows in which any came
  std::uint64_t bytes = 0;    ///< of the frames
  std::uint64_t marked = 0;   ///< packets with CE
  std::uint64_t lost = 0;     ///< packets

  FanInLoad& operator+=(const FanInLoad& other);

  friend bool operator==(const FanInLoad&, const FanInLoad&) = default;
};

/// A window of time in which data came to a host.
struct FanInWindow {
  Time start{};
  PacketId first{};  ///< the first packet in it
  std::uint32_t senders = 0;
  std::uint64_t bytes = 0;

  friend bool operator==(const FanInWindow&, const FanInWindow&) = default;
};

/// The data of one sender.
struct FanInSender {
  Gid source{};
  FanInLoad load{};

  friend bool operator==(const FanInSender&, const FanInSender&) = default;
};

/// All data to one host, by how many hosts sent to it at once.
struct FanInSummary {
  std::uint16_t point = 0;  ///< `Observation::point`
  Gid destination{};
  std::vector<FanInLoad> levels;     ///< [n]: what came in the windows in which n + 1 hosts sent
  FanInWindow fullest{};             ///< the first of those with the most senders
  FanInWindow busiest{};             ///< the first of those with the most bytes
  std::vector<FanInSender> senders;  ///< that with the most bytes first

  /// Returns what came in windows in which `least` hosts or more sent.
  [[nodiscard]] FanInLoad from(std::size_t least) const;
  [[nodiscard]] FanInLoad all() const { return from(1); }
};

/// Counts how many hosts send data to a host at once, that is, within a window of time, and in which windows packets
/// are marked and lost: many senders to one port (incast) overrun its buffer, whatever each of them does. Bounded,
/// deterministic, without I/O and clock.
class FanInSurvey {
 public:
  static constexpr Duration kWindow{100'000};

  /// Windows begin at multiples of `window`, which must be positive. Counts at most `most_pairs` pairs of hosts.
  explicit FanInSurvey(Duration window = kWindow, std::size_t most_pairs = std::size_t{1} << 20U)
      : window_(window), most_pairs_(most_pairs) {}
  FanInSurvey(const FanInSurvey&) = delete;
  FanInSurvey& operator=(const FanInSurvey&) = delete;
  FanInSurvey(FanInSurvey&&) = default;
  FanInSurvey& operator=(FanInSurvey&&) = default;
  ~FanInSurvey() = default;

  /// Counts a RoCE packet with payload, also one that is sent again. Left out are MADs, CNPs and packets with a wrong
  /// ICRC. `lost`: number of packets whose loss this packet shows, itself included; of a packet without payload it
  /// counts in the current window of its destination. A packet from before that window begins a window of its own.
  void observe(const Observation& packet, std::uint32_t lost = 0);

  /// Returns the hosts that data came to so far, by capture point and address.
  [[nodiscard]] std::vector<FanInSummary> summaries() const;
  /// Returns the number of packets for whose hosts there was no room.
  [[nodiscard]] std::uint64_t uncounted_packets() const { return uncounted_; }

 private:
  struct Sender {
    FanInLoad load{};
    std::uint64_t last_window = 0;  ///< number of the last window in which it sent; 0: none
  };
  struct Destination {
    std::map<Gid, Sender> senders;
    std::uint64_t window_number = 0;  ///< of the current one, from 1; not of those without data
    FanInWindow window{};             ///< the current one
    FanInLoad load{};                 ///< of the current one
    FanInSummary past{};              ///< without its senders

    void add_window_to(FanInSummary& sum) const;
  };
  using Key = std::pair<std::uint16_t, Gid>;
  /// Where a pair of hosts was found.
  struct Found {
    Key key;
    Gid source;
    Destination* destination = nullptr;  ///< null: no pair yet
    Sender* sender = nullptr;
  };
  static constexpr std::size_t kRecent = 64;

  [[nodiscard]] const Found* find(const Observation& packet);

  Duration window_;
  std::size_t most_pairs_;
  std::map<Key, Destination> destinations_;
  std::array<Found, kRecent> recent_{};  ///< by the last octets of both addresses
  std::size_t pairs_ = 0;
  std::uint64_t uncounted_ = 0;
};

}  // namespace roce::analysis
