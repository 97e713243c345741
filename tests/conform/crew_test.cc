// SPDX-License-Identifier: BSD-2-Clause
// Several fuzzers of one device: what they learn is one, and they keep away from each other's QPs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include "conform/fuzz/bench.h"
#include "conform/fuzz/corpus_folder.h"
#include "conform/fuzz/crew.h"
#include "conform/fuzz/request_frame.h"
#include "conform/fuzz/state_file.h"
#include "conform/target/memory_target.h"
#include "roce/transport/profile.h"

namespace roce::conform::fuzz {
namespace {

constexpr std::size_t kWays = 4;

std::unique_ptr<Target> make_endpoint(std::uint64_t seed) {
  return std::make_unique<MemoryTarget>(transport::strict_profile(), seed);
}

TEST(Crew, LearnsTogether) {
  std::atomic<unsigned> used = 0;
  std::vector<TargetFactory> ways;
  for (std::size_t i = 0; i < kWays; ++i) {
    ways.emplace_back([&used, is_first = true](std::uint64_t seed) mutable {
      if (std::exchange(is_first, false)) ++used;
      return make_endpoint(seed);
    });
  }
  Crew crew{ways, {.seed = 5}};
  const auto watch = [&] { return used < kWays || crew.knowledge().counts().programs < 500; };
  ASSERT_TRUE(crew.run(0, watch));
  const FuzzCounts counts = crew.knowledge().counts();
  EXPECT_GT(counts.signatures, 200U);
  EXPECT_GT(counts.corpus, 50U);
  EXPECT_EQ(counts.findings, 0U);
  const FuzzMemory memory = crew.knowledge().memory();
  EXPECT_EQ(memory.signatures.size(), counts.signatures);
  EXPECT_EQ(std::unordered_set(memory.signatures.begin(), memory.signatures.end()).size(), counts.signatures);
}

TEST(Crew, EndsAfterSoManyPrograms) {
  Crew crew{std::vector<TargetFactory>(kWays, make_endpoint), {.seed = 5}};
  ASSERT_TRUE(crew.run(100, [] { return true; }));
  EXPECT_EQ(crew.knowledge().counts().programs, 100U);
  ASSERT_TRUE(crew.run(150, [] { return true; }));
  EXPECT_EQ(crew.knowledge().counts().programs, 150U);
}

TEST(Crew, MakesUpOtherConversationsAfterWhatItRemembers) {
  const std::vector<TargetFactory> ways{make_endpoint};
  Crew first{ways, {.seed = 5}};
  ASSERT_TRUE(first.run(200, [] { return true; }));
  Crew second{ways, {.seed = 5}};
  second.remember(first.knowledge().memory());
  ASSERT_TRUE(second.run(400, [] { return true; }));
  EXPECT_EQ(second.knowledge().counts().programs, 400U);
  EXPECT_GT(second.knowledge().counts().signatures, first.knowledge().counts().signatures);
}

TEST(Crew, LeavesOutWhatAnEarlierOneLeftOut) {
  const std::vector<TargetFactory> ways{make_endpoint};
  Crew first{ways, {.seed = 5}};
  first.first().gate().leave_out(7);
  first.first().gate().leave_out(UINT64_MAX);
  Crew second{ways, {.seed = 5}};
  second.remember(first.memory());
  EXPECT_TRUE(second.first().gate().is_left_out(7));
  EXPECT_TRUE(second.first().gate().is_left_out(UINT64_MAX));
  EXPECT_FALSE(second.first().gate().is_left_out(8));
}

TEST(StateFile, KeepsWhatIsLeftOut) {
  std::string path = testing::TempDir() + "/left-out-XXXXXX";
  ASSERT_NE(mkdtemp(path.data()), nullptr);
  {
    const FileResult<CorpusFolder> folder = CorpusFolder::open(path);
    ASSERT_TRUE(folder);
    FileResult<StateFile> state = StateFile::open(*folder, 1, "a device");
    ASSERT_TRUE(state);
    ASSERT_TRUE(state->save({.left_out = {7, UINT64_MAX}}, 1));
    const FileResult<StateFile::Loaded> loaded = state->load();
    ASSERT_TRUE(loaded) << loaded.error();
    EXPECT_THAT(loaded->memory.left_out, testing::ElementsAre(7, UINT64_MAX));
  }
  std::filesystem::remove_all(path);
}

/// Our endpoint, which nothing reaches any more after its regions are filled.
class DeafTarget final : public MemoryTarget {
 public:
  explicit DeafTarget(std::uint64_t seed) : MemoryTarget(transport::strict_profile(), seed) {}
  void send(std::span<const std::byte> frame) override {
    constexpr unsigned to_fill = (kRegionBytes + kLentBytes) / kFillBytes;
    if (++sent_ <= to_fill + 1) MemoryTarget::send(frame);
  }

