// SPDX-License-Identifier: BSD-2-Clause
// PFC and PAUSE: how long an end was paused, and which end sent all the same.
#include "roce/analysis/pause.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <optional>

namespace roce::analysis {
namespace {

using std::chrono::microseconds;
using std::chrono::nanoseconds;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr MacAddress kHost{{2, 0, 0, 0, 0, 1}};
constexpr MacAddress kSwitch{{2, 0, 0, 0, 0, 9}};
constexpr MacAddress kOther{{2, 0, 0, 0, 0, 2}};
constexpr std::uint64_t k100G = 100'000'000'000;  // a quantum is 5.12 ns

/// Feeds a tracker; frames count from 1, times are in microseconds.
class PauseTest : public ::testing::Test {
 protected:
  void use(const PauseOptions& options) { tracker_ = PauseTracker{options}; }

  void pfc(double time, unsigned priority, std::uint16_t quanta, MacAddress from = kHost) {
    Observation packet = frame(time, PacketKind::pfc, from, MacAddress{{1, 0x80, 0xC2, 0, 0, 1}});
    packet.pause_enabled = static_cast<std::uint8_t>(1U << priority);
    packet.pause_quanta.fill(1);
    packet.pause_quanta[priority] = quanta;
    EXPECT_EQ(observe(packet), std::nullopt);
  }
  void pause(double time, std::uint16_t quanta, MacAddress from = kHost) {
    Observation packet = frame(time, PacketKind::pause, from, MacAddress{{1, 0x80, 0xC2, 0, 0, 1}});
    packet.pause_enabled = 0xFF;
    packet.pause_quanta.fill(quanta);
    EXPECT_EQ(observe(packet), std::nullopt);
  }
  /// Feeds a packet to the host. Returns how long its priority has been paused, in us, if it should not have been sent.
  std::optional<double> data(double time, unsigned priority, MacAddress to = kHost, MacAddress from = kSwitch,
                             Gid address = {}) {
    Observation packet = frame(time, PacketKind::roce, from, to);
    packet.destination = address;
    packet.link_priority = static_cast<std::uint8_t>(priority);
    return observe(packet);
  }
  /// The frames that follow were seen at this capture point.
  void go_to(std::uint16_t point) { point_ = point; }
  [[nodiscard]] std::vector<PauseSummary> summaries() const { return tracker_.summaries(); }
  [[nodiscard]] PauseCounts counts(std::size_t priority) const { return summaries().at(0).counts.at(priority); }
  [[nodiscard]] const PauseTracker& tracker() const { return tracker_; }
  [[nodiscard]] PacketId xoff() const { return xoff_; }

 private:
  Observation frame(double time, PacketKind kind, MacAddress from, MacAddress to) {
    Observation packet;
    packet.time = Time{nanoseconds{static_cast<std::int64_t>(time * 1000)}};
    packet.id = {++frames_, 0};
    packet.kind = kind;
    packet.point = point_;
    packet.source_mac = from;
    packet.destination_mac = to;
    return packet;
  }
  std::optional<double> observe(const Observation& packet) {
    const std::optional<PauseBreach> breach = tracker_.observe(packet);
    if (!breach) return std::nullopt;
    xoff_ = breach->xoff;
    return static_cast<double>(breach->elapsed.count()) / 1000;
  }

