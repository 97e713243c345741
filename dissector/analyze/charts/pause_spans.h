// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "roce/analysis/observation.h"
#include "roce/analysis/pause.h"

namespace roce::analyze {

/// A time in which a station had paused its link partner.
struct PauseSpan {
  MacAddress station{};
  std::uint16_t point = 0;
  std::uint8_t priority = 0;  ///< `analysis::PauseSummary::kAll`: PAUSE
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;

  friend bool operator==(const PauseSpan&, const PauseSpan&) = default;
};

/// Finds the pauses between PFC and PAUSE frames. They add up to what `analysis::PauseTracker` counts: with a link
/// speed, to the time paused; without one, to the time from XOFF to XON, as it is unknown when a pause expires.
class PauseSpans {
 public:
  static constexpr std::size_t kMost = 20'000;     ///< spans that are kept; further ones are only passed on
  static constexpr std::size_t kStations = 4'096;  ///< as many as the analysis follows
  using Sink = std::function<void(const PauseSpan&)>;

  explicit PauseSpans(std::uint64_t link_bits_per_second) : speed_(link_bits_per_second) {}

  void observe(const analysis::Observation& packet, const Sink& sink);
  /// Ends what is still paused at `latest_ns`, where the capture ends. Without a link speed, that is left out.
  void finish(std::int64_t latest_ns, const Sink& sink);

  [[nodiscard]] const std::vector<PauseSpan>& spans() const { return spans_; }
  [[nodiscard]] std::uint64_t not_kept() const { return not_kept_; }

 private:
  struct Open {
    bool active = false;
    std::int64_t begin_ns = 0;
    std::int64_t end_ns = 0;  ///< only with a link speed
  };
  using Key = std::pair<std::uint16_t, MacAddress>;

  void apply(const Key& key, std::size_t priority, std::int64_t now, std::uint16_t quanta, const Sink& sink);
  void emit(const Key& key, std::size_t priority, std::int64_t end_ns, const Sink& sink);

  std::uint64_t speed_;
  std::map<Key, std::array<Open, analysis::PauseSummary::kAll + 1>> stations_;
  std::vector<PauseSpan> spans_;
  std::uint64_t not_kept_ = 0;
};

}  // namespace roce::analyze
