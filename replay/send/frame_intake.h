// SPDX-License-Identifier: BSD-2-Clause
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/capture_merge.h"
#include "command_line/outcome.h"
#include "replay/rewrite/fault_stage.h"
#include "replay/rewrite/rewriter.h"
#include "replay/segment/segmenter.h"
#include "replay/send/side_split.h"
#include "roce/wire/icrc.h"
#include "roce/wire/packet.h"
#include "roce/wire/time.h"

namespace roce::replay {

/// A frame in the form in which it is to be sent.
struct ReplayFrame {
  std::uint32_t offset = 0;  ///< in the bytes of its block
  std::uint32_t size = 0;
  Duration captured{0};   ///< time since the first frame of the capture
  std::uint8_t side = 0;  ///< side of its sender
  /// True for a RoCE packet whose ICRC is right.
  bool is_sound = false;
  /// Result of `PsnContinuation::flow_of`, once that was called.
  std::optional<std::uint32_t> flow{};
};

/// Some consecutive frames.
struct FrameBlock {
  std::vector<std::byte> bytes;
  std::vector<ReplayFrame> frames;

  [[nodiscard]] std::span<std::byte> bytes_of(const ReplayFrame& frame) {
    return std::span{bytes}.subspan(frame.offset, frame.size);
  }
  void clear() {
    bytes.clear();
    frames.clear();
  }
};

/// Reason why a frame cannot be sent.
enum class Unfit : std::uint8_t {
  cut,          ///< only a part of it is in the capture
  too_long,     ///< too long for the interface
  no_side,      ///< neither end of it is on a known side
  no_datagram,  ///< UDP cannot carry it: not a RoCE v2 packet
  not_own,      ///< UDP cannot send it: its source is not an address of the interface
};
inline constexpr std::size_t kUnfitReasons = 5;

/// The frames that cannot be sent for one reason.
struct UnfitFrames {
  std::uint64_t count = 0;
  std::string file{};        ///< file with the first one
  std::uint64_t number = 0;  ///< number of the first one in its file
  std::size_t bytes = 0;     ///< length of the first one on the wire
  std::size_t captured = 0;  ///< bytes of the first one in the capture
  std::size_t most = 0;      ///< length of the longest one on the wire
};

struct IntakeOptions {
  std::vector<std::string> files;
  std::optional<SideSplit> sides{};               ///< none: all frames belong to side 0
  std::optional<RewriteRules> rules{};            ///< changes to the frames; sides follow from the captured addresses
  std::shared_ptr<const SegmentPlan> segments{};  ///< how messages are cut anew, before all else; null: not at all
  impair::RuleSet faults{};  ///< faults, applied last and alike in each play; `rules` has their seed
  /// By side: frames go as datagrams from these addresses; empty: frames go as they are.
  std::vector<std::vector<Gid>> datagrams_from{};
  /// Longest frame that goes out on each side, in bytes, without VLAN tags; a tagged frame may be one tag longer.
  std::array<std::size_t, 2> max_bytes{SIZE_MAX, SIZE_MAX};
};

/// Makes frames that can be sent out of captures, changed by rules if there are any. Super-frames
/// are cut into the packets that were on the wire.
class FrameIntake {
 public:
  /// Opens the captures. Failures: those of `CaptureMerge::open`.
  [[nodiscard]] static Outcome<FrameIntake> open(const IntakeOptions& options);

  /// Fills an empty block. False: there are no more frames. Failures: those of `CaptureMerge::next`; a frame that the
  /// rules do not cover, or that is too long for the faults.
  [[nodiscard]] Outcome<bool> fill(FrameBlock& block);

  /// Returns the frames that were left out so far, by `Unfit`.
  [[nodiscard]] const std::array<UnfitFrames, kUnfitReasons>& unfit() const { return unfit_; }
  /// Returns the number of captured frames so far that have no time of their own.
  [[nodiscard]] std::uint64_t untimed() const { return untimed_; }
  /// Returns what the faults have done so far; none without faults.
  [[nodiscard]] std::optional<impair::Stats> faults() const {
    return faults_ ? std::optional{faults_->stats()} : std::nullopt;
  }
  [[nodiscard]] std::uint64_t super_frames() const {
    return super_frames_ + (segmenter_ ? segmenter_->counts().super_frames : 0);
  }
  [[nodiscard]] const capture::CaptureMerge& captures() const { return captures_; }

 private:
  FrameIntake(const IntakeOptions& options, capture::CaptureMerge captures)
      : options_(&options), captures_(std::move(captures)) {
    if (options.rules) rewriter_.emplace(*options.rules);
    if (options.segments) segmenter_.emplace(options.segments);
    if (!options.faults.rules().empty()) {
      faults_.emplace(options.faults, options.rules ? options.rules->seed : 0, LinkType::ethernet);
    }
  }
  [[nodiscard]] Outcome<void> take(const link::CaptureRecord& record, FrameBlock& block);
  [[nodiscard]] Outcome<void> take_frame(const Packet& packet, std::uint8_t side, const link::CaptureRecord& record,
                                         FrameBlock& block);
  [[nodiscard]] Outcome<void> rewrite(const Packet& packet, std::uint8_t side, const link::CaptureRecord& record,
                                      FrameBlock& block);
  /// Adds a frame that is in its final form except for faults.
  [[nodiscard]] Outcome<void> append(const Packet& packet, bool is_sound, std::uint8_t side,
                                     const link::CaptureRecord& record, FrameBlock& block);
  void store(Bytes frame, bool is_sound, std::uint8_t side, Duration captured, FrameBlock& block);
  /// Stores a frame that the faults let go.
  void store_due(const link::CaptureRecord& record, std::uint8_t side, FrameBlock& block);
  /// Returns why a frame cannot be sent as it is; none if it can.
  [[nodiscard]] std::optional<Unfit> unfit_of(const Packet& packet, std::uint8_t side) const;
  void leave_out(Unfit reason, const link::CaptureRecord& record, std::size_t bytes);

  const IntakeOptions* options_;
  capture::CaptureMerge captures_;
  std::optional<Rewriter> rewriter_{};
  std::optional<Segmenter> segmenter_{};
  std::optional<FaultStage> faults_{};
  std::optional<std::int64_t> first_ns_{};
  Duration captured_{0};
  std::array<UnfitFrames, kUnfitReasons> unfit_{};
  std::uint64_t untimed_ = 0;
  std::uint64_t super_frames_ = 0;
  std::vector<std::byte> cut_;
};

}  // namespace roce::replay
