// SPDX-License-Identifier: BSD-2-Clause
#include "replay/rewrite/fault_stage.h"

#include <algorithm>
#include <variant>

namespace roce::replay {

bool FaultStage::submit(const link::CaptureRecord& record, std::uint8_t side, const Use& use) {
  // A packet without a time, or with an earlier time than the packet before it, comes directly after that packet.
  if (record.timestamp_ns != link::kNoTimestamp) now_ = std::max(now_, Time{Duration{record.timestamp_ns}});
  poll(now_, use);
  const Packet packet = parse_frame(record.bytes, link_type_, record.original_length);
  if (packet.is_roce() && !side_a_) side_a_ = packet.net().source;
  const bool from_a = packet.is_roce() && packet.net().source == side_a_;
  const auto direction = from_a ? impair::Direction::a_to_b : impair::Direction::b_to_a;
  Kept kept{record, std::string{record.comment}, side};
  impair::Submitted submitted = engine_.submit(direction, record.bytes, now_);
  if (submitted == impair::Submitted::too_long) return false;
  kept_.emplace(++submitted_, std::move(kept));
  while (const std::optional<impair::LogRecord> log = engine_.poll_log()) {
    if (std::holds_alternative<impair::Drop>(engine_.rules().rules()[log->rule].action)) kept_.erase(log->packet);
  }
  poll(now_, use);
  return true;
}

void FaultStage::drain(const Use& use) {
  while (engine_.packets_inside() > 0) {
    now_ = std::max(now_, engine_.next_timeout());
    poll(now_, use);
  }
}

void FaultStage::poll(Time now, const Use& use) {
  while (const std::optional<impair::Output> output = engine_.poll(now)) {
    // Copies come directly after their packet: once another packet comes, the one before is done with.
    if (last_polled_ != output->packet) kept_.erase(last_polled_);
    last_polled_ = output->packet;
    const Kept& kept = kept_.at(output->packet);
    link::CaptureRecord record = kept.record;
    record.bytes = output->bytes;
    record.comment = kept.comment;
    if (record.timestamp_ns != link::kNoTimestamp) {
      record.timestamp_ns = std::max(record.timestamp_ns, output->due.time_since_epoch().count());
    }
    use(record, kept.side);
  }
}

}  // namespace roce::replay
