// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/run/parallel_run.h"

#include <algorithm>
#include <array>
#include <memory>
#include <numeric>
#include <utility>
#include <vector>

#include "analyze/run/run_state.h"
#include "analyze/run/work_share.h"
#include "analyze/run/worker_threads.h"

namespace roce::analyze {

namespace {

using analysis::TrackerShards;

/// A frame that is to be decoded.
struct Frame {
  Bytes bytes;
  std::size_t offset = 0;  ///< in the batch's storage
  std::uint32_t original_length = 0;
  std::uint16_t link_type = 0;
  std::uint16_t point = 0;
  Time time{};
  std::uint64_t number = 0;  ///< overall
};

/// Consecutive frames of one file, and their contents.
struct Batch {
  static constexpr std::size_t kPieces = 8;
  /// A batch that has reached this many bytes takes no more frames.
  static constexpr std::size_t kMostBytes = 8U << 20U;

  /// The part of the frames that one thread decodes.
  struct Piece {
    std::vector<analysis::Observation> observations;
    std::vector<analysis::ReachNotice> notices;
    std::vector<std::size_t> of_others;  ///< indices of the observations that other processes follow, ascending
    std::vector<std::uint32_t> streams;  ///< stream of each observation, by the numbering of its shard
    std::array<std::vector<std::uint32_t>, TrackerShards::kShards> of_shard;  ///< indices of `observations`
    CaptureCounts counts;
    std::uint16_t unknown_link_type = 0;
  };

  std::uint64_t number = 0;  ///< `TrackerShards::batch_of` its frames
  std::size_t file_index = 0;
  std::vector<std::byte> storage;
  std::vector<Frame> frames;  ///< frames that are not decoded yet
  bool is_decoded = false;    ///< its frames were decoded as they were read, into the first piece
  std::array<Piece, kPieces> pieces;

  [[nodiscard]] bool empty() const { return frames.empty() && !is_decoded; }
  void clear() {
    storage.clear();
    frames.clear();
    is_decoded = false;
    for (Piece& piece : pieces) {
      piece.observations.clear();
      piece.of_others.clear();
      piece.notices.clear();
      piece.streams.clear();
      for (std::vector<std::uint32_t>& indices : piece.of_shard) indices.clear();
      piece.counts = {};
    }
  }
};

void decode(const Frame& frame, const WorkShare* share, std::size_t file, Batch::Piece& piece) {
  const Packet whole = parse_frame(frame.bytes, LinkType{frame.link_type}, frame.original_length);
  const FrameShare shared = share_of(share, file, whole, frame.time, frame.number, frame.point);
  if (!shared.is_own) {
    if (!shared.of_other) return;
    piece.of_others.push_back(piece.observations.size());
    piece.observations.push_back(*shared.of_other);
    return;
  }
  const std::uint64_t unknown = piece.counts.unknown_link;
  if (!piece.counts.count_frame(whole, frame.bytes.size())) {
    if (piece.counts.unknown_link != unknown) piece.unknown_link_type = frame.link_type;
    if (const auto notice = analysis::read_reach_notice(whole, frame.time, {frame.number, 0}, frame.point)) {
      piece.notices.push_back(*notice);
    }
    return;
  }
  decode_step(whole, frame.time, frame.number, frame.point, [&](const DecodedPart& part) {
    piece.counts.count(part);
    const auto at = static_cast<std::uint32_t>(piece.observations.size());
    piece.observations.push_back(part.observation);
    piece.of_shard[TrackerShards::shard_of(part.observation)].push_back(at);
  });
}

void decode(Batch& batch, std::size_t index, const WorkShare* share) {
  const std::size_t begin = batch.frames.size() * index / Batch::kPieces;
  const std::size_t end = batch.frames.size() * (index + 1) / Batch::kPieces;
  for (std::size_t i = begin; i < end; ++i) decode(batch.frames[i], share, batch.file_index, batch.pieces[index]);
}

class ParallelRun {
 public:
  ParallelRun(std::span<const InputFile> inputs, const AnalysisRunOptions& options, AnalysisConsumer& consumer,
              unsigned threads)
      : state_(inputs, options, consumer), decodes_at_once_(threads <= kFewThreads), workers_(threads) {}

  AnalysisResult run() {
    Batch* reading = &batches_[0];
    Batch* decoding = &batches_[1];
    Batch* following = &batches_[2];
    has_frame_ = state_.intake.next();
    while (has_frame_ || !decoding->empty() || !following->empty()) {
      work(*reading, *decoding, *following);
      following->clear();
      std::swap(following, decoding);
      std::swap(decoding, reading);
      if (state_.consumer.is_over()) has_frame_ = false;
    }
    return state_.finish();
  }

 private:
  // With at most this many threads, frames are decoded as they are read: fetching them into the cache once more would
  // only add waiting. More threads share the decoding.
  static constexpr unsigned kFewThreads = 2;

