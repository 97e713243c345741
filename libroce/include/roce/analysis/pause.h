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

/// What one station asked of its link partner for one priority (IEEE 802.1Q, 36; 802.3, annexes 31B and 31D).
struct PauseCounts {
  std::uint64_t xoff = 0;        ///< frames that pause
  std::uint64_t xon = 0;         ///< frames that resume: quanta 0
  std::uint64_t quanta = 0;      ///< that were asked for, together: units of 512 bit times
  std::uint64_t ended = 0;       ///< pauses that an XON ended
  Duration xoff_to_xon{};        ///< of these, from their first XOFF to the XON: paused so long at most
  Duration longest_until_xon{};  ///< of these
  /// How long the partner was not to send: the union of all pauses, as far as the capture goes. Needs the link speed.
  std::optional<Duration> paused{};

  friend bool operator==(const PauseCounts&, const PauseCounts&) = default;
};

/// What one station asked for.
struct PauseSummary {
  /// Index in `counts` of PAUSE (802.3x), which holds for all priorities; those of PFC are 0 … 7.
  static constexpr std::size_t kAll = 8;

  MacAddress source{};       ///< who asked for silence
  std::uint64_t frames = 0;  ///< PFC and PAUSE
  PacketId first{};
  PacketId last{};
  std::array<PauseCounts, 9> counts{};

  friend bool operator==(const PauseSummary&, const PauseSummary&) = default;
};

/// A packet that was seen on its way to a station that had paused its priority.
struct PauseBreach {
  PacketId xoff{};     ///< the frame that began the pause
  Duration elapsed{};  ///< since that frame
};

/// The verdict `sent_while_paused` about `packet`, which belongs to `stream` (`kNoStream`: none).
[[nodiscard]] Verdict breach_verdict(const Observation& packet, const PauseBreach& breach, std::uint32_t stream);

struct PauseOptions {
  std::uint64_t link_bits_per_second = 0;  ///< of every link in the capture; 0 unknown
  std::size_t stations = 4096;             ///< that are remembered
};

/// Follows PFC and PAUSE frames, and tells which packets were sent in spite of them. Takes all packets of a capture in
/// its order; unlike connections, a pause concerns packets of all hosts. Deterministic, bounded, without I/O and clock.
///
/// A capture does not have the link speed. Without it, a pause is believed to end as early as on the fastest link in
/// use (800 Gbit/s), and the partner to take as long to stop as on a link of 10 Gbit/s.
///
/// These frames never leave their link, but they do not say who is on its other side. What goes to the MAC address of
/// the station that paused goes over that link (A-PFC-2), as long as the capture is of this one link: as long as every
/// frame with RoCE came from or went to that station.
class PauseTracker {
 public:
  explicit PauseTracker(const PauseOptions& options = {}) : options_(options) {}

  /// Takes the next packet.
  std::optional<PauseBreach> observe(const Observation& packet);

  /// What stations asked for until now, by address.
  [[nodiscard]] std::vector<PauseSummary> summaries() const;
  /// Frames of stations that there was no room to remember.
  [[nodiscard]] std::uint64_t uncounted_frames() const { return uncounted_frames_; }

  /// Everything that later packets are judged by, and what was counted; not the options.
  [[nodiscard]] std::vector<std::byte> save() const;
  /// Goes on from what a tracker of the same version saved; everything before is forgotten. Error: nothing has changed.
  [[nodiscard]] tl::expected<void, StateError> restore(Bytes state);

 private:
  struct Pause {
    bool active = false;  ///< no XON since the last XOFF
    Time begin{};         ///< of the first XOFF since then
    Time counted{};       ///< `PauseCounts::paused` has what was before
    PacketId xoff{};      ///< the XOFF since which the pause was never over
    Time xoff_time{};     ///< of that
    Time end{};           ///< when the pause in force is over, at the earliest
  };
  struct Station {
    PauseSummary summary;
    std::array<Pause, 9> pauses{};
  };

  friend struct StateAccess<PauseTracker>;

  void on_pause(const Observation& packet);
  void apply(Station& station, std::size_t priority, const Observation& packet, std::uint16_t quanta);
  void follow_link(const Observation& packet);
  [[nodiscard]] std::optional<PauseBreach> check(const Pause& pause, Time now) const;
  [[nodiscard]] Duration time_of(std::uint64_t quanta, std::uint64_t assumed_speed) const;

  PauseOptions options_;
  std::map<MacAddress, Station> stations_;
  std::uint64_t uncounted_frames_ = 0;
  std::optional<Time> latest_;
  bool has_ends_ = false;
  std::array<std::optional<MacAddress>, 2> common_ends_{};  ///< which every RoCE frame came from or went to
};

}  // namespace roce::analysis
