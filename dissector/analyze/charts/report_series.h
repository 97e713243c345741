// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "analyze/charts/congestion_curves.h"
#include "analyze/charts/level_curves.h"
#include "analyze/charts/message_stories.h"
#include "analyze/charts/pause_spans.h"
#include "analyze/charts/psn_tracks.h"
#include "analyze/run/analysis_run.h"
#include "page/pyramid.h"
#include "page/timeline_json.h"
#include "roce/analysis/fan_in.h"
#include "roce/analysis/histogram.h"
#include "roce/analysis/paths.h"
#include "roce/analysis/waits.h"

namespace roce::analyze {

/// The series of a report.
enum class SeriesId : std::uint8_t { goodput, resent, lost, nak, rnr, ce, cnp, latency, under_way, pause };
inline constexpr std::size_t kPlainSeries = static_cast<std::size_t>(SeriesId::pause);
/// Behind the plain series, one for each priority, and one for PAUSE, which holds for all; then one for each wait.
inline constexpr std::size_t kFirstWait = kPlainSeries + analysis::PauseSummary::kAll + 1;
inline constexpr std::size_t kAllSeries = kFirstWait + analysis::kWaits;

/// Returns the series by their numbers; a wait has the name of `to_string(WaitFor)` behind `wait_`.
[[nodiscard]] std::span<const page::SeriesInfo> report_series();

/// Follows an analysis and keeps what the plots of a report show, in bounded memory. Passes everything on.
class ReportSeries final : public AnalysisConsumer, private analysis::WaitTaker {
 public:
  /// `link_bits_per_second`: 0 unknown. `most_requesters`: as `waits` has.
  ReportSeries(AnalysisConsumer& next, std::uint64_t link_bits_per_second, std::size_t most_requesters);

  void go_on_from(const CarriedState& state) override { next_.go_on_from(state); }
  void on_packet(const AnalysedPacket& packet) override {
    follow(packet.observation, packet.analysis, packet.start_ns);
    next_.on_packet(packet);
  }
  void on_verdict(const analysis::Verdict& verdict) override {
    follow(verdict);
    next_.on_verdict(verdict);
  }
  void on_message(const analysis::Message& message) override {
    follow(message);
    next_.on_message(message);
  }
  void on_answer(const analysis::Answer& answer) override { next_.on_answer(answer); }
  [[nodiscard]] bool lists(std::uint32_t stream) const override { return next_.lists(stream); }

  /// The same, without passing it on. `start_ns`: as `AnalysedPacket` has it.
  void follow(const analysis::Observation& seen, const analysis::PacketAnalysis& known,
              std::optional<std::int64_t> start_ns);
  void follow(const analysis::Verdict& verdict);
  void follow(const analysis::Message& message);

  /// Ends the pauses and waits that go on; to be called once, when everything was seen.
  void finish();
  [[nodiscard]] page::Pyramid& pyramid() { return pyramid_; }
  [[nodiscard]] const PauseSpans& pauses() const { return pauses_; }
  [[nodiscard]] std::int64_t start_ns() const { return pyramid_.start_ns(); }  ///< where the time axis begins
  [[nodiscard]] const PsnTracks& psns() const { return psns_; }
  [[nodiscard]] std::vector<MessageStory> slowest() const { return slowest_.stories(psns_); }
  [[nodiscard]] const CongestionCurves& congestion() const { return congestion_; }
  [[nodiscard]] const UnderWayCurves& under_way() const { return under_way_; }
  [[nodiscard]] const analysis::WaitSurvey& waits() const { return waits_; }
  [[nodiscard]] const analysis::PathSurvey& paths() const { return paths_; }
  /// It knows of losses that come to light within 65,536 frames.
  [[nodiscard]] const analysis::FanInSurvey& fan_in() const { return fan_in_; }
  [[nodiscard]] std::uint64_t link_bits_per_second() const { return link_bits_per_second_; }  ///< 0 unknown
  /// Returns the latencies of completed messages, by type.
  [[nodiscard]] const std::array<analysis::Histogram, analysis::kMessageTypes>& latencies() const { return latencies_; }

 private:
  void add(SeriesId series, Time time, std::uint64_t value) {
    pyramid_.add(static_cast<std::size_t>(series), time.time_since_epoch().count(), value);
  }

  void take(const analysis::WaitSpan& span) override;
  void take(const analysis::UnderWay& under_way) override;

  AnalysisConsumer& next_;
  std::uint64_t link_bits_per_second_;
  std::int64_t latest_ns_ = std::numeric_limits<std::int64_t>::min();
  page::Pyramid pyramid_;
  PauseSpans pauses_;
  PsnTracks psns_;
  MessageStories slowest_;
  UnderWayCurves under_way_;
  CongestionCurves congestion_;
  analysis::WaitSurvey waits_;
  analysis::PathSurvey paths_;
  analysis::FanInSurvey fan_in_;
  std::array<analysis::Histogram, analysis::kMessageTypes> latencies_;
};

}  // namespace roce::analyze
