// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "wireshark/parts/statistic.h"

namespace roce::plugin {

/// `-z roce,cc`: ECN and CNPs of each host pair, PFC and PAUSE of each station and priority. One row for each kind of
/// event that occurred, in the order of first occurrence.
class CongestionStatistic final : public Statistic {
 public:
  CongestionStatistic();

  void count(const TappedPacket& packet) override;
  void clear() override;

 private:
  enum class Event : std::uint8_t { ecn_capable, ce_marks, cnps, while_paused, xoff, xon, quanta };
  /// The GID of a host; for a station, its MAC address in the first six octets.
  using Place = std::array<std::uint8_t, 16>;
  static constexpr std::uint8_t kNone = 0xFF;  ///< not a priority
  static constexpr std::uint8_t kPause = 8;    ///< PAUSE, which applies to all priorities

  void add_for_pair(const analysis::Observation& seen, Event event);
  void add_for_station(const analysis::Observation& seen, std::uint8_t priority, std::uint16_t quanta);
  /// Adds to the row of an event; `name_of` and `ends` provide the texts of a new row.
  template <typename Ends>
  void add(const Place& from, const Place& to, std::uint8_t priority, Event event, std::uint64_t count, Ends ends);
  [[nodiscard]] static std::string name_of(std::uint8_t priority, Event event);

  std::map<std::tuple<Place, Place, std::uint8_t, Event>, std::size_t> by_key_;
  std::vector<std::uint64_t> counts_;  ///< by row
};

}  // namespace roce::plugin
