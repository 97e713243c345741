// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/export/export_consumer.h"

#include <algorithm>
#include <utility>

#include "analyze/run/carried_state.h"
#include "analyze/run/datagram_message.h"

namespace roce::analyze {

namespace {

using analysis::kNoStream;

}  // namespace

ExportConsumer::ExportConsumer(const AnalysisSession& session, std::vector<TableTask>& tasks, std::string run,
                               std::int64_t interval_ns)
    : session_(session),
      chosen_(session),
      order_([this](std::uint64_t number, const analysis::Verdict& verdict) {
        if (!session_.is_wanted(verdict.stream) || !session_.is_chosen(verdict.packet)) return;
        events_->add({facts_, verdict, facts_.streams.find(verdict.stream), number});
      }),
      cells_(interval_ns,
             [this](const IntervalCells::Key& key, const TimeBin& counts) {
               intervals_->add({facts_, key.time_ns, cells_.width_ns(), key.point, key.stream, key.station,
                                facts_.streams.find(key.stream), counts});
             }),
      needs_places_(std::any_of(tasks.begin(), tasks.end(),
                                [](const TableTask& task) { return task.table != TableId::packets; })),
      background_(session.options().threads != 1) {
  facts_.run = std::move(run);
  facts_.names = &session.names();
  for (TableTask& task : tasks) {
    switch (task.table) {
      case TableId::packets:
        packets_.emplace(packet_columns(), task.columns, *task.output, background_);
        break;
      case TableId::messages:
        messages_.emplace(message_columns(), task.columns, *task.output, background_);
        break;
      case TableId::events:
        events_.emplace(event_columns(), task.columns, *task.output, background_);
        break;
      case TableId::streams:
        streams_.emplace(stream_columns(), task.columns, *task.output, background_);
        break;
      case TableId::intervals:
        intervals_.emplace(interval_columns(), task.columns, *task.output, background_);
        break;
    }
  }
}

void ExportConsumer::go_on_from(const CarriedState& state) {
  order_.go_on_from(state.verdicts.all());
  for (const analysis::StreamSummary& stream : state.open) facts_.streams.learn(stream);
  facts_.files = SeenFiles{state.files};
  facts_.points = SeenPoints{state.points};
}

void ExportConsumer::on_packet(const AnalysedPacket& packet) {
  facts_.files.learn(packet.file);
  facts_.points.learn(packet);
  if (needs_places_) facts_.streams.learn(packet);
  chosen_.learn(packet);
  if (messages_) add_datagram(packet);
  if (!session_.is_wanted(packet.analysis.stream) || !session_.is_chosen(packet.observation.id)) return;
  if (packets_) add_packet(packet);
  if (intervals_) count_packet(packet);
}

void ExportConsumer::add_packet(const AnalysedPacket& packet) {
  pending_.emplace_back(facts_, packet);
  if (pending_.size() < kPending) return;
  packets_->add_rows(pending_);
  pending_.clear();
}

void ExportConsumer::on_verdict(const analysis::Verdict& verdict) {
  if (events_) order_.add(verdict);
  if (!intervals_ || !session_.is_wanted(verdict.stream) || !session_.is_chosen(verdict.packet)) return;
  count_verdict(verdict);
}

void ExportConsumer::on_message(const analysis::Message& message) {
  if (!messages_ || !session_.is_wanted(message.stream)) return;
  const bool is_chosen =
      session_.is_chosen(message.first) || session_.is_chosen(message.last) || session_.is_chosen(message.answer);
  if (is_chosen) add_message(message);
}

void ExportConsumer::add_message(const analysis::Message& message) {
  messages_->add({facts_, message, facts_.streams.find(message.stream)});
}

void ExportConsumer::add_datagram(const AnalysedPacket& packet) {
  if (!session_.is_chosen(packet.observation.id) || !session_.is_wanted(packet.analysis.stream)) return;
  if (const auto message = message_of_datagram(packet)) add_message(*message);
}

void ExportConsumer::count_packet(const AnalysedPacket& packet) {
  const analysis::Observation& seen = packet.observation;
  const std::int64_t time = seen.time.time_since_epoch().count();
  if (seen.kind != PacketKind::roce) {
    if (seen.pauses()) ++cells_.at({time, seen.point, kNoStream, seen.source_mac}).xoff;
    return;
  }
  count(packet, cells_.at({time, seen.point, packet.analysis.stream, {}}));
}

void ExportConsumer::count_verdict(const analysis::Verdict& verdict) {
  const auto counter = counter_of(verdict.kind);
  if (counter == nullptr) return;
  cells_.at({verdict.time.time_since_epoch().count(), verdict.point, verdict.stream, {}}).*counter +=
      weight_of(verdict);
}

bool ExportConsumer::is_over() const {
  const auto ended = [](const auto& writer) { return writer && writer->is_over(); };
  return ended(packets_) || ended(messages_) || ended(events_) || ended(streams_) || ended(intervals_);
}

void ExportConsumer::finish(const AnalysisResult& result) {
  if (packets_) {
    packets_->add_rows(pending_);
    packets_->finish();
  }
  if (messages_) messages_->finish();
  if (events_) {
    order_.finish();
    events_->finish();
  }
  if (streams_) {
    facts_.points = SeenPoints{result.points};
    for (const analysis::StreamSummary& stream : result.streams) {
      if (!chosen_.is_wanted(stream.stream)) continue;
      streams_->add({facts_, stream, facts_.streams.find(stream.stream), result.verdicts.lost_of(stream.stream)});
    }
    streams_->finish();
  }
  if (intervals_) {
    cells_.finish();
    intervals_->finish();
  }
}

}  // namespace roce::analyze
