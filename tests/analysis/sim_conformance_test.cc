// SPDX-License-Identifier: BSD-2-Clause
// Our own endpoint breaks no rule, whatever the network did to its packets and however few of them a capture has.
// ROCE_SEED=<seed> reruns one seed.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include "analysis/sim_truth_judge.h"
#include "roce/analysis/tracker.h"
#include "sim/random.h"
#include "support/sanitized.h"

namespace roce::sim_truth {
namespace {

using analysis::Observation;
using analysis::Verdict;
using analysis::VerdictKind;

constexpr std::uint64_t kRuns = test::kIsSanitized ? 30 : 500;
constexpr std::uint64_t kFirstSeed = 2'000'000;

/// The damage that a capture does to the packets that pass it.
enum class Capture : std::uint8_t { whole, holed, in_bursts, one_way, other_way, doubled, shuffled, late };
constexpr std::size_t kCaptures = 8;
constexpr std::array<std::string_view, kCaptures> kNames{"whole",     "holed",   "in_bursts", "one_way",
                                                         "other_way", "doubled", "shuffled",  "late"};

std::vector<Observation> capture_of(const Run& run, Capture capture) {
  sim::Random random(run.seed);
  std::vector<Observation> all;
  std::size_t missing = 0;
  const std::size_t begin = capture == Capture::late ? random.below(run.passages.size()) : 0;
  for (std::size_t i = begin; i < run.passages.size(); ++i) {
    const Observation& packet = run.passages[i].observation;
    const bool is_first_way = packet.source == run.passages[0].observation.source;
    if (capture == Capture::holed && random.below(10) == 0) continue;
    if (capture == Capture::in_bursts && missing == 0 && random.below(50) == 0) missing = 1 + random.below(20);
    if (missing != 0) {
      --missing;
      continue;
    }
    if (capture == Capture::one_way && !is_first_way) continue;
    if (capture == Capture::other_way && is_first_way) continue;
    all.push_back(packet);
    if (capture == Capture::doubled) all.push_back(packet);
    if (capture == Capture::shuffled && random.below(5) == 0) {
      const std::size_t back = std::min<std::size_t>(all.size() - 1, random.below(4));
      std::rotate(all.end() - 1 - static_cast<std::ptrdiff_t>(back), all.end() - 1, all.end());
    }
  }
  return all;
}

std::vector<Verdict> judge_all(const std::vector<Observation>& packets) {
  analysis::TrackerOptions options;
  options.keep_messages = options.keep_answers = false;
  analysis::Tracker tracker{options};
  std::vector<Verdict> broken;
  std::vector<Verdict> later;
  for (std::size_t i = 0; i < packets.size(); ++i) {
    Observation packet = packets[i];
    packet.id = {i + 1, 0};
    for (const Verdict& verdict : tracker.observe(packet).verdicts) {
      if (verdict.kind == VerdictKind::rule_broken) broken.push_back(verdict);
    }
    tracker.drain(later);
    later.clear();
  }
  return broken;
}

std::string text_of(const std::vector<Observation>& packets, const Verdict& verdict) {
  std::string text = fmt::format("{} frame {}, see {}\n", rule_info(verdict.rule).identifier, verdict.packet.frame,
                                 verdict.other.frame);
  const std::size_t at = verdict.packet.frame - 1;
  for (std::size_t i = at < 40 ? 0 : at - 40; i <= at; ++i) {
    const Observation& packet = packets[i];
    text += fmt::format("  {} {} ns {} to {:#x} PSN {} MSN {} {} of {} B id {} port {}\n", i + 1,
                        packet.time.time_since_epoch().count(), packet.info().name, packet.dest_qp.value(),
                        packet.psn.value(), packet.msn.value(), packet.payload_length, packet.dma_length, packet.ip_id,
                        packet.udp_source_port);
  }
  return text;
}

using Parameters = std::tuple<std::string_view, Weather>;

class SimConformance : public testing::TestWithParam<Parameters> {};

TEST_P(SimConformance, NoRuleIsBroken) {
  const auto [profile, weather] = GetParam();
  const char* only = std::getenv("ROCE_SEED");
  const std::uint64_t first = only != nullptr ? std::strtoull(only, nullptr, 0) : kFirstSeed;
  const std::uint64_t count = only != nullptr ? 1 : weather == Weather::clean ? kRuns / 10 : kRuns;
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    const auto run = make_run(seed, profile, weather);
    ASSERT_EQ(run.failure, "") << "seed " << seed;
    for (std::size_t i = 0; i < kCaptures; ++i) {
      const std::vector<Observation> packets = capture_of(run, static_cast<Capture>(i));
      const std::vector<Verdict> broken = judge_all(packets);
      ASSERT_TRUE(broken.empty()) << "seed " << seed << ' ' << kNames[i] << ": " << text_of(packets, broken.front());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, SimConformance,
                         testing::Combine(testing::Values("rxe", "hardware_like"),
                                          testing::Values(Weather::clean, Weather::faulty)),
                         [](const testing::TestParamInfo<Parameters>& test) {
                           return fmt::format("{}_{}", std::get<0>(test.param),
                                              std::get<1>(test.param) == Weather::clean ? "clean" : "faulty");
                         });

}  // namespace
}  // namespace roce::sim_truth