  // Does one step of all three batches.
  void work(Batch& reading, Batch& decoding, Batch& following) {
    // The largest shards come first, so that the last task to finish is a short one.
    std::array<std::size_t, TrackerShards::kShards> sizes{};
    for (Batch::Piece& piece : following.pieces) {
      for (std::size_t shard = 0; shard < sizes.size(); ++shard) sizes[shard] += piece.of_shard[shard].size();
      piece.streams.resize(piece.observations.size(), analysis::kNoStream);
    }
    std::array<std::size_t, TrackerShards::kShards> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sizes[a] > sizes[b]; });
    const auto busy = static_cast<std::size_t>(
        std::find_if(order.begin(), order.end(), [&](std::size_t shard) { return sizes[shard] == 0; }) - order.begin());
    const std::size_t pieces = decoding.frames.empty() ? 0 : Batch::kPieces;
    if (busy != 0) state_.shards.begin_batch(following.number);
    // The tasks that cannot be divided come first; the small ones fill the remaining time.
    const std::size_t watching = 1 + busy;
    const std::size_t first_piece = watching + 1;
    workers_.run(first_piece + pieces, [&](std::size_t task) {
      if (task == 0) {
        read(reading);
      } else if (task < watching) {
        follow(following, order[task - 1]);
      } else if (task == watching) {
        watch(following);
      } else {
        decode(decoding, task - first_piece, state_.options.share);
      }
    });
    if (busy != 0) {
      state_.shards.end_batch();
      state_.hand_over();
      judge_breaches();
      state_.keep_ended();
    }
    for (Batch::Piece& piece : decoding.pieces) add_counts(decoding, piece);
  }

  void read(Batch& batch) {
    if (!has_frame_) return;
    batch.number = TrackerShards::batch_of({state_.intake.number(), 0});
    batch.file_index = state_.intake.file_index();
    batch.is_decoded = decodes_at_once_;
    const bool is_others = is_of_other(state_.options.share, batch.file_index);
    std::size_t bytes = 0;
    do {
      if (is_others) {
        has_frame_ = state_.intake.next();
        continue;
      }
      const link::CaptureRecord& record = state_.intake.record();
      const Frame frame{record.bytes,          batch.storage.size(), record.original_length, record.link_type,
                        state_.intake.point(), state_.intake.time(), state_.intake.number()};
      bytes += record.bytes.size();
      if (decodes_at_once_) {
        decode(frame, state_.options.share, batch.file_index, batch.pieces[0]);
      } else {
        batch.storage.insert(batch.storage.end(), record.bytes.begin(), record.bytes.end());
        batch.frames.push_back(frame);
      }
      has_frame_ = state_.intake.next();
    } while (has_frame_ && state_.intake.file_index() == batch.file_index && bytes < Batch::kMostBytes &&
             TrackerShards::batch_of({state_.intake.number(), 0}) == batch.number);
    for (Frame& frame : batch.frames) frame.bytes = Bytes{batch.storage}.subspan(frame.offset, frame.bytes.size());
  }

  void follow(Batch& batch, std::size_t shard) {
    for (Batch::Piece& piece : batch.pieces) {
      for (const std::uint32_t i : piece.of_shard[shard]) {
        piece.streams[i] = state_.shards.observe_in_batch(shard, piece.observations[i]);
      }
    }
  }

  // PFC and PAUSE frames concern the packets of all shards, so one task checks them all.
  void watch(const Batch& batch) {
    for (const Batch::Piece& piece : batch.pieces) {
      auto next_other = piece.of_others.begin();
      for (std::size_t i = 0; i < piece.observations.size(); ++i) {
        const auto breach = state_.pause.observe(piece.observations[i]);
        if (next_other != piece.of_others.end() && *next_other == i) {
          ++next_other;
        } else if (breach) {
          breaches_.push_back({&piece, i, *breach});
        }
      }
      for (const analysis::ReachNotice& notice : piece.notices) state_.reach.observe(notice);
    }
  }

  void judge_breaches() {
    for (const Breach& each : breaches_) {
      const analysis::Observation& packet = each.piece->observations[each.index];
      const std::uint32_t stream =
          state_.shards.stream_number(TrackerShards::shard_of(packet), each.piece->streams[each.index]);
      state_.consumer.on_verdict(state_.pause.judge(packet, each.breach, stream));
    }
    breaches_.clear();
  }

  struct Breach {
    const Batch::Piece* piece = nullptr;
    std::size_t index = 0;
    analysis::PauseBreach breach;
  };

  void add_counts(const Batch& batch, const Batch::Piece& piece) {
    state_.result.counts += piece.counts;
    if (piece.counts.unknown_link == 0) return;
    CaptureFile& file = state_.result.files[batch.file_index];
    file.unknown_link += piece.counts.unknown_link;
    file.unknown_link_type = piece.unknown_link_type;
  }

  RunState state_;
  std::vector<Breach> breaches_;  ///< in the batch that is being followed
  const bool decodes_at_once_;
  WorkerThreads workers_;
  std::array<Batch, 3> batches_;
  bool has_frame_ = false;  ///< the intake has a frame that is not in a batch yet
};

}  // namespace

AnalysisResult run_parallel(std::span<const InputFile> inputs, const AnalysisRunOptions& options,
                            AnalysisConsumer& consumer, unsigned threads) {
  return ParallelRun{inputs, options, consumer, threads}.run();
}

}  // namespace roce::analyze