 private:
  unsigned sent_ = 0;
};

TEST(Crew, MakesEqualFindingsOne) {
  const std::vector<TargetFactory> ways(kWays, [](std::uint64_t seed) { return std::make_unique<DeafTarget>(seed); });
  Crew crew{ways, {.seed = 5, .repeats = 4, .trials = 20}};
  ASSERT_TRUE(crew.run(60, [] { return true; }));
  const std::vector<Finding>& findings = crew.knowledge().findings();
  ASSERT_FALSE(findings.empty());
  std::unordered_set<std::string> places;
  std::uint64_t times = 0;
  for (const Finding& finding : findings) {
    EXPECT_TRUE(places.insert(finding.result.alarm->place).second) << finding.result.alarm->place;
    EXPECT_EQ(finding.shown, finding.repeats);
    times += finding.times;
  }
  EXPECT_EQ(times, 60U);
  EXPECT_EQ(crew.knowledge().take_settled().size(), findings.size());
  EXPECT_TRUE(crew.knowledge().take_settled().empty());
}

TEST(Crew, EndsWhenTheDeviceIsGone) {
  std::vector<TargetFactory> ways(kWays, make_endpoint);
  ways.back() = [](std::uint64_t) -> std::unique_ptr<Target> { throw DeviceGone("it does not answer"); };
  Crew crew{ways, {.seed = 5}};
  EXPECT_THROW((void)crew.run(0, [] { return true; }), DeviceGone);
}

class WithoutRegions final : public MemoryTarget {
 public:
  explicit WithoutRegions(std::uint64_t seed) : MemoryTarget(transport::strict_profile(), seed) {}
  [[nodiscard]] TargetResult<Region> create_region(const RegionSetup& /*setup*/) override {
    return tl::unexpected(std::string{"no memory"});
  }
};

TEST(Crew, SaysWhatTheDeviceRefuses) {
  std::vector<TargetFactory> ways(kWays, make_endpoint);
  ways.back() = [](std::uint64_t seed) { return std::make_unique<WithoutRegions>(seed); };
  Crew crew{ways, {.seed = 5}};
  const TargetResult<void> done = crew.run(0, [] { return true; });
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error(), "no memory");
}

TEST(Gate, KeepsFramesAwayFromTheQpsOfOthers) {
  MemoryTarget target{transport::strict_profile(), 1};
  Gate gate;
  TargetResult<Bench> bench = Bench::make(target, gate, {});
  ASSERT_TRUE(bench);
  const DeviceModel& clean = bench->clean();
  const std::vector<std::byte> frame =
      build_request({.opcode = Opcode::rc_read_request, .length = 8}, clean, *bench, target.port());
  const Packet packet = parse_frame(frame, LinkType::ethernet);
  const Qpn stranger{clean.attributes().qpn.value() + 1};
  const auto answer = [&] { return target.receive(target.now() + Timing{}.quiet); };
  EXPECT_FALSE(gate.send(target, frame, packet, stranger));
  EXPECT_FALSE(answer());
  EXPECT_TRUE(gate.send(target, frame, packet, clean.attributes().qpn));
  EXPECT_TRUE(answer());
  {
    TargetResult<Gate::Reserved> own = gate.make_qp(target, {.peer = bench->next_peer()});
    ASSERT_TRUE(own);
    EXPECT_FALSE(gate.send(target, frame, packet, own->qpn()));
  }
  // Once the bench is gone, nobody minds.
  bench = tl::unexpected(std::string{});
  EXPECT_TRUE(gate.send(target, frame, packet, stranger));
}

}  // namespace
}  // namespace roce::conform::fuzz
