// SPDX-License-Identifier: BSD-2-Clause
// Two endpoints that speak NVMe over RDMA on a network that loses packets: the survey tells from the frames at the host
// when the host had sent its commands, and when it had its answers.
#include <gtest/gtest.h>

#include <array>
#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "roce/analysis/nvme.h"
#include "roce/wire/icrc.h"
#include "sim/endpoint.h"

namespace roce::analysis {
namespace {

using namespace std::chrono_literals;
using sim::Pair;
using sim::Tap;
using transport::WorkOpcode;

constexpr std::uint8_t kFlush = 0, kWrite = 1, kRead = 2;
constexpr std::uint64_t kData = 0x10000;
constexpr std::uint32_t kSlot = 8192;
constexpr std::uint64_t kResponses = 0x8000;  ///< where the sender of a capsule builds it, and where it receives others
constexpr Duration kStep = 200ns;

void put(std::span<std::byte> to, std::uint64_t value, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; ++i) to[i] = static_cast<std::byte>(value >> 8 * i & 0xFF);
}
std::uint64_t get(std::span<const std::byte> from, std::size_t bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes; i-- > 0;) value = value << 8 | std::to_integer<std::uint64_t>(from[i]);
  return value;
}

struct Truth {
  std::uint8_t opcode = 0;
  std::uint32_t bytes = 0;
  Time start{};
  Time finish{};
};

struct Plan {
  std::uint64_t seed = 11;
  std::string impair{};
  std::size_t depth = 4;
  std::uint16_t commands = 200;
  Duration service = 20us;
  std::size_t receives = 64;  ///< that the target keeps posted
  Duration late{};            ///< after which it posts one again
};

/// A host (a) with commands, and a target (b) that serves them.
class Traffic {
 public:
  Traffic(const Plan& plan, Tap tap) : plan_(plan), pair_(options(plan)) {
    pair_.network.keep_trace(tap);
    for (std::size_t i = 0; i < plan.depth; ++i) pair_.a.post_receive(kResponses + 64 * i, 64, 1000 + i);
    for (std::size_t i = 0; i < plan.receives; ++i) post_to_target(i);
  }

  void run() {
    for (int step = 0; answered_ < plan_.commands && step < 2'000'000; ++step) {
      ask();
      ASSERT_TRUE(pair_.network.run_for(kStep));
      serve();
      take_answers();
    }
    ASSERT_EQ(answered_, plan_.commands);
  }

  [[nodiscard]] const std::vector<Truth>& truth() const { return truth_; }
  [[nodiscard]] const std::vector<sim::TraceFrame>& trace() const { return pair_.network.trace(); }
  [[nodiscard]] sim::NodeId host() const { return pair_.a_host.node(); }
  [[nodiscard]] sim::NodeId target_node() const { return pair_.b_host.node(); }
  [[nodiscard]] Gid target() const { return pair_.b_host.gid(); }

