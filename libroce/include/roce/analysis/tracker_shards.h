// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "roce/analysis/tracker.h"

namespace roce::analysis {

/// Trackers that share a capture by host pair and speak as one. What they say does not depend on how the work is
/// divided: packet by packet with `observe`, or in batches whose shards are worked on at the same time. The caller
/// brings the threads.
class TrackerShards {
 public:
  static constexpr std::size_t kShards = 16;
  /// A batch is the frames whose numbers are equal without their low bits: `batch_of`. Between batches streams that are
  /// more than `Limits::streams` are closed; within one they may be as many more as it has packets.
  static constexpr std::uint64_t kBatchFrames = 4096;

  explicit TrackerShards(const TrackerOptions& options = {});

  [[nodiscard]] static constexpr std::uint64_t batch_of(PacketId id) { return id.frame / kBatchFrames; }
  /// Which shard a packet belongs to: the same for both directions between two addresses.
  [[nodiscard]] static std::size_t shard_of(const Observation& packet);

  /// Takes the next packet of the capture. The result is valid until the next call of a member that is not const.
  const PacketAnalysis& observe(const Observation& packet);

  /// Packets of this batch follow, all or some of it.
  void begin_batch(std::uint64_t batch);
  /// Takes the next packet of a shard. Different shards may be served by different threads at once; nothing else may be
  /// called meanwhile. Immediate verdicts are kept for `drain`. Its stream, as the shard numbers it.
  std::uint32_t observe_in_batch(std::size_t shard, const Observation& packet);
  /// Puts together what the shards found since `begin_batch`.
  void end_batch();
  /// The number overall of a stream that `observe_in_batch` gave, once the batch has ended.
  [[nodiscard]] std::uint32_t stream_number(std::size_t shard, std::uint32_t stream) const {
    return number_of(shards_[shard], stream);
  }

  /// The end of the capture, as of a Tracker.
  void finish();

  // As of a Tracker. Of a batch everything comes shard by shard.
  void drain(std::vector<Verdict>& into);
  void drain_messages(std::vector<Message>& into);
  void drain_answers(std::vector<Answer>& into);
  void drain_closed(std::vector<StreamSummary>& into);  ///< by number
  [[nodiscard]] Evictions evictions() const;
  [[nodiscard]] std::vector<StreamSummary> streams() const;  ///< of a Tracker, but for those that were closed

  // As of a Tracker; between batches.
  [[nodiscard]] std::vector<std::byte> save() const;
  [[nodiscard]] tl::expected<void, StateError> restore(Bytes state);

 private:
  struct Shard {
    explicit Shard(const TrackerOptions& options) : tracker(options) {}

    Tracker tracker;
    std::vector<std::uint32_t> numbers;  ///< of the tracker's streams, in the numbering of all shards
    std::vector<PacketId> begun;         ///< packets of the batch with which streams began
    std::vector<Verdict> immediate;      ///< of the batch
  };

  void collect(Shard& shard);
  void enforce_limit();
  [[nodiscard]] static std::uint32_t number_of(const Shard& shard, std::uint32_t stream) {
    return stream == kNoStream ? kNoStream : shard.numbers[stream];
  }

  std::size_t limit_;
  std::vector<Shard> shards_;
  std::uint32_t next_stream_ = 0;
  std::uint64_t batch_ = 0;
  PacketAnalysis result_;
  std::vector<Verdict> immediate_;
  std::vector<Verdict> verdicts_;
  std::vector<Message> messages_;
  std::vector<Answer> answers_;
};

}  // namespace roce::analysis