  PauseTracker tracker_{{k100G}};
  std::uint64_t frames_ = 0;
  std::uint16_t point_ = 0;
  PacketId xoff_{};
};

TEST_F(PauseTest, OverlappingPausesCountOnce) {
  pfc(0, 3, 1000);  // until 5.12
  pfc(2, 3, 1000);  // until 7.12
  pfc(5, 3, 0);
  ASSERT_THAT(summaries(), SizeIs(1));
  EXPECT_EQ(summaries()[0].source, kHost);
  EXPECT_EQ(summaries()[0].frames, 3U);
  const PauseCounts found = counts(3);
  EXPECT_EQ(found.xoff, 2U);
  EXPECT_EQ(found.xon, 1U);
  EXPECT_EQ(found.quanta, 2000U);
  EXPECT_EQ(found.paused, microseconds{5});
  EXPECT_EQ(found.xoff_to_xon, microseconds{5});
  EXPECT_EQ(found.ended, 1U);
}

TEST_F(PauseTest, ARunOfPausesReachesUpToItsXon) {
  pfc(0, 3, 1000);
  pfc(4, 3, 1000);
  pfc(7, 3, 0);
  pfc(8, 3, 1000);
  for (const PauseRun& run : {counts(3).longest_run, counts(3).sure_run}) {
    EXPECT_EQ(run.length, microseconds{7});
    EXPECT_EQ(run.frames, 2U);
  }
}

TEST_F(PauseTest, APauseEndsByItself) {
  pfc(0, 3, 1000);
  pfc(100, 3, 1000);
  EXPECT_EQ(counts(3).paused, nanoseconds{5120}) << "what comes behind the end of the capture does not count";
  (void)data(102, 3);
  EXPECT_EQ(counts(3).paused, nanoseconds{7120});
  (void)data(200, 3);
  EXPECT_EQ(counts(3).paused, nanoseconds{10'240});
  EXPECT_EQ(counts(3).ended, 0U) << "no XON ended it";
}

TEST_F(PauseTest, AShorterTimerTakesThePlaceOfALongerOne) {
  pfc(0, 3, 10'000);  // until 51.2
  pfc(10, 3, 1000);   // until 15.12
  (void)data(1000, 3);
  EXPECT_EQ(counts(3).paused, nanoseconds{15'120});
}

TEST_F(PauseTest, PrioritiesAndStationsAreApart) {
  pfc(0, 3, 1000);
  pfc(0, 4, 2000, kSwitch);
  pause(0, 3000, kSwitch);
  (void)data(1000, 3);
  ASSERT_THAT(summaries(), SizeIs(2));
  EXPECT_EQ(counts(3).paused, nanoseconds{5120});
  EXPECT_EQ(counts(4).paused, std::nullopt) << "the timer of a priority that is not enabled is ignored";
  EXPECT_EQ(summaries()[1].counts[4].paused, nanoseconds{10'240});
  EXPECT_EQ(summaries()[1].counts[PauseSummary::kAll].paused, nanoseconds{15'360});
  EXPECT_EQ(summaries()[1].counts[0].xoff, 0U);
}

TEST_F(PauseTest, CapturePointsAreOnLinksOfTheirOwn) {
  pfc(0, 3, 65'535);  // until 335.5
  go_to(1);
  EXPECT_EQ(data(100, 3), std::nullopt) << "at this point nobody asked for silence";
  pfc(100, 3, 1000);
  // Packets between other stations at point 1 do not show that point 0 has several links.
  EXPECT_EQ(data(110, 3, kOther, kSwitch), std::nullopt);
  go_to(0);
  EXPECT_EQ(data(120, 3), 120.0);
  ASSERT_THAT(summaries(), SizeIs(2));
  EXPECT_EQ(summaries()[0].point, 0);
  EXPECT_EQ(summaries()[1].point, 1);
  EXPECT_EQ(summaries()[1].counts[3].xoff, 1U);
}

TEST_F(PauseTest, WithoutALinkSpeedOnlyTheTimeUntilXonIsKnown) {
  use({});
  pfc(0, 3, 65'535);
  pfc(20, 3, 0);
  pfc(50, 3, 65'535);
  pfc(55, 3, 0);
  EXPECT_EQ(counts(3).paused, std::nullopt);
  EXPECT_EQ(counts(3).ended, 2U);
  EXPECT_EQ(counts(3).xoff_to_xon, microseconds{25});
  EXPECT_EQ(counts(3).longest_until_xon, microseconds{20});
}

TEST_F(PauseTest, SentWhilePaused) {
  pfc(0, 3, 65'535);  // until 335.5
  EXPECT_EQ(data(15, 3), std::nullopt) << "a partner needs time to stop";
  EXPECT_EQ(data(50, 4), std::nullopt) << "another priority";
  EXPECT_EQ(data(50, Observation::kNoPriority), std::nullopt) << "no tag says which priority it has";
  EXPECT_EQ(data(50, 3), 50);
  EXPECT_EQ(xoff(), (PacketId{1, 0}));
  EXPECT_EQ(data(50, 3, kSwitch, kHost), std::nullopt) << "the other way";
  EXPECT_EQ(data(335, 3), 335);
  EXPECT_EQ(data(336, 3), std::nullopt) << "the pause is over";
}

TEST_F(PauseTest, ResumedByXon) {
  pfc(0, 3, 65'535);
  pfc(40, 3, 0);
  EXPECT_EQ(data(50, 3), std::nullopt);
}

TEST_F(PauseTest, ARunOfXoffsEndsWithAnXonOrALapse) {
  use({});
  // On a link of 10 Gbit/s a timer of 65,535 quanta lasts 3,355 us.
  for (int i = 0; i <= 10; ++i) pfc(100 + i * 3000, 3, 65'535);
  EXPECT_EQ(counts(3).longest_run.length, microseconds{30'000});
  EXPECT_EQ(counts(3).longest_run.frames, 11U);
  EXPECT_EQ(counts(3).longest_run.begin, Time{microseconds{100}});
  EXPECT_EQ(counts(3).longest_run.first, (PacketId{1, 0}));
  EXPECT_EQ(counts(4).longest_run.length, Duration{}) << "another priority";
  pfc(33'000, 3, 0);
  EXPECT_EQ(counts(3).longest_run.length, microseconds{32'900}) << "up to the XON";
  for (int i = 0; i < 5; ++i) pfc(33'100 + i * 3000, 3, 65'535);
  for (int i = 0; i < 30; ++i) pfc(60'000 + i * 4000, 3, 65'535);
  EXPECT_EQ(counts(3).longest_run.length, microseconds{32'900}) << "the others were not renewed in time, or shorter";
}

TEST_F(PauseTest, AnXonAfterTheLastTimerRanOutIsNoPartOfTheRun) {
  use({});
  pfc(0, 3, 65'535);
  pfc(3000, 3, 65'535);
  pfc(9000, 3, 0);
  EXPECT_EQ(counts(3).longest_run.length, microseconds{3000});
}

TEST_F(PauseTest, AStationIsTheHostToWhichPacketsGoByItsAddress) {
  const auto address = [](std::uint8_t last) { return Gid::from_ipv4({{10, 0, 0, last}}); };
  (void)data(0, 3, kHost, kSwitch, address(1));
  pfc(1, 3, 100);
  EXPECT_EQ(summaries()[0].host, std::nullopt) << "known when the next packet comes";
  (void)data(100, 3, kHost, kSwitch, address(1));
  (void)data(101, 3, kSwitch, kHost, address(7));
  EXPECT_EQ(summaries()[0].host, address(1));
  EXPECT_FALSE(summaries()[0].has_several);
  (void)data(102, 3, kHost, kSwitch, address(2));
  (void)data(103, 3, kHost, kSwitch, address(1));
  EXPECT_EQ(summaries()[0].host, std::nullopt);
  EXPECT_TRUE(summaries()[0].has_several) << "a router";
}

TEST_F(PauseTest, ARunIsShorterOnAFasterLink) {
  use({.link_bits_per_second = k100G});
  for (int i = 0; i < 10; ++i) pfc(i * 1000, 3, 65'535);
  EXPECT_EQ(counts(3).longest_run.length, Duration{}) << "each was over after 335 us";
  for (int i = 0; i < 10; ++i) pfc(20'000 + i * 300, 3, 65'535);
  EXPECT_EQ(counts(3).longest_run.length, microseconds{2700});
}

TEST_F(PauseTest, ARunIsSureIfItHoldsOnTheFastestLink) {
  use({});
  // On a link of 800 Gbit/s a timer of 65,535 quanta lasts 41.9 us.
  for (int i = 0; i < 10; ++i) pfc(i * 41, 3, 65'535);
  for (int i = 0; i < 10; ++i) pfc(1000 + i * 43, 3, 65'535);
  EXPECT_EQ(counts(3).sure_run.length, microseconds{9 * 41});
  EXPECT_EQ(counts(3).sure_run.frames, 10U);
  EXPECT_EQ(counts(3).longest_run.length, microseconds{1000 + 9 * 43});
  use({.link_bits_per_second = k100G});
  for (int i = 0; i < 10; ++i) pfc(i * 300, 3, 65'535);
  EXPECT_EQ(counts(3).sure_run, counts(3).longest_run) << "the speed is known";
}

TEST_F(PauseTest, ARunGoesOnWithASavedState) {
  use({});
  for (int i = 0; i < 5; ++i) pfc(i * 1000, 3, 65'535);
  PauseTracker next;
  ASSERT_TRUE(next.restore(tracker().save()).has_value());
  EXPECT_EQ(next.summaries(), summaries());
  Observation later;
  later.kind = PacketKind::pfc;
  later.time = Time{microseconds{5000}};
  later.source_mac = kHost;
  later.pause_enabled = 8;
  later.pause_quanta.fill(1);
  EXPECT_EQ(next.observe(later), std::nullopt);
  EXPECT_EQ(next.summaries().at(0).counts.at(3).longest_run.length, microseconds{5000});
}

TEST_F(PauseTest, APauseThatIsRenewedInTimeGoesOn) {
  pfc(0, 3, 65'535);
  pfc(300, 3, 65'535);
  EXPECT_EQ(data(305, 3), 305);
  EXPECT_EQ(xoff(), (PacketId{1, 0}));
}

TEST_F(PauseTest, APauseThatBeginsAnewHasItsAllowance) {
  pfc(0, 3, 65'535);
  pfc(400, 3, 65'535);
  EXPECT_EQ(data(405, 3), std::nullopt);
  EXPECT_EQ(data(450, 3), 50);
  EXPECT_EQ(xoff(), (PacketId{2, 0}));
}

TEST_F(PauseTest, PauseHoldsForAllPriorities) {
  pause(0, 65'535);
  EXPECT_EQ(data(50, 5), 50);
  EXPECT_EQ(data(51, Observation::kNoPriority), 51);
}

TEST_F(PauseTest, ACaptureOfSeveralLinksProvesNothing) {
  EXPECT_EQ(data(0, 0, kSwitch, kOther), std::nullopt);
  pfc(1, 3, 65'535);
  EXPECT_EQ(data(50, 3), std::nullopt) << "seen on its way to the switch, perhaps";
}

TEST_F(PauseTest, ACaptureThatTurnsOutToHaveSeveralLinksProvesNothing) {
  pfc(0, 3, 65'535);
  EXPECT_EQ(data(50, 3), 50);
  EXPECT_EQ(data(51, 0, kSwitch, kOther), std::nullopt);
  EXPECT_EQ(data(52, 3), std::nullopt);
  EXPECT_EQ(data(53, 3), std::nullopt);
}

TEST_F(PauseTest, WithoutALinkSpeedAPauseIsShortAndAPartnerSlow) {
  use({});
  pfc(0, 3, 65'535);  // at least 41.9
  EXPECT_EQ(data(30, 3), std::nullopt);
  EXPECT_EQ(data(150, 3), std::nullopt);
  for (int time = 200; time <= 400; time += 40) pfc(time, 3, 65'535);
  EXPECT_EQ(data(410, 3), 210);
}

TEST_F(PauseTest, StationsAreBounded) {
  use({k100G, 1});
  pfc(0, 3, 1000);
  pfc(1, 3, 1000, kOther);
  pfc(2, 3, 0, kOther);
  EXPECT_THAT(summaries(), SizeIs(1));
  EXPECT_EQ(tracker().uncounted_frames(), 2U);
}

TEST_F(PauseTest, NothingWithoutSuchFrames) {
  EXPECT_EQ(data(0, 3), std::nullopt);
  EXPECT_THAT(summaries(), IsEmpty());
}

}  // namespace
}  // namespace roce::analysis
