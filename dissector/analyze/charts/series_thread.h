// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "analyze/charts/report_series.h"

namespace roce::analyze {

/// Lets a report follow an analysis in a thread of its own, so that the analysis goes on meanwhile. The series gets all
/// it would get otherwise, in the same order. Passes everything on in the caller's thread. Memory is bounded.
class SeriesThread final : public AnalysisConsumer {
 public:
  /// `series` must outlive the object, and must not be used before `join`.
  SeriesThread(ReportSeries& series, AnalysisConsumer& next);
  SeriesThread(const SeriesThread&) = delete;
  SeriesThread& operator=(const SeriesThread&) = delete;
  ~SeriesThread() override;

  void on_packet(const AnalysedPacket& packet) override;
  void on_verdict(const analysis::Verdict& verdict) override;
  void on_message(const analysis::Message& message) override;
  void on_answer(const analysis::Answer& answer) override { next_.on_answer(answer); }
  [[nodiscard]] bool lists(std::uint32_t stream) const override { return next_.lists(stream); }

  /// Waits until the series has all; to be called once, when nothing more comes. Throws what the series threw.
  void join();

 private:
  static constexpr std::size_t kPackets = 2048;  ///< of a batch
  static constexpr std::size_t kBatches = 8;

  enum class Kind : std::uint8_t { packet, verdict, message };
  /// What came, each kind by itself, and in which order.
  struct Batch {
    std::vector<Kind> order;
    std::vector<analysis::Observation> seen;
    std::vector<analysis::PacketAnalysis> known;  ///< their verdicts are in `immediate`, one packet after the other
    std::vector<analysis::Verdict> immediate;
    std::vector<analysis::Verdict> verdicts;
    std::vector<analysis::Message> messages;
    std::optional<std::int64_t> start_ns;

    void clear();
  };

  void hand_over();
  void serve();
  void follow(Batch& batch);

  ReportSeries& series_;
  AnalysisConsumer& next_;
  std::unique_ptr<Batch> filling_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Batch>> full_;
  std::vector<std::unique_ptr<Batch>> empty_;
  bool is_over_ = false;
  std::exception_ptr failure_;
  std::thread thread_;
};

}  // namespace roce::analyze
