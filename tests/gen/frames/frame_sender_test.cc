// SPDX-License-Identifier: BSD-2-Clause
#include "gen/frames/frame_sender.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace roce::gen {
namespace {

using Frame = std::vector<std::byte>;

/// A link that takes every frame and a given number of super-frames, and refuses all super-frames after these.
class FakeLink final : public link::Link {
 public:
  explicit FakeLink(std::size_t super_frames) : left_(super_frames) {}

  [[nodiscard]] link::LinkKind kind() const override { return link::LinkKind::ethernet; }
  [[nodiscard]] std::size_t max_bytes() const override { return 9014; }
  [[nodiscard]] link::LinkResult<std::size_t> receive(std::span<link::RxFrame> /*frames*/) override { return 0; }
  [[nodiscard]] link::Segmentation segmentation() const override {
    if (refused_) return {.refusal = "refused on purpose"};
    return {.max_segments = 8, .max_bytes = 65535};
  }
  [[nodiscard]] link::LinkResult<std::size_t> send(std::span<const link::TxFrame> frames) override {
    std::size_t taken = 0;
    for (const link::TxFrame& frame : frames) {
      if (frame.segment_size != 0 && left_ == 0) {
        refused_ = true;
        break;
      }
      if (frame.segment_size != 0) --left_;
      counts_.sent_bytes += frame.bytes.size();
      ++counts_.sent;
      sent.emplace_back(Frame{frame.bytes.begin(), frame.bytes.end()}, frame.segment_size);
      ++taken;
    }
    return taken;
  }
  [[nodiscard]] int fd() const override { return -1; }
  [[nodiscard]] link::LinkCounters counters() const override { return counts_; }

  std::vector<std::pair<Frame, std::uint32_t>> sent;

 private:
  std::size_t left_;
  bool refused_ = false;
  link::LinkCounters counts_;
};

FrameSource counting_source() {
  SpecResult<VaryingPacket> packet = read_packet({{"payload_length", "100"}, {"bth.psn", "+1"}, {"ip.id", "0xfff0+1"}});
  EXPECT_TRUE(packet.has_value());
  SpecResult<FrameSource> source = FrameSource::make({*packet}, 1);
  EXPECT_TRUE(source.has_value());
  return std::move(*source);
}

/// Sends 100 frames over a link that takes `super_frames` super-frames. Returns the frames as they are on the wire.
std::vector<Frame> sent_with(std::size_t super_frames, SendTotals& totals) {
  FakeLink link{super_frames};
  FrameSender sender{link, SendPlan{counting_source(), {}, {}, 100}, {}};
  EXPECT_TRUE(sender.run().has_value());
  totals = sender.totals();
  std::vector<Frame> frames;
  for (const auto& [bytes, segment_size] : link.sent) {
    if (segment_size == 0) {
      frames.push_back(bytes);
      continue;
    }
    const Packet packet = parse_frame(bytes, LinkType::ethernet);
    const auto parts = super_frame_of(packet, segment_size);
    EXPECT_TRUE(parts.has_value());
    for (std::uint32_t i = 0; parts && i < parts->count; ++i) {
      frames.emplace_back();
      cut_frame(packet, *parts, i, frames.back());
    }
  }
  return frames;
}

TEST(FrameSender, SendsTheSameFramesInSuperFramesAndWhereTheyAreRefused) {
  std::vector<Frame> wanted;
  FrameSource source = counting_source();
  std::size_t bytes = 0;
  for (int i = 0; i < 100; ++i) {
    const Bytes frame = source.next().value();
    wanted.emplace_back(frame.begin(), frame.end());
    bytes += frame.size();
  }
  for (const std::size_t taken : {0U, 1U, 5U, 100U}) {
    SendTotals totals;
    EXPECT_EQ(sent_with(taken, totals), wanted) << taken;
    EXPECT_EQ(totals.frames, 100U) << taken;
    EXPECT_EQ(totals.bytes, bytes) << taken;
    EXPECT_EQ(totals.refused, 0U) << taken;
    // 100 frames are twelve super-frames of eight, and one of four.
    EXPECT_EQ(totals.super_frames, std::min<std::size_t>(taken, 13)) << taken;
    EXPECT_EQ(totals.refusal, taken < 13 ? "refused on purpose" : "") << taken;
  }
}

}  // namespace
}  // namespace roce::gen
