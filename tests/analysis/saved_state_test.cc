// SPDX-License-Identifier: BSD-2-Clause
#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <string>

#include "analysis/captured_packets.h"
#include "roce/analysis/pause.h"
#include "roce/analysis/tracker_shards.h"

namespace roce::analysis {
namespace {

using Reason = StateError::Reason;
using State = std::vector<std::byte>;

/// Limits the tracker to a few streams, so that streams are also closed and begun again.
TrackerOptions few_streams() {
  TrackerOptions options;
  options.limits.streams = 60;
  return options;
}

template <typename Trackers>
void take(Trackers& trackers, Findings& found) {
  trackers.drain(found.verdicts);
  trackers.drain_messages(found.messages);
  trackers.drain_answers(found.answers);
  trackers.drain_closed(found.streams);
}

template <typename Trackers>
void observe(Trackers& trackers, const Observation& packet, Findings& found) {
  const PacketAnalysis& known = trackers.observe(packet);
  found.verdicts.insert(found.verdicts.end(), known.verdicts.begin(), known.verdicts.end());
}

/// Feeds all packets; after each number of them in `cuts` (rising) a new tracker continues from the saved state.
template <typename Trackers>
Findings in_pieces(const std::vector<Observation>& packets, const std::vector<std::size_t>& cuts,
                   const TrackerOptions& options) {
  Findings found;
  Trackers trackers{options};
  std::size_t at = 0;
  for (const std::size_t cut : cuts) {
    for (; at < cut; ++at) observe(trackers, packets[at], found);
    take(trackers, found);
    Trackers next{options};
    const auto restored = next.restore(trackers.save());
    EXPECT_TRUE(restored.has_value()) << to_string(restored.error());
    trackers = std::move(next);
  }
  for (; at < packets.size(); ++at) observe(trackers, packets[at], found);
  trackers.finish();
  take(trackers, found);
  std::sort(found.streams.begin(), found.streams.end(),
            [](const StreamSummary& a, const StreamSummary& b) { return a.stream < b.stream; });
  found.evictions = trackers.evictions();
  return found;
}

std::vector<std::size_t> random_cuts(std::mt19937& random, std::size_t count, std::size_t packets) {
  std::vector<std::size_t> cuts(count);
  std::generate(cuts.begin(), cuts.end(), [&] { return random() % packets; });
  std::sort(cuts.begin(), cuts.end());
  return cuts;
}

template <typename Trackers>
void expect_pieces_to_say_what_the_whole_says(const TrackerOptions& options) {
  const std::vector<Observation> packets = many_hosts();
  const Findings whole = in_pieces<Trackers>(packets, {}, options);
  ASSERT_GT(whole.verdicts.size(), 1000U);
  std::mt19937 random{11};
  for (const std::size_t count : {1U, 1U, 3U, 20U}) {
    expect_equal(whole, in_pieces<Trackers>(packets, random_cuts(random, count, packets.size()), options));
  }
}

TEST(SavedTracker, GoesOnAsIfNothingHadHappened) {
  expect_pieces_to_say_what_the_whole_says<Tracker>({});
  expect_pieces_to_say_what_the_whole_says<Tracker>(few_streams());
}

TEST(SavedShards, GoOnAsIfNothingHadHappened) {
  expect_pieces_to_say_what_the_whole_says<TrackerShards>({});
  expect_pieces_to_say_what_the_whole_says<TrackerShards>(few_streams());
}

TEST(SavedShards, HaveTheStreamsThatAreOpen) {
  const std::vector<Observation> packets = many_hosts();
  TrackerShards shards;
  Tracker tracker;
  for (std::size_t i = 0; i < packets.size() / 2; ++i) {
    shards.observe(packets[i]);
    tracker.observe(packets[i]);
  }
  std::vector<StreamSummary> closed;
  tracker.drain_closed(closed);
  TrackerShards next;
  ASSERT_TRUE(next.restore(shards.save()));
  EXPECT_GT(next.streams().size(), 100U);
  EXPECT_TRUE(next.streams() == tracker.streams());
}

TEST(SavedTracker, IsTheSameWhenItIsSavedAgain) {
  const std::vector<Observation> packets = many_hosts();
  Tracker tracker;
  for (std::size_t i = 0; i < packets.size() / 2; ++i) tracker.observe(packets[i]);
  const State state = tracker.save();
  Tracker next;
  ASSERT_TRUE(next.restore(state));
  EXPECT_TRUE(next.save() == state);
}

Observation pause_of(std::uint64_t frame, std::int64_t microseconds, std::uint8_t station, std::uint16_t quanta) {
  Observation pause;
  pause.kind = PacketKind::pfc;
  pause.id = {frame, 0};
  pause.time = Time{std::chrono::microseconds{microseconds}};
  pause.source_mac.octets[5] = station;
  pause.pause_enabled = 1U << 3U;
  pause.pause_quanta[3] = quanta;
  return pause;
}

TEST(SavedPauses, GoOnAsIfNothingHadHappened) {
  Observation packet;
  packet.kind = PacketKind::roce;
  packet.id = {3, 0};
  packet.time = Time{std::chrono::microseconds{30}};
  packet.source_mac.octets[5] = 2;
  packet.destination_mac.octets[5] = 1;
  packet.link_priority = 3;
  PauseOptions options;
  options.link_bits_per_second = 1'000'000'000;
  PauseTracker first{options};
  first.observe(packet);
  first.observe(pause_of(1, 10, 1, 0xFFFF));
  PauseTracker second{options};
  ASSERT_TRUE(second.restore(first.save()));
  packet.id = {4, 0};
  packet.time = Time{std::chrono::milliseconds{5}};
  const auto breach = second.observe(packet);
  ASSERT_TRUE(breach);
  EXPECT_EQ(breach->xoff, (PacketId{1, 0}));
  second.observe(pause_of(5, 6'010, 1, 0));
  const std::vector<PauseSummary> summaries = second.summaries();
  ASSERT_EQ(summaries.size(), 1U);
  EXPECT_EQ(summaries[0].frames, 2U);
  EXPECT_EQ(summaries[0].counts[3].paused, std::chrono::milliseconds{6});
}

State some_state() {
  const std::vector<Observation> packets = many_hosts();
  Tracker tracker;
  for (std::size_t i = 0; i < 2000; ++i) tracker.observe(packets[i]);
  return tracker.save();
}

void expect_refused(const State& state, Reason reason, std::string_view text) {
  const std::vector<Observation> packets = many_hosts();
  Tracker tracker;
  for (std::size_t i = 0; i < 100; ++i) tracker.observe(packets[i]);
  const State before = tracker.save();
  const auto restored = tracker.restore(state);
  ASSERT_FALSE(restored);
  EXPECT_EQ(restored.error().reason, reason) << to_string(restored.error());
  EXPECT_THAT(to_string(restored.error()), testing::HasSubstr(text));
  EXPECT_TRUE(tracker.save() == before);
}

TEST(SavedTracker, RefusesWhatIsNoState) {
  expect_refused({}, Reason::foreign, "no saved state");
  expect_refused(TrackerShards{}.save(), Reason::foreign, "no saved state");
  expect_refused(PauseTracker{}.save(), Reason::foreign, "no saved state");
}

TEST(SavedTracker, RefusesAnotherVersion) {
  State state = some_state();
  state[4] = std::byte{99};
  expect_refused(state, Reason::version, "format 99 instead of ");
}

TEST(SavedTracker, RefusesADamagedState) {
  const State whole = some_state();
  State half = whole;
  half.resize(whole.size() / 2);
  expect_refused(half, Reason::damaged, std::to_string(half.size() - 24) + " instead of ");
  half.resize(10);
  expect_refused(half, Reason::damaged, "10 instead of 24 bytes");
  State bent = whole;
  bent[whole.size() / 2] ^= std::byte{1};
  expect_refused(bent, Reason::damaged, "checksum at byte 16");
}

/// Corrects the checksum, as an attacker would.
void seal(State& state) {
  std::uint64_t sum = 0xCBF2'9CE4'8422'2325;
  for (std::size_t i = 24; i < state.size(); ++i) {
    sum = (sum ^ std::to_integer<std::uint64_t>(state[i])) * 0x100'0000'01B3;
  }
  for (std::size_t i = 0; i < 8; ++i) state[16 + i] = static_cast<std::byte>(sum >> (8 * i));
}

TEST(SavedTracker, IsSafeFromHostileStates) {
  const std::vector<Observation> packets = many_hosts();
  constexpr std::size_t kBefore = 1500;
  constexpr std::size_t kAfter = 600;
  Tracker tracker;
  for (std::size_t i = 0; i < kBefore; ++i) tracker.observe(packets[i]);
  const State whole = tracker.save();
  std::mt19937 random{5};
  std::size_t refused = 0;
  std::size_t taken = 0;
  for (int round = 0; round < 400; ++round) {
    State state = whole;
    for (unsigned changes = 1 + random() % 4; changes != 0; --changes) {
      state[24 + random() % (state.size() - 24)] = static_cast<std::byte>(random());
    }
    seal(state);
    Tracker next;
    if (!next.restore(state)) {
      ++refused;
      EXPECT_EQ(next.streams_begun(), 0U);
      continue;
    }
    ++taken;
    for (std::size_t i = kBefore; i < kBefore + kAfter; ++i) next.observe(packets[i]);
    next.finish();
    EXPECT_LE(next.streams().size(), next.streams_begun());
  }
  EXPECT_GT(refused, 20U);
  EXPECT_GT(taken, 20U);
}

TEST(SavedStreams, AreTheSame) {
  const std::vector<Observation> packets = many_hosts();
  const std::vector<StreamSummary> streams = in_pieces<Tracker>(packets, {}, {}).streams;
  ASSERT_GT(streams.size(), 100U);
  const auto restored = restore_streams(save_streams(streams));
  ASSERT_TRUE(restored) << to_string(restored.error());
  EXPECT_TRUE(*restored == streams);
  EXPECT_FALSE(restore_streams(some_state()));
}

TEST(MergedSummary, IsTheSumOfBoth) {
  const std::vector<Observation> packets = many_hosts();
  Tracker whole;
  for (const Observation& packet : packets) whole.observe(packet);
  whole.finish();
  const std::vector<StreamSummary> streams = whole.streams();
  const auto packets_of = [](const StreamSummary& stream) {
    return std::min(stream.directions[0].packets, stream.directions[1].packets);
  };
  const StreamSummary& expected =
      *std::max_element(streams.begin(), streams.end(),
                        [&](const StreamSummary& a, const StreamSummary& b) { return packets_of(a) < packets_of(b); });
  const std::uint64_t middle = (expected.first.frame + expected.last.frame) / 2;
  Tracker first;
  Tracker second;
  for (const Observation& packet : packets) (packet.id.frame < middle ? first : second).observe(packet);
  const auto summary_of = [&](Tracker& tracker) {
    tracker.finish();
    const std::vector<StreamSummary> all = tracker.streams();
    // The stream may begin with a packet of the other end.
    const auto found = std::find_if(all.begin(), all.end(), [&](const StreamSummary& each) {
      return each.service == expected.service &&
             (each.ends == expected.ends ? each.qpns == expected.qpns
                                         : each.ends[0] == expected.ends[1] && each.qpns[0] == expected.qpns[1]);
    });
    EXPECT_NE(found, all.end());
    return found == all.end() ? StreamSummary{} : *found;
  };
  StreamSummary sum = summary_of(first);
  merge(sum, summary_of(second));
  for (std::size_t end = 0; end < 2; ++end) {
    EXPECT_GT(sum.directions[end].packets, 10U);
    EXPECT_EQ(sum.directions[end].packets, expected.directions[end].packets);
    EXPECT_EQ(sum.directions[end].bytes, expected.directions[end].bytes);
    EXPECT_EQ(sum.directions[end].request_bytes, expected.directions[end].request_bytes);
    EXPECT_EQ(sum.directions[end].acks, expected.directions[end].acks);
  }
  EXPECT_EQ(sum.start, expected.start);
  EXPECT_EQ(sum.end, expected.end);
  EXPECT_EQ(sum.first, expected.first);
  EXPECT_EQ(sum.last, expected.last);
}

TEST(MergedSummary, TurnsWhatStandsTheOtherWayRound) {
  StreamSummary sum;
  sum.ends[0].octets[15] = 1;
  sum.ends[1].octets[15] = 2;
  sum.qpns[1] = Qpn{0x22};
  sum.directions[0].packets = 10;
  StreamSummary later = sum;
  std::swap(later.ends[0], later.ends[1]);
  later.qpns = {Qpn{0x22}, Qpn{0x11}};
  later.directions[0].packets = 3;
  later.directions[1].packets = 4;
  later.congestion.push_back({});
  later.congestion[0].marks = 5;
  merge(sum, later);
  EXPECT_EQ(sum.qpns[0], Qpn{0x11});
  EXPECT_EQ(sum.directions[0].packets, 14U);
  EXPECT_EQ(sum.directions[1].packets, 3U);
  ASSERT_EQ(sum.congestion.size(), 1U);
  EXPECT_EQ(sum.congestion[0].direction, 1);
  EXPECT_EQ(sum.congestion[0].marks, 5U);
}

}  // namespace
}  // namespace roce::analysis
