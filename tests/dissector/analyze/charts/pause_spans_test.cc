// SPDX-License-Identifier: BSD-2-Clause
#include "analyze/charts/pause_spans.h"

#include <gtest/gtest.h>

#include <random>

namespace roce::analyze {
namespace {

constexpr std::uint64_t kSpeed = 100'000'000'000;

analysis::Observation pfc(std::int64_t time, std::uint8_t priority, std::uint16_t quanta, std::uint8_t station = 1) {
  analysis::Observation packet;
  packet.kind = PacketKind::pfc;
  packet.time = Time{Duration{time}};
  packet.source_mac = MacAddress{{2, 0, 0, 0, 0, station}};
  packet.pause_enabled = static_cast<std::uint8_t>(1U << priority);
  packet.pause_quanta[priority] = quanta;
  return packet;
}

std::int64_t sum_of(const std::vector<PauseSpan>& spans) {
  std::int64_t sum = 0;
  for (const PauseSpan& span : spans) sum += span.end_ns - span.begin_ns;
  return sum;
}

TEST(PauseSpans, LastFromXoffToXonWithoutALinkSpeed) {
  PauseSpans spans{0};
  std::int64_t passed_on = 0;
  const PauseSpans::Sink sink = [&](const PauseSpan& span) { passed_on += span.end_ns - span.begin_ns; };
  for (const auto& packet : {pfc(100, 3, 65535), pfc(200, 3, 65535), pfc(350, 3, 0), pfc(400, 3, 0), pfc(500, 4, 9)}) {
    spans.observe(packet, sink);
  }
  spans.finish(10'000, sink);
  ASSERT_EQ(spans.spans().size(), 1U);
  EXPECT_EQ(spans.spans()[0], (PauseSpan{MacAddress{{2, 0, 0, 0, 0, 1}}, 0, 3, 100, 350}));
  EXPECT_EQ(passed_on, 250);
}

TEST(PauseSpans, AddUpToWhatTheAnalysisCounts) {
  std::mt19937 random{11};
  for (const std::uint64_t speed : {std::uint64_t{0}, kSpeed}) {
    SCOPED_TRACE(speed);
    analysis::PauseOptions options;
    options.link_bits_per_second = speed;
    analysis::PauseTracker tracker{options};
    PauseSpans spans{speed};
    std::int64_t now = 0;
    for (int i = 0; i < 2000; ++i) {
      now += random() % 3000;
      const auto quanta = static_cast<std::uint16_t>(random() % 3 == 0 ? 0 : random() % 600);
      const auto packet = pfc(now, random() % 2 == 0 ? 3 : 5, quanta, static_cast<std::uint8_t>(1 + random() % 3));
      static_cast<void>(tracker.observe(packet));
      spans.observe(packet, [](const PauseSpan&) {});
    }
    spans.finish(now, [](const PauseSpan&) {});
    std::int64_t counted = 0;
    for (const analysis::PauseSummary& station : tracker.summaries()) {
      for (const analysis::PauseCounts& counts : station.counts) {
        counted += speed == 0 ? counts.xoff_to_xon.count() : counts.paused.value_or(Duration{}).count();
      }
    }
    EXPECT_GT(counted, 0);
    EXPECT_EQ(sum_of(spans.spans()), counted);
  }
}

TEST(PauseSpans, KeepsABoundedNumber) {
  PauseSpans spans{0};
  std::size_t passed_on = 0;
  const PauseSpans::Sink sink = [&](const PauseSpan&) { ++passed_on; };
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(PauseSpans::kMost) + 10; ++i) {
    spans.observe(pfc(i * 100, 3, 9), sink);
    spans.observe(pfc(i * 100 + 50, 3, 0), sink);
  }
  EXPECT_EQ(spans.spans().size(), PauseSpans::kMost);
  EXPECT_EQ(spans.not_kept(), 10U);
  EXPECT_EQ(passed_on, PauseSpans::kMost + 10);
}

}  // namespace
}  // namespace roce::analyze
