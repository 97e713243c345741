// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tl/expected.hpp>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/analysis/state_error.h"
#include "roce/analysis/verdict.h"
#include "roce/wire/time.h"
#include "roce/wire/types.h"

namespace roce::analysis {

template <typename T>
struct StateAccess;

/// XOFFs that followed each other without an XON, each before the timer of the one before it ran out.
struct PauseRun {
  Duration length{};         ///< from the first to the last, or to the XON that ended it in time
  std::uint64_t frames = 0;  ///< XOFFs in that time
  Time begin{};              ///< time of the first of them
  PacketId first{};          ///< the first of them

  friend bool operator==(const PauseRun&, const PauseRun&) = default;
};

/// Requests of one station to its link partner for one priority (IEEE 802.1Q, 36; 802.3, annexes 31B and 31D).
struct PauseCounts {
  std::uint64_t xoff = 0;        ///< frames that pause
  std::uint64_t xon = 0;         ///< frames that resume: quanta 0
  std::uint64_t quanta = 0;      ///< sum of the requested quanta: units of 512 bit times
  std::uint64_t ended = 0;       ///< pauses that an XON ended
  Duration xoff_to_xon{};        ///< sum over these, from the first XOFF to the XON: an upper bound of the time paused
  Duration longest_until_xon{};  ///< longest of these
  PauseRun longest_run{};        ///< on a link of the slowest speed, or of that which is known
  PauseRun sure_run{};           ///< the longest on a link of the fastest speed, or of that which is known
  /// Time for which the partner was not to send: the union of all pauses within the capture. Needs the link speed.
  std::optional<Duration> paused{};

  friend bool operator==(const PauseCounts&, const PauseCounts&) = default;
};

/// All pause requests of one station.
struct PauseSummary {
  /// Index in `counts` of PAUSE (802.3x), which holds for all priorities; the indexes of PFC are 0 … 7.
  static constexpr std::size_t kAll = 8;

  std::uint16_t point = 0;   ///< capture point at which it was seen: `Observation::point`
  MacAddress source{};       ///< the station that requested the pauses
  std::uint64_t frames = 0;  ///< PFC and PAUSE
  PacketId first{};
  PacketId last{};
  std::array<PauseCounts, 9> counts{};
  /// Address to which packets went by the station's MAC address after its first frame; not set: none went, or
  /// `has_several`.
  std::optional<Gid> host{};
  bool has_several = false;  ///< packets to several addresses did: it is a router

  friend bool operator==(const PauseSummary&, const PauseSummary&) = default;
};

/// A packet that was seen on its way to a station that had paused the packet's priority.
struct PauseBreach {
  PacketId xoff{};     ///< the frame that began the pause
  Duration elapsed{};  ///< time since that frame
};

/// Returns the verdict `sent_while_paused` about `packet`, which belongs to `stream` (`kNoStream`: none).
[[nodiscard]] Verdict breach_verdict(const Observation& packet, const PauseBreach& breach, std::uint32_t stream);

struct PauseOptions {
  std::uint64_t link_bits_per_second = 0;  ///< speed of every link in the capture; 0 unknown
  std::size_t stations = 4096;             ///< stations that are remembered
};

/// Follows PFC and PAUSE frames, and reports packets that were sent in spite of them. Takes all packets of a capture
/// in order; unlike connections, a pause concerns packets of all hosts. Deterministic, bounded, without I/O and clock.
///
/// A capture does not contain the link speed. Without it, a pause is assumed to end as early as on the fastest
/// link in use (800 Gbit/s), and the partner to take as long to stop as on a link of 10 Gbit/s.
///
/// These frames never leave their link, but do not identify the station on its other side.
/// A packet to the MAC address of the station that paused goes over that link (A-PFC-2, a pause holds for one link),
/// as long as its capture point is on this one link: as long as every frame with RoCE came from or went to that
/// station. Packets of different capture points (`Observation::point`) are on different links.
class PauseTracker {
 public:
  explicit PauseTracker(const PauseOptions& options = {}) : options_(options) {}

  /// Takes the next packet; returns a breach if it was sent during a pause.
  std::optional<PauseBreach> observe(const Observation& packet);

  /// Returns the requests of all stations so far, by capture point and address.
  [[nodiscard]] std::vector<PauseSummary> summaries() const;
  /// Returns the number of frames from stations for which there was no room.
  [[nodiscard]] std::uint64_t uncounted_frames() const { return uncounted_frames_; }

  /// Saves everything by which later packets are judged, and the counts; not the options.
  [[nodiscard]] std::vector<std::byte> save() const;
  /// Continues from what a tracker of the same version saved; forgets everything before. Error: nothing has changed.
  [[nodiscard]] tl::expected<void, StateError> restore(Bytes state);

 private:
  /// The XOFFs of `PauseRun`, so far.
  struct Run {
    Time begin{};
    PacketId first{};
    Time end{};                ///< the timer of the last one runs out
    std::uint64_t frames = 0;  ///< 0: an XON came
  };
  struct Pause {
    bool active = false;  ///< no XON since the last XOFF
    Time begin{};         ///< time of the first XOFF since then
    Time counted{};       ///< `PauseCounts::paused` covers the time before this
    PacketId xoff{};      ///< the XOFF since which the pause was never over
    Time xoff_time{};     ///< time of that XOFF
    Time end{};           ///< earliest end of the pause in force
    Run run{};            ///< by the latest end of each pause
    Run sure_run{};       ///< by the earliest end
  };
  struct Station {
    PauseSummary summary;
    std::array<Pause, 9> pauses{};
  };

  /// The link that is captured at a point.
  struct Link {
    std::optional<Time> latest;  ///< time of the latest packet
    bool has_ends = false;
    /// Stations that every RoCE frame came from or went to.
    std::array<std::optional<MacAddress>, 2> common_ends{};
  };

  friend struct StateAccess<PauseTracker>;

  void on_pause(const Observation& packet);
  void apply(Station& station, std::size_t priority, const Observation& packet, std::uint16_t quanta);
  void follow_link(Link& link, const Observation& packet);
  static void learn_host(PauseSummary& station, const Gid& host);
  static void follow_run(Run& run, PauseRun& longest, const Observation& packet, Duration timer);
  static void end_run(Run& run, PauseRun& longest, Time now);
  [[nodiscard]] std::optional<PauseBreach> check(const Pause& pause, Time now) const;
  [[nodiscard]] Duration time_of(std::uint64_t quanta, std::uint64_t assumed_speed) const;

  PauseOptions options_;
  std::map<std::pair<std::uint16_t, MacAddress>, Station> stations_;  ///< by capture point and address
  std::uint64_t uncounted_frames_ = 0;
  std::vector<Link> links_;  ///< by capture point
};

}  // namespace roce::analysis