 private:
  static Pair::Options options(const Plan& plan) {
    Pair::Options options;
    options.seed = plan.seed;
    options.link = {.delay = 5us, .rate_bps = 25'000'000'000, .impair = plan.impair};
    options.a_endpoint.memory = std::size_t{1} << 20U;
    options.connection.timeout = 6;  // 262 us
    options.connection.min_rnr_timer = 8;
    return options;
  }

  void post_to_target(std::size_t slot) { pair_.b.post_receive(0x40000 + kSlot * (slot % 64), kSlot, 5000 + slot); }

  void ask() {
    while (truth_.size() < plan_.commands && under_way_.size() < plan_.depth) {
      const auto id = static_cast<std::uint16_t>(truth_.size());
      Truth truth;
      truth.opcode = std::array{kRead, kWrite, kFlush, kWrite}[id % 4];
      truth.bytes = truth.opcode == kFlush ? 0 : id % 4 == 3 ? 3000 : 4096 * (1 + id % 3U);
      truth.start = pair_.network.now();
      const bool is_in_capsule = id % 4 == 3;
      const std::uint64_t place = kSlot * (id % plan_.depth);
      const std::span<std::byte> capsule = pair_.a.memory(place, 64);
      std::fill(capsule.begin(), capsule.end(), std::byte{});
      put(capsule, truth.opcode, 1);
      put(capsule.subspan(1), 0x40, 1);
      put(capsule.subspan(2), id, 2);
      put(capsule.subspan(4), 1, 4);
      if (is_in_capsule) {
        put(capsule.subspan(32), truth.bytes, 4);
        put(capsule.subspan(39), 0x01, 1);
      } else {
        put(capsule.subspan(24), pair_.a.address(kData + 0x4000 * (id % plan_.depth)), 8);
        put(capsule.subspan(32), truth.bytes, 3);
        put(capsule.subspan(35), pair_.a.info().r_key.value(), 4);
        put(capsule.subspan(39), 0x40, 1);
      }
      pair_.a.post({.length = 64 + (is_in_capsule ? truth.bytes : 0), .local = place});
      under_way_.insert(id);
      truth_.push_back(truth);
    }
  }

  void serve() {
    for (; seen_ < pair_.b.received().size(); ++seen_) {
      const transport::Completion& completion = pair_.b.received()[seen_];
      const std::size_t slot = completion.wr_id - 5000;
      const auto capsule = pair_.b.memory(0x40000 + kSlot * (slot % 64), 64);
      std::vector<std::byte> copy{capsule.begin(), capsule.end()};
      pair_.network.after(plan_.service, [this, copy] { execute(copy); });
      const auto again = [this] { post_to_target(next_slot_++); };
      if (plan_.late == Duration::zero()) {
        again();
      } else {
        pair_.network.after(plan_.late, again);
      }
    }
    for (; sent_ < pair_.b.sent().size(); ++sent_) {
      const std::uint64_t id = pair_.b.sent()[sent_].wr_id;
      if (id >= 0x20000) answer(static_cast<std::uint16_t>(id - 0x20000));
    }
  }

  void execute(std::span<const std::byte> capsule) {
    const auto id = static_cast<std::uint16_t>(get(capsule.subspan(2), 2));
    const auto opcode = static_cast<std::uint8_t>(get(capsule, 1));
    const bool is_keyed = get(capsule.subspan(39), 1) == 0x40;
    const auto length = static_cast<std::uint32_t>(get(capsule.subspan(32), 3));
    const std::uint64_t remote = get(capsule.subspan(24), 8) - pair_.a.address(0);
    if (opcode == kRead) {
      pair_.b.post({.opcode = WorkOpcode::write, .length = length, .remote = remote, .id = 0x10000});
    } else if (opcode == kWrite && is_keyed) {
      pair_.b.post(
          {.opcode = WorkOpcode::read, .length = length, .local = 0x10000, .remote = remote, .id = 0x20000U + id});
      return;
    }
    answer(id);
  }

  void answer(std::uint16_t id) {
    const std::uint64_t place = kResponses + 16 * (id % 256U);
    const std::span<std::byte> response = pair_.b.memory(place, 16);
    std::fill(response.begin(), response.end(), std::byte{});
    put(response.subspan(12), id, 2);
    if (id % 50 == 7) put(response.subspan(14), 0x80U << 1U, 2);
    pair_.b.post({.length = 16, .local = place, .id = 0x10000});
  }

  void take_answers() {
    for (; taken_ < pair_.a.received().size(); ++taken_) {
      const std::uint64_t slot = pair_.a.received()[taken_].wr_id;
      const auto id = static_cast<std::uint16_t>(get(pair_.a.memory(kResponses + 64 * (slot - 1000) + 12, 2), 2));
      truth_.at(id).finish = pair_.network.now();
      under_way_.erase(id);
      ++answered_;
      pair_.a.post_receive(kResponses + 64 * (slot - 1000), 64, slot);
    }
  }

  Plan plan_;
  Pair pair_;
  std::vector<Truth> truth_;
  std::set<std::uint16_t> under_way_;
  std::size_t seen_ = 0;
  std::size_t sent_ = 0;
  std::size_t taken_ = 0;
  std::size_t next_slot_ = 0;
  std::uint16_t answered_ = 0;
};

/// The commands of a run as the survey sees them in a capture at the port of one of them, and as the two ends know
/// them.
class NvmeRun {
 public:
  explicit NvmeRun(const Plan& plan, bool is_at_host = true) {
    // The same seed, and so the same frames: once before they may be lost, once after.
    Traffic sent{plan, Tap::sent};
    Traffic received{plan, Tap::received};
    sent.run();
    received.run();
    truth = sent.truth();
    std::vector<sim::TraceFrame> frames;
    const sim::NodeId here = is_at_host ? sent.host() : sent.target_node();
    // A host answers at the time at which it is asked.
    for (const sim::TraceFrame& frame : received.trace()) {
      if (frame.to == here) frames.push_back(frame);
    }
    for (const sim::TraceFrame& frame : sent.trace()) {
      if (frame.from == here) frames.push_back(frame);
    }
    std::ranges::stable_sort(frames, {}, &sim::TraceFrame::time);
    survey(frames, sent.target());
  }

  std::vector<Truth> truth;
  std::map<std::uint16_t, NvmeExchange> exchanges;
  NvmeQueue queue;

