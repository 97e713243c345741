// SPDX-License-Identifier: BSD-2-Clause
#include "roce/fabric/workload.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "fabric/run.h"

namespace roce::fabric {
namespace {

using namespace std::chrono_literals;

TEST(Workloads, APermutationHasEachHostOnceOnEachSide) {
  std::vector<Flow> flows;
  add_permutation(flows, 50, 1000, 3, {});
  std::set<NodeId> from;
  std::set<NodeId> to;
  for (const Flow& flow : flows) {
    EXPECT_NE(flow.from, flow.to);
    from.insert(flow.from);
    to.insert(flow.to);
  }
  EXPECT_EQ(from.size(), 50U);
  EXPECT_EQ(to.size(), 50U);
  std::vector<Flow> others;
  add_permutation(others, 50, 1000, 4, {});
  EXPECT_FALSE(std::ranges::equal(flows, others, {}, &Flow::to, &Flow::to));
}

TEST(Workloads, AllToAllHasEachPairOnce) {
  std::vector<Flow> flows;
  add_all_to_all(flows, 6, 1000, {});
  std::set<std::pair<NodeId, NodeId>> pairs;
  for (const Flow& flow : flows) pairs.emplace(flow.from, flow.to);
  EXPECT_EQ(flows.size(), 30U);
  EXPECT_EQ(pairs.size(), 30U);
}

TEST(Workloads, AnAllReduceTakesTwiceTheBytesOverTheRate) {
  // Each of 8 hosts sends 2 · 7 / 8 of 4 MB at 25 Gbit/s; a part is passed on when it has come as a whole.
  std::vector<Flow> flows;
  add_ring_all_reduce(flows, 8, 4'000'000, {});
  EXPECT_EQ(flows.size(), 8U * 14U);
  Fabric fabric = test::make(star(8, {}), {}, flows);
  fabric.run_until(Time{1s});
  ASSERT_TRUE(fabric.is_done());
  const double sending = 2 * 7 * 500'000 * 8 / test::kFull * 1e9;
  const auto took = static_cast<double>(fabric.now().time_since_epoch().count());
  EXPECT_GT(took, sending);
  EXPECT_LT(took, sending + 14 * 3000) << "2 us of links and a packet for each step";
}

TEST(Workloads, RandomLoadOffersWhatItSays) {
  const SizeDistribution sizes{{1'000, 0.5}, {10'000, 0.9}, {1'000'000, 1}};
  // 500 bytes in half of the cases, 5500 in 40 %, 505000 in 10 %.
  EXPECT_NEAR(mean_of(sizes), 0.5 * 500 + 0.4 * 5'500 + 0.1 * 505'000, 1);
  std::vector<Flow> flows;
  add_random_load(flows, {.hosts = 64, .load = 0.4, .length = 20ms, .sizes = sizes}, 1, {.start = 5ms});
  double bytes = 0;
  double small = 0;
  for (const Flow& flow : flows) {
    bytes += static_cast<double>(flow.bytes);
    small += flow.bytes <= 1'000 ? 1 : 0;
    EXPECT_GE(flow.start, 5ms);
    EXPECT_LT(flow.start, 25ms);
  }
  EXPECT_NEAR(bytes * 8 / 64 / 20e-3, 0.4 * 25e9, 0.4 * 25e9 * 0.05);
  EXPECT_NEAR(small / static_cast<double>(flows.size()), 0.5, 0.02);
  EXPECT_TRUE(std::ranges::is_sorted(flows, {}, &Flow::start));
}

TEST(Workloads, RandomLoadIsThatOfItsSeed) {
  std::vector<Flow> flows;
  std::vector<Flow> again;
  std::vector<Flow> others;
  const RandomLoad load{.hosts = 8, .length = 10ms};
  add_random_load(flows, load, 1, {});
  add_random_load(again, load, 1, {});
  add_random_load(others, load, 2, {});
  EXPECT_TRUE(std::ranges::equal(flows, again, {}, &Flow::start, &Flow::start));
  EXPECT_FALSE(std::ranges::equal(flows, others, {}, &Flow::start, &Flow::start));
}

}  // namespace
}  // namespace roce::fabric
