// SPDX-License-Identifier: BSD-2-Clause
#include "replay/frame_intake.h"

#include <algorithm>
#include <utility>

#include "roce/wire/super_frame.h"

namespace roce::replay {

namespace {

// A block is done when it has so much of either.
constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::size_t kBlockFrames = 1024;
constexpr std::size_t kVlanTagBytes = 4;

}  // namespace

Outcome<FrameIntake> FrameIntake::open(const IntakeOptions& options) {
  Outcome<CaptureMerge> captures = CaptureMerge::open(options.files);
  if (!captures) return tl::unexpected(captures.error());
  return FrameIntake{options, std::move(*captures)};
}

Outcome<bool> FrameIntake::fill(FrameBlock& block) {
  while (block.bytes.size() < kBlockBytes && block.frames.size() < kBlockFrames) {
    const Outcome<const link::CaptureRecord*> record = captures_.next();
    if (!record) return tl::unexpected(record.error());
    if (*record == nullptr) break;
    take(**record, block);
  }
  return !block.frames.empty();
}

void FrameIntake::leave_out(Unfit reason, const link::CaptureRecord& record, std::size_t bytes) {
  UnfitFrames& frames = unfit_[static_cast<std::size_t>(reason)];
  if (frames.count++ == 0) {
    frames.file = captures_.file();
    frames.number = record.number;
    frames.bytes = bytes;
    frames.captured = record.bytes.size();
  }
  frames.most = std::max(frames.most, bytes);
}

void FrameIntake::append(Bytes frame, const Packet& packet, bool is_sound, const link::CaptureRecord& record,
                         FrameBlock& block) {
  std::uint8_t side = 0;
  if (options_->sides) {
    const std::optional<std::uint8_t> found = options_->sides->side_of(packet);
    if (!found) return leave_out(Unfit::no_side, record, frame.size());
    side = *found;
  }
  const std::size_t most = options_->max_bytes[side];
  if (frame.size() > most && (frame.size() - most > kVlanTagBytes || !packet.vlan_tci())) {
    return leave_out(Unfit::too_long, record, frame.size());
  }
  block.frames.push_back({.offset = static_cast<std::uint32_t>(block.bytes.size()),
                          .size = static_cast<std::uint32_t>(frame.size()),
                          .captured = captured_,
                          .side = side,
                          .is_sound = is_sound});
  block.bytes.insert(block.bytes.end(), frame.begin(), frame.end());
}

void FrameIntake::take(const link::CaptureRecord& record, FrameBlock& block) {
  if (record.timestamp_ns == link::kNoTimestamp) {
    ++untimed_;
  } else {
    if (!first_ns_) first_ns_ = record.timestamp_ns;
    captured_ = Duration{record.timestamp_ns - *first_ns_};
  }
  if (record.bytes.size() < record.original_length) return leave_out(Unfit::cut, record, record.original_length);
  const Packet packet = parse_frame(record.bytes, LinkType::ethernet);
  const bool is_sound = packet.is_roce() && check_icrc(packet).status == IcrcStatus::good;
  const std::optional<SuperFrame> super_frame = packet.is_roce() && !is_sound ? find_super_frame(packet) : std::nullopt;
  if (!super_frame) return append(record.bytes, packet, is_sound, record, block);
  ++super_frames_;
  for (std::uint32_t i = 0; i < super_frame->count; ++i) {
    cut_frame(packet, *super_frame, i, cut_);
    const Packet part = parse_frame(cut_, LinkType::ethernet);
    append(cut_, part, check_icrc(part).status == IcrcStatus::good, record, block);
  }
}

}  // namespace roce::replay
