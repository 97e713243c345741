// SPDX-License-Identifier: BSD-2-Clause
// Saves and restores a PauseTracker.
#include <type_traits>
#include <utility>

#include "analysis/state_members.h"
#include "roce/analysis/pause.h"

namespace roce::analysis {

namespace {

constexpr std::string_view kStateKind = "RPAU";

}  // namespace

template <>
inline constexpr std::size_t kMemberCount<PauseRun> = 4;
template <>
inline constexpr std::size_t kMemberCount<PauseCounts> = 9;
template <>
inline constexpr std::size_t kMemberCount<PauseSummary> = 8;

[[nodiscard]] inline bool is_possible(const PauseRun& run) {
  return run.length >= Duration{};
}
[[nodiscard]] inline bool is_possible(const PauseCounts& counts) {
  return counts.xoff_to_xon >= Duration{} && counts.longest_until_xon >= Duration{} &&
         counts.paused.value_or(Duration{}) >= Duration{};
}

template <>
struct StateAccess<PauseTracker> {
  template <typename Archive, typename Value>
  static void transfer(Archive& archive, Value& value) {
    archive(value.uncounted_frames_);
    if constexpr (std::is_const_v<Value>) {
      archive.number(value.links_.size());
      for (const auto& link : value.links_) transfer_link(archive, link);
      archive.number(value.stations_.size());
      for (const auto& [key, station] : value.stations_) transfer_station(archive, station);
    } else {
      for (std::size_t left = archive.count(kMostLinks); left != 0 && !archive.has_failed(); --left) {
        transfer_link(archive, value.links_.emplace_back());
      }
      for (std::size_t left = archive.count(); left != 0 && !archive.has_failed(); --left) {
        PauseTracker::Station station;
        transfer_station(archive, station);
        const std::pair key{station.summary.point, station.summary.source};
        if (!value.stations_.emplace(key, station).second) archive.refuse();
        // The pauses that are still in force are counted up to the time of the link's latest packet.
        if (key.first >= value.links_.size() || !value.links_[key.first].latest) archive.refuse();
      }
    }
  }

 private:
  /// A point is a number of 16 bits.
  static constexpr std::size_t kMostLinks = 1U << 16U;

  template <typename Archive, typename Link>
  static void transfer_link(Archive& archive, Link& link) {
    archive(link.latest);
    archive(link.has_ends);
    archive(link.common_ends);
  }

  template <typename Archive, typename Run>
  static void transfer_run(Archive& archive, Run& run) {
    archive(run.begin);
    archive(run.first);
    archive(run.end);
    archive(run.frames);
  }

  template <typename Archive, typename Station>
  static void transfer_station(Archive& archive, Station& station) {
    archive(station.summary);
    for (auto& pause : station.pauses) {
      auto& [active, begin, counted, xoff, xoff_time, end, run, sure_run] = pause;
      archive(active);
      archive(begin);
      archive(counted);
      archive(xoff);
      archive(xoff_time);
      archive(end);
      transfer_run(archive, run);
      transfer_run(archive, sure_run);
    }
  }
};

std::vector<std::byte> PauseTracker::save() const {
  StateWriter archive;
  archive(*this);
  return std::move(archive).sealed(kStateKind);
}

tl::expected<void, StateError> PauseTracker::restore(Bytes state) {
  StateReader archive{state, kStateKind};
  PauseTracker restored{options_};
  archive(restored);
  return archive.end().map([&] { *this = std::move(restored); });
}

}  // namespace roce::analysis
