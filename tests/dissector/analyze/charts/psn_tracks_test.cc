// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/charts/psn_tracks.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace roce::analyze {
namespace {

/// Packets of streams, as an analysis hands them over.
class Packets {
 public:
  explicit Packets(PsnTracks& tracks) : tracks_(tracks) {}

  void request(std::uint32_t stream, std::uint64_t frame, std::int64_t psn) {
    analysis::Observation seen;
    seen.kind = PacketKind::roce;
    seen.id.frame = frame;
    seen.time = Time{Duration{static_cast<std::int64_t>(frame) * 1000}};
    seen.psn = Psn{static_cast<std::uint32_t>(0xFF'FFF0 + psn) & 0xFF'FFFFU};
    analysis::PacketAnalysis known;
    known.stream = stream;
    known.role = analysis::PacketRole::request;
    known.relative_psn = psn;
    tracks_.add(seen, known);
  }
  void verdict(analysis::VerdictKind kind, std::uint32_t stream, std::uint64_t frame, std::uint32_t psn = 0) {
    analysis::Verdict verdict;
    verdict.kind = kind;
    verdict.stream = stream;
    verdict.packet.frame = frame;
    verdict.first_psn = Psn{psn};
    verdict.lost_packets = 1;
    tracks_.add(verdict);
  }

 private:
  PsnTracks& tracks_;
};

TEST(PsnTracks, KeepTheBeginAndWhatIsAroundFindings) {
  PsnTracks tracks;
  Packets packets{tracks};
  constexpr std::uint64_t kFinding = 50'000;
  for (std::uint64_t frame = 1; frame <= 100'000; ++frame) {
    packets.request(7, frame, static_cast<std::int64_t>(frame) - 1);
    if (frame == kFinding) packets.verdict(analysis::VerdictKind::request_lost_after, 7, frame);
  }
  const std::vector<PsnPoint> points = tracks.points(7);
  EXPECT_EQ(tracks.packets(7), 100'000U);
  EXPECT_EQ(points.size(), PsnTracks::kFirst + 3 * PsnTracks::kAround);
  EXPECT_EQ(points.front().frame, 1U);
  EXPECT_EQ(points[points.size() - PsnTracks::kAround - 1].frame, kFinding + PsnTracks::kAround);
  EXPECT_EQ(points.back().frame, 100'000U) << "the newest";
  const auto lost =
      std::find_if(points.begin(), points.end(), [](const PsnPoint& point) { return point.kind == PsnKind::lost; });
  ASSERT_NE(lost, points.end());
  EXPECT_EQ(lost->frame, kFinding);
}

TEST(PsnTracks, KeepWhatIsAroundTheLongestTimesWithoutAny) {
  PsnTracks tracks;
  Packets packets{tracks};
  // Frames are numbered by their microseconds here.
  constexpr std::uint64_t kBefore = 10'000;
  constexpr std::uint64_t kAfter = 270'000;
  for (std::uint64_t frame = 1; frame <= kBefore; ++frame) packets.request(7, frame, static_cast<std::int64_t>(frame));
  for (std::uint64_t frame = kAfter; frame < kAfter + 10'000; ++frame) {
    packets.request(7, frame, static_cast<std::int64_t>(frame));
  }
  // Shorter ones are kept no longer.
  for (std::uint64_t frame = kAfter + 300'000; frame < kAfter + 310'000; ++frame) {
    packets.request(7, frame, static_cast<std::int64_t>(frame));
  }
  const std::vector<PsnPoint> points = tracks.points(7);
  EXPECT_EQ(points.size(), PsnTracks::kFirst + 3 * PsnTracks::kAround);
  EXPECT_EQ(points[PsnTracks::kFirst + PsnTracks::kAround - 1].frame, kBefore);
  EXPECT_EQ(points[PsnTracks::kFirst + PsnTracks::kAround].frame, kAfter);
}

TEST(PsnTracks, FindsThePlaceOfWhatWasNeverSeenAcrossTheWrap) {
  PsnTracks tracks;
  Packets packets{tracks};
  packets.request(1, 1, 0);   // PSN 0xFFFFF0
  packets.request(1, 2, 20);  // PSN 4
  packets.verdict(analysis::VerdictKind::request_lost_before, 1, 2, 3);
  packets.verdict(analysis::VerdictKind::request_lost_before, 1, 2, 0xFF'FFF1);
  std::vector<std::int64_t> lost;
  for (const PsnPoint& point : tracks.points(1)) {
    if (point.kind == PsnKind::lost_unseen) lost.push_back(point.psn);
  }
  EXPECT_EQ(lost, (std::vector<std::int64_t>{19, 1}));
}

TEST(PsnTracks, AreBoundedInStreamsAndPoints) {
  PsnTracks tracks;
  Packets packets{tracks};
  std::uint64_t frame = 0;
  for (std::uint32_t stream = 0; stream < PsnTracks::kStreams + 100; ++stream) {
    for (std::int64_t psn = 0; psn < 200; ++psn) {
      packets.request(stream, ++frame, psn);
      packets.verdict(analysis::VerdictKind::retransmission, stream, frame);
    }
  }
  std::size_t all = 0;
  std::size_t streams = 0;
  for (std::uint32_t stream = 0; stream < PsnTracks::kStreams + 100; ++stream) {
    all += tracks.points(stream).size();
    if (tracks.packets(stream) != 0) ++streams;
  }
  EXPECT_EQ(all, PsnTracks::kAll);
  EXPECT_EQ(streams, PsnTracks::kStreams);
}

}  // namespace
}  // namespace roce::analyze
