// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "roce/analysis/tracker.h"

namespace roce::analysis {

/// Trackers that share a capture by host pair and act as one. Their results do not depend on how the work is divided:
/// packet by packet with `observe`, or in batches whose shards are processed at the same time.
/// The caller provides the threads.
class TrackerShards {
 public:
  static constexpr std::size_t kShards = 16;
  /// Finer parts of the work, for processes that share it: packets of one are of one shard.
  static constexpr std::size_t kVirtualShards = 1024;
  /// A batch is the frames whose numbers differ only in their low bits: `batch_of`. Streams beyond `Limits::streams`
  /// are closed between batches; within a batch there may be more, at most two for each of its frames.
  static constexpr std::uint64_t kBatchFrames = 4096;

  explicit TrackerShards(const TrackerOptions& options = {});

  [[nodiscard]] static constexpr std::uint64_t batch_of(PacketId id) { return id.frame / kBatchFrames; }
  /// Returns the shard that a packet belongs to: the same for both directions between two addresses at one point.
  [[nodiscard]] static std::size_t shard_of(const Observation& packet) {
    return virtual_shard_of(packet) / (kVirtualShards / kShards);
  }
  /// Returns the same, below `kVirtualShards`.
  [[nodiscard]] static std::size_t virtual_shard_of(const Observation& packet);

  /// Takes the next packet of the capture. The result is valid until the next call of a member that is not const.
  const PacketAnalysis& observe(const Observation& packet);

  /// Begins a batch: all or some of its packets follow.
  void begin_batch(std::uint64_t batch);
  /// Takes the next packet of a shard; returns its stream, as the shard numbers it. Different shards may be served
  /// by different threads at once; nothing else may be called meanwhile. Immediate verdicts are kept for `drain`.
  std::uint32_t observe_in_batch(std::size_t shard, const Observation& packet);
  /// Combines the results of the shards since `begin_batch`.
  void end_batch();
  /// Returns the overall number of a stream that `observe_in_batch` returned, once the batch has ended.
  [[nodiscard]] std::uint32_t stream_number(std::size_t shard, std::uint32_t stream) const {
    return number_of(shards_[shard], stream);
  }

  /// Ends the capture, as `Tracker::finish` does.
  void finish();

  // As in Tracker. After a batch everything is in the order of the shards.
  void drain(std::vector<Verdict>& into);
  void drain_messages(std::vector<Message>& into);
  void drain_answers(std::vector<Answer>& into);
  void drain_closed(std::vector<StreamSummary>& into);  ///< ordered by number
  [[nodiscard]] Evictions evictions() const;
  [[nodiscard]] std::vector<StreamSummary> streams() const;  ///< as in Tracker, but without the closed ones
  [[nodiscard]] std::uint32_t streams_begun() const { return next_stream_; }  ///< as in Tracker
  /// Returns the packets that began the streams, by number of the stream; empty without `TrackerOptions::keep_begins`.
  /// Streams that were restored have none.
  [[nodiscard]] const std::vector<PacketId>& begins() const { return begins_; }

  // As in Tracker; only between batches.
  [[nodiscard]] std::vector<std::byte> save() const;
  [[nodiscard]] tl::expected<void, StateError> restore(Bytes state);

 private:
  struct Shard {
    explicit Shard(const TrackerOptions& options) : tracker(options) {}

    Tracker tracker;
    std::vector<std::uint32_t> numbers;  ///< numbers of the tracker's streams, in the numbering of all shards
    std::vector<PacketId> begun;         ///< packets of the batch that began streams
    std::vector<Verdict> immediate;      ///< immediate verdicts of the batch
  };

  void collect(Shard& shard);
  void enforce_limit();
  void number_next(Shard& shard, PacketId begin);
  [[nodiscard]] static std::uint32_t number_of(const Shard& shard, std::uint32_t stream) {
    return stream == kNoStream ? kNoStream : shard.numbers[stream];
  }

  std::size_t limit_;
  bool keeps_begins_;
  std::vector<Shard> shards_;
  std::uint32_t next_stream_ = 0;
  std::uint64_t batch_ = 0;
  std::vector<PacketId> begins_;
  PacketAnalysis result_;
  std::vector<Verdict> immediate_;
  std::vector<Verdict> verdicts_;
  std::vector<Message> messages_;
  std::vector<Answer> answers_;
};

}  // namespace roce::analysis
