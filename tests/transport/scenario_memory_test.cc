// SPDX-License-Identifier: BSD-2-Clause
// Keys that become invalid while packets that use them are under way, and memory windows.
#include <gmock/gmock.h>

#include "sim/endpoint.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using transport::Access;
using transport::CompletionStatus;
using transport::MwType;
using transport::WorkOpcode;

class MemoryScenario : public ScenarioTest {
 protected:
  /// Returns options for a slow link, so that a message is under way for a while.
  static Pair::Options slow() {
    Pair::Options options = Pair::with(profile());
    options.link.rate_bps = 1'000'000'000;
    options.a_endpoint.invalidatable = true;
    return options;
  }
  static constexpr std::uint32_t kSize = 100 * 1024;
  static constexpr Duration kMidway = 400us;  // the whole takes about 900 us

  static std::size_t written(const Pair& pair) {
    return static_cast<std::size_t>(std::ranges::mismatch(pair.b.memory(0, kSize), pair.a.memory(0, kSize)).in1 -
                                    pair.b.memory().begin());
  }
};

TEST_P(MemoryScenario, AWriteStopsWhereTheRegionWasDeregistered) {
  Pair pair{slow()};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = kSize});
  pair.network.after(kMidway, [&] { must(pair.b.device().deregister_memory(pair.b.mr())); });
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_access_error)));
  EXPECT_GT(written(pair), 10U * 1024);
  EXPECT_LT(written(pair), kSize - 10U * 1024);
}

TEST_P(MemoryScenario, AWriteStopsWhereTheKeyWasInvalidated) {
  Pair pair{slow()};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = kSize});
  pair.network.after(kMidway,
                     [&] { pair.b.post({.opcode = WorkOpcode::local_invalidate, .invalidate = pair.b.info().r_key}); });
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_access_error)));
  EXPECT_LT(written(pair), kSize - 10U * 1024);
}

TEST_P(MemoryScenario, AReadEndsWhenItsSourceWasDeregistered) {
  Pair pair{slow()};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::read, .length = kSize});
  pair.network.after(kMidway, [&] { must(pair.b.device().deregister_memory(pair.b.mr())); });
  ASSERT_TRUE(pair.network.run_until_idle());
  ASSERT_EQ(pair.a.sent().size(), 1U);
  EXPECT_EQ(pair.a.sent().front().wr_id, id);
  // A responder that had handed all responses to its port by then may still finish.
  EXPECT_THAT(pair.a.sent().front().status,
              testing::AnyOf(CompletionStatus::success, CompletionStatus::remote_access_error));
}

TEST_P(MemoryScenario, AReadWhoseSinkWasDeregisteredFails) {
  Pair pair{slow()};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::read, .length = kSize});
  pair.network.after(kMidway, [&] { must(pair.a.device().deregister_memory(pair.a.mr())); });
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::local_protection_error)));
}

TEST_P(MemoryScenario, SendWithInvalidateTakesTheKeyAway) {
  Pair pair{slow()};
  pair.b.post_receive(0, 16);
  const std::uint64_t first =
      pair.a.post({.opcode = WorkOpcode::send_with_invalidate, .length = 4, .invalidate = pair.b.info().r_key});
  ASSERT_TRUE(pair.network.run_until_idle());
  const std::uint64_t second = pair.a.post({.opcode = WorkOpcode::write, .length = 4});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(first), Ended(second, CompletionStatus::remote_access_error)));
}

TEST_P(MemoryScenario, ARenewedKeyHasAnotherVariant) {
  Pair pair{slow()};
  const auto renewed = must(pair.b.device().renew_key(pair.b.mr(), 0x77));
  EXPECT_EQ(renewed.r_key.value() & 0xFFU, 0x77U);
  const std::uint64_t first = pair.a.post({.opcode = WorkOpcode::write, .length = 4, .r_key = renewed.r_key});
  const std::uint64_t second = pair.a.post({.opcode = WorkOpcode::write, .length = 4});  // with the old key
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Succeeded(first), Ended(second, CompletionStatus::remote_access_error)));
}

/// Binds a window of type 2 over B's bytes 1024 … 2047 and returns its key.
RKey bind_window(Pair& pair, std::uint8_t variant = 5) {
  const auto mw = must(pair.b.device().create_mw(pair.b.pd(), MwType::type2));
  pair.b.post({.opcode = WorkOpcode::bind_mw,
               .id = 500,
               .bind = {.mw = mw,
                        .mr = pair.b.mr(),
                        .address = pair.b.address(1024),
                        .length = 1024,
                        .access = Access::remote_write,
                        .variant = variant}});
  EXPECT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.b.sent(), Contains(Succeeded(500)));
  return must(pair.b.device().query_mw(mw));
}

TEST_P(MemoryScenario, AWindowOpensItsPartOfTheRegionOnly) {
  for (const auto& [offset, length, status] : {std::tuple{1024U, 1024U, CompletionStatus::success},
                                               std::tuple{1023U, 4U, CompletionStatus::remote_access_error},
                                               std::tuple{2045U, 4U, CompletionStatus::remote_access_error}}) {
    Pair pair{slow()};
    const RKey key = bind_window(pair);
    EXPECT_EQ(key.value() & 0xFFU, 5U);
    const std::uint64_t id =
        pair.a.post({.opcode = WorkOpcode::write, .length = length, .remote = offset, .r_key = key});
    ASSERT_TRUE(pair.network.run_until_idle());
    EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, status))) << offset;
  }
  Pair pair{slow()};
  const RKey key = bind_window(pair);
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::read, .length = 4, .remote = 1024, .r_key = key});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_access_error)));
}

TEST_P(MemoryScenario, AWindowThatWasUnboundOrInvalidatedIsShut) {
  Pair pair{slow()};
  const RKey key = bind_window(pair);
  pair.b.post({.opcode = WorkOpcode::local_invalidate, .invalidate = key});
  ASSERT_TRUE(pair.network.run_until_idle());
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::write, .length = 4, .remote = 1024, .r_key = key});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(pair.a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_access_error)));
}

TEST_P(MemoryScenario, AWindowOfType2BelongsToItsQp) {
  Pair pair{slow()};
  const RKey key = bind_window(pair);
  Endpoint other_a{pair.a_host};
  Endpoint other_b{pair.b_host};
  connect(other_a, other_b);
  const std::uint64_t id = other_a.post({.opcode = WorkOpcode::write, .length = 4, .r_key = key});
  ASSERT_TRUE(pair.network.run_until_idle());
  EXPECT_THAT(other_a.sent(), ElementsAre(Ended(id, CompletionStatus::remote_access_error)));
}

TEST_P(MemoryScenario, ADuplicateReadOfMemoryThatIsGoneIsNotAnswered) {
  Pair::Options options = Pair::with(profile());
  options.connection.timeout = 8;
  options.connection.retry_count = 1;
  options.link.impair = "drop:dir=b_to_a,op=read_response";
  Pair pair{options};
  const std::uint64_t id = pair.a.post({.opcode = WorkOpcode::read, .length = 8});
  pair.network.after(100us, [&] { must(pair.b.device().deregister_memory(pair.b.mr())); });
  ASSERT_TRUE(pair.network.run_until_idle());
  ASSERT_EQ(pair.a.sent().size(), 1U);
  EXPECT_EQ(pair.a.sent().front().wr_id, id);
  EXPECT_THAT(pair.a.sent().front().status,
              testing::AnyOf(CompletionStatus::retry_exceeded, CompletionStatus::remote_access_error));
}

ROCE_UNDER_EACH_PROFILE(MemoryScenario);

}  // namespace
}  // namespace roce::sim
