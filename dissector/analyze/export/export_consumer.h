// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <vector>

#include "analyze/export/interval_cells.h"
#include "analyze/export/table_writer.h"
#include "analyze/export/tables.h"
#include "analyze/run/event_order.h"
#include "analyze/session/analysis_session.h"
#include "analyze/session/chosen_streams.h"

namespace roce::analyze {

/// A table to export: which of its columns, and where to.
struct TableTask {
  TableId table{};
  std::vector<std::size_t> columns;  ///< indices, in order
  std::unique_ptr<TableOutput> output;
};

/// Makes rows of the findings of an analysis.
class ExportConsumer final : public AnalysisConsumer {
 public:
  /// The arguments must outlive it.
  ExportConsumer(const AnalysisSession& session, std::vector<TableTask>& tasks, std::string run,
                 std::int64_t interval_ns);

  void go_on_from(const CarriedState& state) override;
  void on_packet(const AnalysedPacket& packet) override;
  void on_verdict(const analysis::Verdict& verdict) override;
  void on_message(const analysis::Message& message) override;
  [[nodiscard]] bool lists(std::uint32_t stream) const override { return streams_ && chosen_.is_wanted(stream); }
  [[nodiscard]] bool is_over() const override;

  [[nodiscard]] bool wants_messages() const { return messages_.has_value(); }
  /// Writes what is left, and the streams.
  void finish(const AnalysisResult& result);

 private:
  /// Each row has a place in 44 columns, which are far from each other: of fewer rows at once none of their cache lines
  /// would have been fetched ahead.
  static constexpr std::size_t kPending = 256;

  void add_packet(const AnalysedPacket& packet);
  void add_datagram(const AnalysedPacket& packet);
  void add_message(const analysis::Message& message);
  void count_packet(const AnalysedPacket& packet);
  void count_verdict(const analysis::Verdict& verdict);

  const AnalysisSession& session_;
  ChosenStreams chosen_;
  RunFacts facts_;
  std::vector<PacketRow> pending_;  ///< rows of packets that are not in a batch yet
  EventOrder order_;
  IntervalCells cells_;
  std::optional<TableWriter<PacketRow>> packets_;
  std::optional<TableWriter<MessageRow>> messages_;
  std::optional<TableWriter<EventRow>> events_;
  std::optional<TableWriter<StreamRow>> streams_;
  std::optional<TableWriter<IntervalRow>> intervals_;
  bool needs_places_;
  BackgroundWriter background_;  // last, so that its thread has ended before what it works on goes
};

}  // namespace roce::analyze
