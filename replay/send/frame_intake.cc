// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/frame_intake.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "replay/send/datagram_link.h"
#include "roce/wire/super_frame.h"

namespace roce::replay {

namespace {

// A block is full when it has this much of either.
constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::size_t kBlockFrames = 1024;
constexpr std::size_t kVlanTagBytes = 4;

[[nodiscard]] Time time_of(const link::CaptureRecord& record) {
  return Time{Duration{record.timestamp_ns == link::kNoTimestamp ? 0 : record.timestamp_ns}};
}

}  // namespace

Outcome<FrameIntake> FrameIntake::open(const IntakeOptions& options) {
  Outcome<capture::CaptureMerge> captures = capture::CaptureMerge::open(options.files);
  if (!captures) return tl::unexpected(captures.error());
  return FrameIntake{options, std::move(*captures)};
}

Outcome<bool> FrameIntake::fill(FrameBlock& block) {
  while (block.bytes.size() < kBlockBytes && block.frames.size() < kBlockFrames) {
    const Outcome<const link::CaptureRecord*> record = captures_.next();
    if (!record) return tl::unexpected(record.error());
    if (*record == nullptr) {
      if (faults_) {
        faults_->drain([&](const link::CaptureRecord& due, std::uint8_t side) { store_due(due, side, block); });
      }
      break;
    }
    if (Outcome<void> taken = take(**record, block); !taken) return tl::unexpected(taken.error());
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

std::optional<Unfit> FrameIntake::unfit_of(const Packet& packet, std::uint8_t side) const {
  if (!options_->datagrams_from.empty()) {
    if (!is_datagram(packet)) return Unfit::no_datagram;
    const std::vector<Gid>& own = options_->datagrams_from[side];
    if (std::find(own.begin(), own.end(), packet.net().source) == own.end()) return Unfit::not_own;
  }
  const std::size_t most = options_->max_bytes[side];
  const std::size_t size = packet.bytes().size();
  if (size > most && (size - most > kVlanTagBytes || !packet.vlan_tci())) return Unfit::too_long;
  return std::nullopt;
}

Outcome<void> FrameIntake::append(const Packet& packet, bool is_sound, std::uint8_t side,
                                  const link::CaptureRecord& record, FrameBlock& block) {
  const Bytes frame = packet.bytes();
  if (const std::optional<Unfit> reason = unfit_of(packet, side)) {
    leave_out(*reason, record, frame.size());
    return {};
  }
  if (!faults_) {
    store(frame, is_sound, side, captured_, block);
    return {};
  }
  link::CaptureRecord out = record;
  out.bytes = frame;
  out.original_length = static_cast<std::uint32_t>(frame.size());
  const bool is_taken = faults_->submit(
      out, side, [&](const link::CaptureRecord& due, std::uint8_t sender) { store_due(due, sender, block); });
  if (is_taken) return {};
  return cannot(fmt::format("{}: frame {}: {} bytes are more than a fault can act on", captures_.file(), record.number,
                            frame.size()));
}

void FrameIntake::store_due(const link::CaptureRecord& record, std::uint8_t side, FrameBlock& block) {
  const Packet packet = parse_frame(record.bytes, LinkType::ethernet);
  const bool is_sound = packet.is_roce() && check_icrc(packet).status == IcrcStatus::good;
  const bool has_time = record.timestamp_ns != link::kNoTimestamp && first_ns_;
  store(record.bytes, is_sound, side, has_time ? Duration{record.timestamp_ns - *first_ns_} : captured_, block);
}

void FrameIntake::store(Bytes frame, bool is_sound, std::uint8_t side, Duration captured, FrameBlock& block) {
  block.frames.push_back({.offset = static_cast<std::uint32_t>(block.bytes.size()),
                          .size = static_cast<std::uint32_t>(frame.size()),
                          .captured = captured,
                          .side = side,
                          .is_sound = is_sound});
  block.bytes.insert(block.bytes.end(), frame.begin(), frame.end());
}

Outcome<void> FrameIntake::rewrite(const Packet& packet, std::uint8_t side, const link::CaptureRecord& record,
                                   FrameBlock& block) {
  const std::uint64_t super_frames = rewriter_->counts().super_frames;
  const auto frames = rewriter_->rewrite(packet, LinkType::ethernet);
  if (!frames) return cannot(fmt::format("{}: frame {}: {}", captures_.file(), record.number, frames.error()));
  super_frames_ += rewriter_->counts().super_frames - super_frames;
  for (const RewrittenFrame& frame : *frames) {
    const Packet rewritten = parse_frame(frame.bytes, LinkType::ethernet);
    const bool is_sound = rewritten.is_roce() && check_icrc(rewritten).status == IcrcStatus::good;
    if (Outcome<void> appended = append(rewritten, is_sound, side, record, block); !appended) return appended;
  }
  return {};
}

Outcome<void> FrameIntake::take(const link::CaptureRecord& record, FrameBlock& block) {
  if (record.timestamp_ns == link::kNoTimestamp) {
    ++untimed_;
  } else {
    if (!first_ns_) first_ns_ = record.timestamp_ns;
    captured_ = Duration{record.timestamp_ns - *first_ns_};
  }
  if (record.bytes.size() < record.original_length) {
    leave_out(Unfit::cut, record, record.original_length);
    return {};
  }
  const Packet packet = parse_frame(record.bytes, LinkType::ethernet);
  std::uint8_t side = 0;
  if (options_->sides) {
    const std::optional<std::uint8_t> found = options_->sides->side_of(packet, time_of(record));
    if (!found) {
      leave_out(Unfit::no_side, record, record.bytes.size());
      return {};
    }
    side = *found;
  }
  if (!segmenter_) return take_frame(packet, side, record, block);
  for (const SegmentedFrame& frame : segmenter_->take(packet, LinkType::ethernet)) {
    const Packet segment = parse_frame(frame.bytes, LinkType::ethernet);
    if (Outcome<void> taken = take_frame(segment, side, record, block); !taken) return taken;
  }
  return {};
}

Outcome<void> FrameIntake::take_frame(const Packet& packet, std::uint8_t side, const link::CaptureRecord& record,
                                      FrameBlock& block) {
  if (rewriter_) return rewrite(packet, side, record, block);
  const bool is_sound = packet.is_roce() && check_icrc(packet).status == IcrcStatus::good;
  const std::optional<SuperFrame> super_frame = packet.is_roce() && !is_sound ? find_super_frame(packet) : std::nullopt;
  if (!super_frame) return append(packet, is_sound, side, record, block);
  ++super_frames_;
  for (std::uint32_t i = 0; i < super_frame->count; ++i) {
    cut_frame(packet, *super_frame, i, cut_);
    const Packet part = parse_frame(cut_, LinkType::ethernet);
    const bool is_part_sound = check_icrc(part).status == IcrcStatus::good;
    if (Outcome<void> appended = append(part, is_part_sound, side, record, block); !appended) return appended;
  }
  return {};
}

}  // namespace roce::replay
