// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <vector>

#include "analyze/run/analysis_run.h"
#include "analyze/run/carried_state.h"

namespace roce::analyze {

/// Counts verdicts, and passes everything on.
class CountingConsumer final : public AnalysisConsumer {
 public:
  explicit CountingConsumer(AnalysisConsumer& next) : next_(next) {}

  void go_on_from(const CarriedState& state) override {
    counts_ = state.verdicts;
    of_point_ = state.point_verdicts;
    next_.go_on_from(state);
  }
  void on_packet(const AnalysedPacket& packet) override { next_.on_packet(packet); }
  void on_verdict(const analysis::Verdict& verdict) override {
    counts_.add(verdict);
    if (verdict.point >= of_point_.size()) of_point_.resize(verdict.point + std::size_t{1});
    of_point_[verdict.point].add(verdict);
    next_.on_verdict(verdict);
  }
  void on_message(const analysis::Message& message) override { next_.on_message(message); }
  void on_answer(const analysis::Answer& answer) override { next_.on_answer(answer); }
  void on_tick(RunSoFar& run) override { next_.on_tick(run); }
  [[nodiscard]] bool wants_packets() const override { return next_.wants_packets(); }
  [[nodiscard]] bool lists(std::uint32_t stream) const override { return next_.lists(stream); }
  [[nodiscard]] bool is_over() const override { return next_.is_over(); }

  /// Drops the losses of a stream that will not be listed.
  void forget(std::uint32_t stream) { counts_.losses_of_stream.erase(stream); }
  [[nodiscard]] const VerdictCounts& counts() const { return counts_; }
  [[nodiscard]] const std::vector<VerdictTotals>& of_points() const { return of_point_; }  ///< by number

 private:
  AnalysisConsumer& next_;
  VerdictCounts counts_;
  std::vector<VerdictTotals> of_point_;
};

}  // namespace roce::analyze
