// SPDX-License-Identifier: BSD-2-Clause
// Trackers that share the work by host pair, and number their streams as one tracker would.
#include "roce/analysis/tracker_shards.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "analysis/move_to.h"
#include "analysis/saved_state.h"
#include "analysis/state_members.h"

namespace roce::analysis {

namespace {

constexpr std::string_view kStateKind = "RSHD";

void sort_by_number(std::vector<StreamSummary>& streams) {
  std::sort(streams.begin(), streams.end(),
            [](const StreamSummary& a, const StreamSummary& b) { return a.stream < b.stream; });
}

}  // namespace

TrackerShards::TrackerShards(const TrackerOptions& options)
    : limit_(options.limits.streams), keeps_begins_(options.keep_begins) {
  TrackerOptions each = options;
  // A packet begins at most two streams: its own, and another one if its QPs are used again.
  each.limits.streams = limit_ + 2 * kBatchFrames;
  shards_.reserve(kShards);
  for (std::size_t i = 0; i < kShards; ++i) shards_.emplace_back(each);
}

std::size_t TrackerShards::virtual_shard_of(const Observation& packet) {
  using Words = std::array<std::uint64_t, 2>;
  constexpr unsigned kShift = 64 - std::bit_width(kVirtualShards - 1);
  const auto source = std::bit_cast<Words>(packet.source.octets);
  const auto destination = std::bit_cast<Words>(packet.destination.octets);
  // The sum does not depend on the order of the two addresses.
  const std::uint64_t sum =
      (source[0] + destination[0]) * 0x9E37'79B9'7F4A'7C15 + (source[1] + destination[1]) * 0xFF51'AFD7'ED55'8CCD;
  const std::uint64_t all = sum ^ packet.point;
  return static_cast<std::size_t>((all ^ all >> 29U) * 0x9E37'79B9'7F4A'7C15 >> kShift);
}

const PacketAnalysis& TrackerShards::observe(const Observation& packet) {
  begin_batch(batch_of(packet.id));
  Shard& shard = shards_[shard_of(packet)];
  result_ = shard.tracker.observe(packet);
  while (shard.numbers.size() < shard.tracker.streams_begun()) number_next(shard, packet.id);
  result_.stream = number_of(shard, result_.stream);
  result_.absorbed = number_of(shard, result_.absorbed);
  if (!result_.verdicts.empty()) {
    immediate_.assign(result_.verdicts.begin(), result_.verdicts.end());
    for (Verdict& verdict : immediate_) verdict.stream = number_of(shard, verdict.stream);
    result_.verdicts = immediate_;
  }
  collect(shard);
  return result_;
}

void TrackerShards::begin_batch(std::uint64_t batch) {
  if (batch == batch_) return;
  batch_ = batch;
  enforce_limit();
}

std::uint32_t TrackerShards::observe_in_batch(std::size_t index, const Observation& packet) {
  Shard& shard = shards_[index];
  const std::uint32_t before = shard.tracker.streams_begun();
  const PacketAnalysis& known = shard.tracker.observe(packet);
  shard.immediate.insert(shard.immediate.end(), known.verdicts.begin(), known.verdicts.end());
  for (std::uint32_t i = before; i < shard.tracker.streams_begun(); ++i) shard.begun.push_back(packet.id);
  return known.stream;
}

void TrackerShards::end_batch() {
  std::vector<std::pair<PacketId, Shard*>> begun;
  for (Shard& shard : shards_) {
    for (const PacketId id : shard.begun) begun.emplace_back(id, &shard);
    shard.begun.clear();
  }
  std::stable_sort(begun.begin(), begun.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  for (const auto& [id, shard] : begun) number_next(*shard, id);
  for (Shard& shard : shards_) {
    for (Verdict& verdict : shard.immediate) verdict.stream = number_of(shard, verdict.stream);
    move_to(shard.immediate, verdicts_);
    collect(shard);
  }
}

void TrackerShards::finish() {
  for (Shard& shard : shards_) {
    shard.tracker.finish();
    collect(shard);
  }
  sort_by_end(messages_);
}

void TrackerShards::drain(std::vector<Verdict>& into) {
  move_to(verdicts_, into);
}

void TrackerShards::drain_messages(std::vector<Message>& into) {
  move_to(messages_, into);
}

void TrackerShards::drain_answers(std::vector<Answer>& into) {
  move_to(answers_, into);
}

void TrackerShards::drain_closed(std::vector<StreamSummary>& into) {
  const std::size_t before = into.size();
  std::vector<StreamSummary> closed;
  for (Shard& shard : shards_) {
    shard.tracker.drain_closed(closed);
    for (StreamSummary& stream : closed) stream.stream = number_of(shard, stream.stream);
    move_to(closed, into);
  }
  if (into.size() != before) sort_by_number(into);
}

std::vector<StreamSummary> TrackerShards::streams() const {
  std::vector<StreamSummary> all;
  for (const Shard& shard : shards_) {
    for (StreamSummary& stream : open_streams(*shard.tracker.state_)) {
      stream.stream = number_of(shard, stream.stream);
      all.push_back(std::move(stream));
    }
  }
  sort_by_number(all);
  return all;
}

std::vector<std::byte> TrackerShards::save() const {
  StateWriter archive;
  archive(next_stream_);
  archive(batch_);
  for (const Shard& shard : shards_) {
    save_tracker(archive, *shard.tracker.state_, StreamNumbers::anew);
    for (const StreamSummary& stream : open_streams(*shard.tracker.state_)) archive(number_of(shard, stream.stream));
  }
  return std::move(archive).sealed(kStateKind);
}

tl::expected<void, StateError> TrackerShards::restore(Bytes state) {
  StateReader archive{state, kStateKind};
  TrackerShards restored;
  restored.limit_ = limit_;
  restored.keeps_begins_ = keeps_begins_;
  archive(restored.next_stream_);
  archive(restored.batch_);
  for (std::size_t i = 0; i < kShards; ++i) {
    Shard& shard = restored.shards_[i];
    TrackerState& tracker = *shard.tracker.state_;
    tracker.options = shards_[i].tracker.state_->options;
    load_tracker(archive, tracker);
    // They were numbered from 0 on when they were saved, so that no number is missing.
    if (tracker.next_stream != tracker.streams.size()) archive.refuse();
    for (std::size_t left = tracker.streams.size(); left != 0 && !archive.has_failed(); --left) {
      shard.numbers.push_back(archive.read<std::uint32_t>());
      if (shard.numbers.back() >= restored.next_stream_) archive.refuse();
    }
  }
  return archive.end().map([&] { *this = std::move(restored); });
}

Evictions TrackerShards::evictions() const {
  Evictions all;
  for (const Shard& shard : shards_) {
    all.streams += shard.tracker.evictions().streams;
    all.requests += shard.tracker.evictions().requests;
  }
  return all;
}

void TrackerShards::number_next(Shard& shard, PacketId begin) {
  shard.numbers.push_back(next_stream_++);
  if (keeps_begins_) begins_.push_back(begin);
}

// Takes over the verdicts, messages and answers of the shard's tracker.
void TrackerShards::collect(Shard& shard) {
  const auto take = [&](auto& all, auto member) {
    const std::size_t before = all.size();
    (shard.tracker.*member)(all);
    for (std::size_t i = before; i < all.size(); ++i) all[i].stream = number_of(shard, all[i].stream);
  };
  take(verdicts_, &Tracker::drain);
  take(messages_, &Tracker::drain_messages);
  shard.tracker.drain_answers(answers_);
}

void TrackerShards::enforce_limit() {
  std::size_t open = 0;
  for (const Shard& shard : shards_) open += shard.tracker.stream_count();
  for (; open > limit_; --open) {
    Shard* silent = nullptr;
    for (Shard& shard : shards_) {
      if (shard.tracker.stream_count() == 0) continue;
      if (silent == nullptr || shard.tracker.longest_silent() < silent->tracker.longest_silent()) silent = &shard;
    }
    if (silent == nullptr) return;
    silent->tracker.evict_longest_silent();
    collect(*silent);
  }
}

}  // namespace roce::analysis
