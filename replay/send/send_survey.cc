// SPDX-License-Identifier: BSD-2-Clause
#include "replay/send/send_survey.h"

#include <fmt/format.h>

#include <utility>

namespace roce::replay {

namespace {

constexpr unsigned kProgressBlocks = 64;

[[nodiscard]] std::uint64_t memory_of(const FrameBlock& block) {
  return block.bytes.capacity() + block.frames.capacity() * sizeof(ReplayFrame);
}

/// Counts the frames of a block and, if that is wanted, learns their PSNs.
void look_at(FrameBlock& block, Survey& found) {
  for (const ReplayFrame& frame : block.frames) {
    const std::span<std::byte> bytes = block.bytes_of(frame);
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    ++found.frames;
    found.bytes += frame.size;
    ++found.side_frames[frame.side];
    found.length = std::max(found.length, frame.captured);
    if (!packet.is_roce()) continue;
    ++found.roce;
    if (found.continuation) found.continuation->learn(packet, check_icrc(packet), Time{frame.captured});
  }
}

}  // namespace

Outcome<Survey> survey(const IntakeOptions& intake, const SurveyOptions& options) {
  Outcome<FrameIntake> opened = FrameIntake::open(intake);
  if (!opened) return tl::unexpected(opened.error());
  Survey found;
  if (options.learn_psns) found.continuation = std::make_unique<PsnContinuation>();
  // Frames of a file that is larger than the memory for them are not kept, only to be thrown away later.
  bool keeps = options.keep_bytes != 0 && (options.must_keep || opened->captures().size_bytes() <= options.keep_bytes);
  std::uint64_t kept = 0;
  FrameBlock block;
  for (unsigned count = 1;; ++count) {
    block.clear();
    const Outcome<bool> more = opened->fill(block);
    if (!more) return tl::unexpected(more.error());
    if (!*more) break;
    look_at(block, found);
    const capture::CaptureMerge& captures = opened->captures();
    if (options.progress && count % kProgressBlocks == 0 && captures.size_bytes() != 0) {
      options.progress(static_cast<double>(captures.position_bytes()) / static_cast<double>(captures.size_bytes()));
    }
    if (!keeps) continue;
    block.bytes.shrink_to_fit();
    block.frames.shrink_to_fit();
    kept += memory_of(block);
    if (kept > options.keep_bytes) {
      if (options.must_keep) {
        return cannot(
            fmt::format("--preload: the frames take more than {} MiB of memory; raise --memory, or leave out "
                        "--preload to read while sending",
                        options.keep_bytes >> 20U));
      }
      keeps = false;
      found.blocks = {};
      continue;
    }
    found.blocks.push_back(std::exchange(block, {}));
  }
  if (found.continuation) found.continuation->finish();
  found.super_frames = opened->super_frames();
  found.untimed = opened->untimed();
  found.unfit = opened->unfit();
  found.faults = opened->faults();
  found.warnings = opened->captures().warnings();
  return found;
}

}  // namespace roce::replay
