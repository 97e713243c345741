// SPDX-License-Identifier: BSD-2-Clause
#include "roce/analysis/tracker_shards.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <random>
#include <string>
#include <tuple>

#include "roce/link/capture_reader.h"
#include "roce/wire/icrc.h"
#include "support/source_tree.h"

namespace roce::analysis {
namespace {

/// Everything that can be learnt of a capture.
struct Findings {
  std::vector<Verdict> verdicts;
  std::vector<Message> messages;
  std::vector<Answer> answers;
  std::vector<StreamSummary> streams;
  Evictions evictions;

  void sort() {
    std::sort(verdicts.begin(), verdicts.end(), [](const Verdict& a, const Verdict& b) {
      return std::tuple{a.packet, a.kind, a.first_psn.value(), a.other} <
             std::tuple{b.packet, b.kind, b.first_psn.value(), b.other};
    });
    std::sort(messages.begin(), messages.end(), [](const Message& a, const Message& b) {
      return std::tuple{a.stream, a.direction, a.number} < std::tuple{b.stream, b.direction, b.number};
    });
    std::sort(answers.begin(), answers.end(), [](const Answer& a, const Answer& b) {
      return std::tuple{a.response, a.request} < std::tuple{b.response, b.request};
    });
  }
};

/// The real captures, each between several pairs of hosts, packets of all in turn.
std::vector<Observation> many_hosts() {
  constexpr std::uint8_t kPairs = 5;
  std::vector<std::vector<Observation>> parts;
  for (const auto& entry : std::filesystem::directory_iterator{roce::test::captures_folder() + "/softroce"}) {
    if (entry.path().extension() != ".pcap") continue;
    auto reader = link::CaptureReader::open(entry.path());
    EXPECT_TRUE(reader.has_value());
    std::vector<Observation> part;
    link::CaptureRecord record;
    while (reader->next(record)) {
      const Packet packet = parse_frame(record.bytes, LinkType{record.link_type}, record.original_length);
      if (packet.is_roce())
        part.push_back(observe_packet(packet, check_icrc(packet), Time{Duration{record.timestamp_ns}}, {}));
    }
    parts.push_back(std::move(part));
  }
  std::sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  std::vector<Observation> all;
  for (std::size_t at = 0; at < parts.front().size(); ++at) {
    for (std::size_t part = 0; part < parts.size() && at < parts[part].size(); ++part) {
      for (std::uint8_t pair = 0; pair < kPairs; ++pair) {
        Observation packet = parts[part][at];
        packet.source.octets[14] = packet.destination.octets[14] = static_cast<std::uint8_t>(part * kPairs + pair);
        packet.id = {all.size() + 1, 0};
        all.push_back(packet);
      }
    }
  }
  return all;
}

/// Adds what the shards know at the end.
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

/// As threads would do it: in each batch the shards in an order left to chance. `cuts`: batches are given in parts.
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

void expect_equal(Findings a, Findings b) {
  a.sort();
  b.sort();
  EXPECT_TRUE(a.verdicts == b.verdicts) << a.verdicts.size() << " and " << b.verdicts.size();
  EXPECT_TRUE(a.messages == b.messages) << a.messages.size() << " and " << b.messages.size();
  EXPECT_TRUE(a.answers == b.answers) << a.answers.size() << " and " << b.answers.size();
  EXPECT_TRUE(a.streams == b.streams) << a.streams.size() << " and " << b.streams.size();
  EXPECT_TRUE(a.evictions == b.evictions) << a.evictions.streams << " and " << b.evictions.streams;
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
