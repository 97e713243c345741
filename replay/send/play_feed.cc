// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/play_feed.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <thread>
#include <utility>

namespace roce::replay {

namespace {

/// Turns the frames of one play into those of the play that comes `later` plays after it.
void move_block(FrameBlock& block, const Plays& plays, std::uint64_t later) {
  if (later == 0) return;
  // A capture may claim to have taken centuries.
  constexpr Duration farthest = Duration::max();
  const bool is_far = plays.length.count() != 0 && later > static_cast<std::uint64_t>(farthest / plays.length);
  const Duration by = is_far ? farthest : plays.length * static_cast<Duration::rep>(later);
  for (ReplayFrame& frame : block.frames) {
    frame.captured += std::min(by, farthest - std::max(frame.captured, Duration{0}));
    if (plays.continuation == nullptr) continue;
    const std::span<std::byte> bytes = block.bytes_of(frame);
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    if (!frame.flow) frame.flow = plays.continuation->flow_of(packet);
    plays.continuation->move(bytes, packet, *frame.flow, frame.is_sound, later);
  }
}

class MemoryFeed final : public FrameFeed {
 public:
  MemoryFeed(std::vector<FrameBlock> blocks, const Plays& plays) : blocks_(std::move(blocks)), plays_(plays) {}

  Outcome<FrameBlock*> next() override {
    if (next_ == blocks_.size()) {
      next_ = 0;
      ++play_;
    }
    if (blocks_.empty() || (plays_.count != 0 && play_ == plays_.count)) return nullptr;
    FrameBlock& block = blocks_[next_++];
    // After the first play, the block holds the frames of the play before.
    move_block(block, plays_, play_ == 0 ? 0 : 1);
    return &block;
  }

 private:
  std::vector<FrameBlock> blocks_;
  Plays plays_;
  std::size_t next_ = 0;
  std::uint64_t play_ = 0;
};

/// A ring of blocks between a thread that fills them and the one that sends them.
class FileFeed final : public FrameFeed {
 public:
  FileFeed(const IntakeOptions& options, const Plays& plays, FrameIntake intake)
      : options_(options), plays_(plays), intake_(std::move(intake)) {
    thread_ = std::jthread{[this](const std::stop_token& stop) { run(stop); }};
  }

  Outcome<FrameBlock*> next() override {
    std::unique_lock lock{mutex_};
    if (has_taken_) {
      has_taken_ = false;
      ++taken_;
      room_.notify_one();
    }
    filled_one_.wait(lock, [this] { return filled_ != taken_ || is_over_; });
    if (filled_ == taken_) {
      if (failure_) return tl::unexpected(*failure_);
      return nullptr;
    }
    has_taken_ = true;
    return &blocks_[taken_ % blocks_.size()];
  }

 private:
  // 8 MiB: 7 ms at 10 Gbit/s.
  static constexpr std::size_t kBlocks = 32;

  void run(const std::stop_token& stop) {
    for (std::uint64_t play = 0; plays_.count == 0 || play < plays_.count; ++play) {
      if (play != 0) {
        Outcome<FrameIntake> again = FrameIntake::open(options_);
        if (!again) return end(again.error());
        intake_ = std::move(*again);
      }
      bool is_empty = true;
      while (true) {
        FrameBlock* const block = wait_for_room(stop);
        if (block == nullptr) return;
        block->clear();
        const Outcome<bool> more = intake_.fill(*block);
        if (!more) return end(more.error());
        if (!*more) break;
        is_empty = false;
        move_block(*block, plays_, play);
        const std::scoped_lock lock{mutex_};
        ++filled_;
        filled_one_.notify_one();
      }
      if (is_empty) break;
    }
    end(std::nullopt);
  }

  [[nodiscard]] FrameBlock* wait_for_room(const std::stop_token& stop) {
    std::unique_lock lock{mutex_};
    if (!room_.wait(lock, stop, [this] { return filled_ - taken_ < blocks_.size(); })) return nullptr;
    return &blocks_[filled_ % blocks_.size()];
  }

  void end(std::optional<Failure> failure) {
    const std::scoped_lock lock{mutex_};
    is_over_ = true;
    failure_ = std::move(failure);
    filled_one_.notify_one();
  }

  const IntakeOptions& options_;
  Plays plays_;
  FrameIntake intake_;
  std::array<FrameBlock, kBlocks> blocks_;
  std::mutex mutex_;
  std::condition_variable_any room_;
  std::condition_variable filled_one_;
  std::uint64_t filled_ = 0;  ///< blocks filled since the beginning
  std::uint64_t taken_ = 0;   ///< blocks done with since the beginning
  bool has_taken_ = false;    ///< block number `taken_` is in use
  bool is_over_ = false;
  std::optional<Failure> failure_{};
  std::jthread thread_;
};

}  // namespace

std::unique_ptr<FrameFeed> feed_from_memory(std::vector<FrameBlock> blocks, const Plays& plays) {
  return std::make_unique<MemoryFeed>(std::move(blocks), plays);
}

Outcome<std::unique_ptr<FrameFeed>> feed_from_files(const IntakeOptions& options, const Plays& plays) {
  Outcome<FrameIntake> intake = FrameIntake::open(options);
  if (!intake) return tl::unexpected(intake.error());
  return std::make_unique<FileFeed>(options, plays, std::move(*intake));
}

}  // namespace roce::replay
