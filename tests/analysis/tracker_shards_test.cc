// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/tracker_shards.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <map>
#include <random>

#include "analysis/captured_packets.h"

namespace roce::analysis {
namespace {

/// Adds the records that the shards have at the end.
Findings finish(TrackerShards& shards, Findings found) {
  shards.finish();
  shards.drain(found.verdicts);
  shards.drain_messages(found.messages);
  shards.drain_answers(found.answers);
  shards.drain_closed(found.streams);
  found.evictions = shards.evictions();
  return found;
}

Findings one_after_the_other(const std::vector<Observation>& packets, const TrackerOptions& options) {
  TrackerShards shards{options};
  Findings found;
  for (const Observation& packet : packets) {
    const PacketAnalysis& known = shards.observe(packet);
    found.verdicts.insert(found.verdicts.end(), known.verdicts.begin(), known.verdicts.end());
  }
  return finish(shards, std::move(found));
}

/// Runs the shards as threads would: each batch in random order of the shards. `cuts`: batches come in parts.
Findings in_batches(const std::vector<Observation>& packets, const TrackerOptions& options, bool cuts) {
  std::mt19937 random{7};
  TrackerShards shards{options};
  Findings found;
  for (std::size_t begin = 0; begin < packets.size();) {
    const std::uint64_t batch = TrackerShards::batch_of(packets[begin].id);
    const std::size_t most = cuts ? random() % TrackerShards::kBatchFrames + 1 : packets.size();
    std::size_t end = begin;
    while (end < packets.size() && end - begin < most && TrackerShards::batch_of(packets[end].id) == batch) ++end;
    std::vector<std::size_t> order(TrackerShards::kShards);
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::shuffle(order.begin(), order.end(), random);
    shards.begin_batch(batch);
    for (const std::size_t shard : order) {
      for (std::size_t i = begin; i < end; ++i) {
        if (TrackerShards::shard_of(packets[i]) == shard) shards.observe_in_batch(shard, packets[i]);
      }
    }
    shards.end_batch();
    begin = end;
  }
  return finish(shards, std::move(found));
}

TEST(TrackerShards, SayWhatOneTrackerSays) {
  const std::vector<Observation> packets = many_hosts();
  Findings one;
  Tracker tracker;
  for (const Observation& packet : packets) {
    const PacketAnalysis& known = tracker.observe(packet);
    one.verdicts.insert(one.verdicts.end(), known.verdicts.begin(), known.verdicts.end());
  }
  tracker.finish();
  tracker.drain(one.verdicts);
  tracker.drain_messages(one.messages);
  tracker.drain_answers(one.answers);
  one.streams = tracker.streams();
  one.evictions = tracker.evictions();
  ASSERT_GT(one.verdicts.size(), 1000U);
  ASSERT_GT(one.streams.size(), 100U);
  expect_equal(one, one_after_the_other(packets, {}));
}

TEST(TrackerShards, NameStreamsAsOneTrackerDoes) {
  Tracker tracker;
  TrackerShards shards;
  std::size_t absorbed = 0;
  for (const Observation& packet : many_hosts()) {
    const PacketAnalysis& expected = tracker.observe(packet);
    const PacketAnalysis& known = shards.observe(packet);
    ASSERT_EQ(known.stream, expected.stream);
    ASSERT_EQ(known.absorbed, expected.absorbed);
    if (known.absorbed != kNoStream) ++absorbed;
  }
  EXPECT_GT(absorbed, 10U);
}

TEST(TrackerShards, FindTheSameInBatches) {
  const std::vector<Observation> packets = many_hosts();
  ASSERT_GT(packets.size(), 4 * TrackerShards::kBatchFrames);
  const Findings expected = one_after_the_other(packets, {});
  expect_equal(expected, in_batches(packets, {}, false));
  expect_equal(expected, in_batches(packets, {}, true));
}

TEST(TrackerShards, CloseTheSameStreamsInBatches) {
  const std::vector<Observation> packets = many_hosts();
  TrackerOptions options;
  options.limits.streams = 20;
  const Findings expected = one_after_the_other(packets, options);
  EXPECT_GT(expected.evictions.streams, 100U);
  expect_equal(expected, in_batches(packets, options, false));
  expect_equal(expected, in_batches(packets, options, true));
}

TEST(TrackerShards, AreManyInUse) {
  std::map<std::size_t, std::size_t> packets;
  for (const Observation& packet : many_hosts()) ++packets[TrackerShards::shard_of(packet)];
  EXPECT_EQ(packets.size(), TrackerShards::kShards);
}

}  // namespace
}  // namespace roce::analysis
