// SPDX-License-Identifier: BSD-2-Clause
#include "roce/live/control_sinks.h"

#include <algorithm>

#include "roce/live/pattern.h"
#include "roce/transport/network_header.h"

namespace roce::live {

namespace {

constexpr std::size_t kMaxArrivals = 128;
constexpr unsigned kSlotBits = 16;

/// The part of a work request number that all receives of a sink share. Receives may outlive their sink, in the queue
/// of a queue pair that then gets another.
[[nodiscard]] constexpr std::uint64_t first_request_of(std::uint64_t sink) {
  return ControlSinks::kFirstRequest | (sink << kSlotBits & (ControlSinks::kFirstRequest - 1));
}

}  // namespace

transport::VerbResult<void> ControlSinks::post(Qpn qpn, const Sink& sink, std::uint64_t slot) {
  const Slots& slots = sink.slots;
  const transport::Sge sge{slots.area.address + slot * slots.slot_bytes, slots.slot_bytes, slots.area.l_key};
  return device_.post_receive(qpn, {.wr_id = first_request_of(sink.number) | slot, .sges = {&sge, 1}});
}

transport::VerbResult<void> ControlSinks::add(Qpn qpn, const Slots& slots, std::uint64_t count) {
  const Sink sink{.slots = slots, .counts = {}, .number = next_number_++};
  for (std::uint64_t slot = 0; slot < count; ++slot) {
    if (auto posted = post(qpn, sink, slot); !posted) return posted;
  }
  sinks_.emplace(qpn, sink);
  return {};
}

const ControlSinks::Counts* ControlSinks::counts(Qpn qpn) const {
  const auto found = sinks_.find(qpn);
  return found == sinks_.end() ? nullptr : &found->second.counts;
}

void ControlSinks::remove(Qpn qpn) {
  sinks_.erase(qpn);
  std::erase_if(arrivals_, [qpn](const Arrival& arrival) { return arrival.qpn == qpn; });
}

void ControlSinks::clear() {
  sinks_.clear();
  arrivals_.clear();
}

bool ControlSinks::is_full() const {
  return arrivals_.size() >= kMaxArrivals;
}

void ControlSinks::take(const transport::Completion& completion) {
  const auto found = sinks_.find(completion.qpn);
  if (completion.status != transport::CompletionStatus::success || found == sinks_.end()) return;
  Sink& sink = found->second;
  const Slots& slots = sink.slots;
  const std::uint64_t slot = completion.wr_id - first_request_of(sink.number);
  if (slot >> kSlotBits != 0) return;
  Arrival arrival;
  arrival.qpn = completion.qpn;
  arrival.slot = slot;
  // Datagrams may be lost, so each carries its number as immediate data.
  const std::uint64_t number = slots.datagrams ? completion.immediate : sink.arrived;
  arrival.seed = message_seed(slots.seed, slots.index, number);
  ++sink.arrived;
  const std::uint32_t header = slots.datagrams ? transport::kNetworkHeaderArea : 0;
  // The data of a WRITE with immediate is not in the slot, and may be longer than the slot.
  arrival.is_wrong = completion.opcode != transport::CompletionOpcode::receive || completion.byte_length < header ||
                     completion.byte_length > slots.slot_bytes;
  if (!arrival.is_wrong) {
    arrival.data = slots.bytes.subspan(arrival.slot * slots.slot_bytes + header, completion.byte_length - header);
  }
  arrivals_.push_back(arrival);
}

bool ControlSinks::compare() {
  std::size_t left = kPatternSlice;
  while (!arrivals_.empty() && left != 0) {
    Arrival& arrival = arrivals_.front();
    const std::size_t size = std::min(left, arrival.data.size() - arrival.done);
    arrival.is_wrong = arrival.is_wrong ||
                       find_wrong_byte(arrival.data.subspan(arrival.done, size), seed_at(arrival.seed, arrival.done));
    arrival.done += size;
    left = whole_words(left - size);
    if (arrival.done < arrival.data.size() && !arrival.is_wrong) continue;
    const Arrival ended = arrival;
    arrivals_.pop_front();
    end(ended);
  }
  return !arrivals_.empty();
}

void ControlSinks::end(const Arrival& arrival) {
  Sink& sink = sinks_.at(arrival.qpn);
  if (arrival.is_wrong) ++sink.counts.wrong;
  ++sink.counts.received;
  // This fails on a queue pair in error, which its completions report.
  (void)post(arrival.qpn, sink, arrival.slot);
}

}  // namespace roce::live
