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

  /// Windows begin at multiples of `window`, which must be positive. Counts at most `most_pairs` pairs of hosts, and
  /// remembers so many packets for `lose`, 0 for a survey without it.
  explicit FanInSurvey(Duration window = kWindow, std::size_t most_pairs = std::size_t{1} << 20U,
                       std::size_t remembered = 0)
      : window_(window), most_pairs_(most_pairs), remembered_(remembered) {}
  FanInSurvey(const FanInSurvey&) = delete;
  FanInSurvey& operator=(const FanInSurvey&) = delete;
  FanInSurvey(FanInSurvey&&) = default;
  FanInSurvey& operator=(FanInSurvey&&) = default;
  ~FanInSurvey() = default;

  /// Counts a RoCE packet with payload, also one that is sent again. Left out are MADs, CNPs and packets with a wrong
  /// ICRC. `lost`: number of packets whose loss this packet shows, itself included; of a packet without payload it
  /// counts in the current window of its destination. A packet from before that window begins a window of its own.
  void observe(const Observation& packet, std::uint32_t lost = 0);

  /// Counts packets whose loss an earlier packet shows, as it is known now, in the window of that packet; see
  /// `observe`. It does not count if that packet is not remembered any more, was no data, or its window is more than
  /// 1,024 windows of its destination ago.
  void lose(PacketId packet, std::uint32_t lost);

  /// Returns the hosts that data came to so far, by capture point and address.
  [[nodiscard]] std::vector<FanInSummary> summaries() const;
  /// Returns the number of packets for whose hosts there was no room.
  [[nodiscard]] std::uint64_t uncounted_packets() const { return uncounted_; }
  /// Returns the number of losses that `lose` could not place.
  [[nodiscard]] std::uint64_t unplaced_losses() const { return unplaced_; }

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
    std::vector<std::size_t> latest;  ///< senders in the last windows before it, by their numbers modulo `kLatest`
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
  static constexpr std::size_t kLatest = 1024;

  /// What a destination was found to be.
  struct Known {
    Key key;
    Destination* destination = nullptr;  ///< null: not one of the `of` that there were
    std::size_t of = 0;
  };
  /// A packet, and the window that it came in.
  struct Remembered {
    PacketId packet{};
    Destination* destination = nullptr;
    Sender* sender = nullptr;  ///< null: it was no data
    std::uint64_t window_number = 0;
  };

  [[nodiscard]] const Found* find(const Observation& packet);
  [[nodiscard]] Destination* known(const Observation& packet);
  void remember(PacketId packet, Destination& destination, Sender* sender);

  Duration window_;
  std::size_t most_pairs_;
  std::map<Key, Destination> destinations_;
  std::array<Found, kRecent> recent_{};        ///< by the last octets of both addresses
  std::array<Known, kRecent> recent_known_{};  ///< by the last octet
  std::vector<Remembered> remembered_;         ///< by the frame modulo its size
  std::size_t pairs_ = 0;
  std::uint64_t uncounted_ = 0;
  std::uint64_t unplaced_ = 0;
};

}  // namespace roce::analysis