 private:
  void survey(const std::vector<sim::TraceFrame>& frames, const Gid& target) {
    Tracker tracker;
    NvmeSurvey survey{{.targets = {target}}};
    PacketId id;
    for (const sim::TraceFrame& frame : frames) {
      ++id.frame;
      const Packet packet = parse_frame(frame.bytes, LinkType::ethernet);
      const Observation seen = observe_packet(packet, check_icrc(packet), frame.time, id);
      survey.observe(packet, seen, tracker.observe(seen));
      std::vector<Verdict> verdicts;
      tracker.drain(verdicts);
      for (const Verdict& verdict : verdicts) survey.observe(verdict);
    }
    survey.finish();
    std::vector<NvmeExchange> all;
    survey.drain(all);
    for (const NvmeExchange& each : all) exchanges[each.command.command_id] = each;
    EXPECT_EQ(all.size(), exchanges.size());
    queue = survey.queues().front();
  }
};

void expect_truth(const NvmeRun& run, bool has_waits = false) {
  ASSERT_EQ(run.exchanges.size(), run.truth.size());
  for (const auto& [id, exchange] : run.exchanges) {
    const Truth& truth = run.truth[id];
    SCOPED_TRACE(testing::Message() << "command " << id << ", opcode " << int{truth.opcode});
    EXPECT_EQ(exchange.command.opcode, truth.opcode);
    // Without the set-up, packets of the first ones may come before both directions are known to be one connection.
    if (id < 4 && has_waits) continue;
    EXPECT_EQ(exchange.end, NvmeEnd::answered);
    EXPECT_EQ(exchange.data_bytes, truth.bytes);
    EXPECT_EQ(exchange.status.code, id % 50 == 7 ? 0x80 : 0);
    // The ends look at what has come only after each step.
    EXPECT_GE(truth.finish, exchange.finish);
    EXPECT_LE(truth.finish - exchange.finish, kStep);
    // While its QP sends something again, a host cannot send a command.
    EXPECT_GE(exchange.start, truth.start);
    EXPECT_TRUE(has_waits || exchange.start - truth.start < 5us);
    EXPECT_EQ(exchange.until_data() + exchange.data() + exchange.until_response(), exchange.latency());
    EXPECT_LE(exchange.lost + exchange.not_ready, exchange.latency());
  }
}

TEST(NvmeSim, TellsWhatTheEndsKnow) {
  const NvmeRun run{{}};
  expect_truth(run);
  EXPECT_EQ(run.queue.most_outstanding, 4U);
  EXPECT_GT(run.queue.mean_outstanding, 3.0);
  for (const auto& [id, exchange] : run.exchanges) {
    EXPECT_EQ(exchange.retransmissions, 0U);
    EXPECT_EQ(exchange.delay, NvmeDelay::target);
  }
}

TEST(NvmeSim, AtDepthOne) {
  const NvmeRun run{{.depth = 1}};
  expect_truth(run);
  EXPECT_EQ(run.queue.most_outstanding, 1U);
}

TEST(NvmeSim, TellsWhatTheEndsKnowWhenPacketsAreLost) {
  std::size_t all_lost = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    SCOPED_TRACE(testing::Message() << "seed " << seed);
    const NvmeRun run{{.seed = seed, .impair = "drop:probability=0.02"}};
    expect_truth(run, true);
    std::size_t lost = 0;
    for (const auto& [id, exchange] : run.exchanges) {
      if (exchange.delay == NvmeDelay::loss) ++lost;
      // Without a loss, four commands take no longer than this.
      const bool is_slow = exchange.latency() > 150us;
      EXPECT_TRUE(!is_slow || exchange.lost > Duration::zero()) << id << " " << exchange.latency().count();
    }
    all_lost += lost;
  }
  EXPECT_GT(all_lost, 60U);
}

TEST(NvmeSim, AtTheTargetNearlyAllAnswersAreThoseThatArrived) {
  // There a lost answer and a lost ACK may look alike.
  std::size_t right = 0;
  std::size_t all = 0;
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const NvmeRun run{{.seed = seed, .impair = "drop:probability=0.02"}, false};
    for (const auto& [id, exchange] : run.exchanges) {
      // Up to three packets are in front of an answer in the queue of the link, and 12 KiB of a READ's data.
      const Duration way = run.truth[id].finish - exchange.finish;
      right += way >= 5us && way <= 17us ? 1 : 0;
      ++all;
    }
  }
  EXPECT_EQ(all, 1600U);
  EXPECT_GE(right, 1560U);
}

TEST(NvmeSim, NamesReceiversThatAreNotReady) {
  const NvmeRun run{{.depth = 4, .receives = 2, .late = 60us}};
  expect_truth(run, true);
  std::size_t not_ready = 0;
  for (const auto& [id, exchange] : run.exchanges) not_ready += exchange.delay == NvmeDelay::receiver ? 1 : 0;
  EXPECT_GT(not_ready, 5U);
}

}  // namespace
}  // namespace roce::analysis
