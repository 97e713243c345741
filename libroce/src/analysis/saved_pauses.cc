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
inline constexpr std::size_t kMemberCount<PauseCounts> = 7;
template <>
inline constexpr std::size_t kMemberCount<PauseSummary> = 5;

[[nodiscard]] inline bool is_possible(const PauseCounts& counts) {
  return counts.xoff_to_xon >= Duration{} && counts.longest_until_xon >= Duration{} &&
         counts.paused.value_or(Duration{}) >= Duration{};
}

template <>
struct StateAccess<PauseTracker> {
  template <typename Archive, typename Value>
  static void transfer(Archive& archive, Value& value) {
    archive(value.uncounted_frames_);
    archive(value.latest_);
    archive(value.has_ends_);
    archive(value.common_ends_);
    if constexpr (std::is_const_v<Value>) {
      archive.number(value.stations_.size());
      for (const auto& [source, station] : value.stations_) transfer_station(archive, station);
    } else {
      for (std::size_t left = archive.count(); left != 0 && !archive.has_failed(); --left) {
        PauseTracker::Station station;
        transfer_station(archive, station);
        const MacAddress source = station.summary.source;
        if (!value.stations_.emplace(source, station).second) archive.refuse();
      }
      // A tracker with stations has a latest packet: the pauses that are still in force are counted up to its time.
      if (!value.stations_.empty() && !value.latest_) archive.refuse();
    }
  }

 private:
  template <typename Archive, typename Station>
  static void transfer_station(Archive& archive, Station& station) {
    archive(station.summary);
    for (auto& pause : station.pauses) {
      auto& [active, begin, counted, xoff, xoff_time, end] = pause;
      archive(active);
      archive(begin);
      archive(counted);
      archive(xoff);
      archive(xoff_time);
      archive(end);
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
