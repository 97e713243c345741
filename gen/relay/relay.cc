// SPDX-License-Identifier: BSD-2-Clause
#include "gen/relay/relay.h"

#include <utility>

#include "roce/wire/super_frame.h"

namespace roce::gen {

namespace {

constexpr std::size_t kBatch = 64;
// A VLAN tag, which comes on top of the MTU and the Ethernet header that a link counts.
constexpr std::size_t kTagBytes = 4;

[[nodiscard]] impair::Direction direction_from(std::size_t side) {
  return side == 0 ? impair::Direction::a_to_b : impair::Direction::b_to_a;
}

}  // namespace

Relay::Relay(link::Link& a, link::Link& b, impair::Engine engine)
    : links_{&a, &b}, engine_(std::move(engine)), received_(kBatch), rules_(engine_.rules().rules().size()) {}

link::LinkResult<bool> Relay::turn(Time now) {
  std::size_t moved = 0;
  for (std::size_t side = 0; side < links_.size(); ++side) {
    // If frames cannot be sent on, no more are taken: the receive ring is the queue.
    if (outboxes_[side].ends.empty()) {
      const link::LinkResult<std::size_t> count = receive(side, now);
      if (!count) return tl::unexpected(count.error());
      moved += *count;
    }
  }
  const link::LinkResult<std::size_t> count = pass_on(now);
  if (!count) return tl::unexpected(count.error());
  for (std::size_t direction = 0; direction < outboxes_.size(); ++direction) {
    if (const link::LinkResult<void> flushed = flush(direction); !flushed) return tl::unexpected(flushed.error());
  }
  return moved + *count != 0;
}

link::LinkResult<std::size_t> Relay::receive(std::size_t side, Time now) {
  link::LinkResult<std::size_t> count = links_[side]->receive(received_);
  if (!count) return count;
  for (std::size_t i = 0; i < *count; ++i) {
    const link::RxFrame& frame = received_[i];
    const bool is_whole = frame.bytes.size() >= frame.wire_length;
    if (frame.segment_size != 0) {
      const Packet packet = parse_frame(frame.bytes, LinkType::ethernet, frame.wire_length);
      if (const std::optional<SuperFrame> parts = super_frame_of(packet, frame.segment_size); parts && is_whole) {
        for (std::uint32_t part = 0; part < parts->count; ++part) {
          cut_frame(packet, *parts, part, segment_);
          const auto submitted = submit(side, segment_, frame.timestamp_ns, true, now);
          if (!submitted) return tl::unexpected(submitted.error());
        }
        continue;
      }
    }
    const auto submitted = submit(side, frame.bytes, frame.timestamp_ns, is_whole && frame.segment_size == 0, now);
    if (!submitted) return tl::unexpected(submitted.error());
  }
  return count;
}

link::LinkResult<void> Relay::submit(std::size_t side, Bytes bytes, std::int64_t timestamp_ns, bool is_whole,
                                     Time now) {
  RelayCounters& counters = counters_[side];
  ++counters.received;
  counters.received_bytes += bytes.size();
  if (tap_) tap_(side, false, bytes, timestamp_ns);
  if (!is_whole || bytes.size() > links_[1 - side]->max_bytes() + kTagBytes) {
    ++counters.unsendable;
    return {};
  }
  impair::Submitted submitted = engine_.submit(direction_from(side), bytes, now);
  while (submitted == impair::Submitted::full) {
    if (const link::LinkResult<std::size_t> passed = pass_on(now); !passed) return tl::unexpected(passed.error());
    submitted = engine_.submit(direction_from(side), bytes, now);
  }
  if (submitted == impair::Submitted::too_long) ++counters.unsendable;
  take_log();
  return {};
}

link::LinkResult<std::size_t> Relay::pass_on(Time now) {
  std::size_t count = 0;
  while (const std::optional<impair::Output> output = engine_.poll(now)) {
    const auto direction = static_cast<std::size_t>(output->direction);
    Outbox& outbox = outboxes_[direction];
    outbox.bytes.insert(outbox.bytes.end(), output->bytes.begin(), output->bytes.end());
    outbox.ends.push_back(outbox.bytes.size());
    ++count;
    if (tap_) tap_(1 - direction, true, output->bytes, 0);
    if (outbox.ends.size() % kBatch == 0) {
      if (const link::LinkResult<void> flushed = flush(direction); !flushed) return tl::unexpected(flushed.error());
    }
  }
  return count;
}

link::LinkResult<void> Relay::flush(std::size_t direction) {
  Outbox& outbox = outboxes_[direction];
  if (outbox.ends.empty()) return {};
  sent_.clear();
  std::size_t start = 0;
  for (const std::size_t end : outbox.ends) {
    sent_.push_back({Bytes{outbox.bytes}.subspan(start, end - start), {}});
    start = end;
  }
  const link::LinkResult<std::size_t> taken = links_[1 - direction]->send(sent_);
  if (!taken) return tl::unexpected(taken.error());
  if (*taken == 0) return {};
  const std::size_t gone = outbox.ends[*taken - 1];
  outbox.bytes.erase(outbox.bytes.begin(), outbox.bytes.begin() + static_cast<std::ptrdiff_t>(gone));
  outbox.ends.erase(outbox.ends.begin(), outbox.ends.begin() + static_cast<std::ptrdiff_t>(*taken));
  for (std::size_t& end : outbox.ends) end -= gone;
  return {};
}

void Relay::take_log() {
  while (const std::optional<impair::LogRecord> record = engine_.poll_log()) {
    const auto direction = static_cast<std::size_t>(record->flow.direction);
    RuleCounters& rule = rules_[record->rule];
    if (record->outcome == impair::LogOutcome::done) {
      ++rule.done[direction];
    } else {
      ++rule.over_limit;
    }
    const impair::Action& action = engine_.rules().rules()[record->rule].action;
    if (std::holds_alternative<impair::Drop>(action)) {
      ++counters_[direction].dropped;
    } else if (const auto* duplicate = std::get_if<impair::Duplicate>(&action)) {
      counters_[direction].duplicates += duplicate->copies;
    }
    if (log_) log_(*record);
  }
}

RelayCounters Relay::counters(impair::Direction direction) const {
  const auto index = static_cast<std::size_t>(direction);
  const link::LinkCounters in = links_[index]->counters();
  const link::LinkCounters out = links_[1 - index]->counters();
  RelayCounters counters = counters_[index];
  counters.missed = in.receive_drops;
  counters.passed = out.sent;
  counters.passed_bytes = out.sent_bytes;
  counters.refused = out.send_errors;
  counters.held = counters.received + counters.duplicates - counters.unsendable - counters.dropped - counters.passed -
                  counters.refused;
  return counters;
}

}  // namespace roce::gen
