// SPDX-License-Identifier: BSD-2-Clause
// Requests that reuse the PSN of another, executed request: they are not answered.
#include <gmock/gmock.h>

#include "forger.h"
#include "sim/matchers.h"
#include "sim/profiles.h"

namespace roce::sim {
namespace {

using enum Opcode;
using testing::ElementsAre;
using testing::IsEmpty;
using transport::QpState;

constexpr std::uint32_t kPsn = 0x100;
constexpr std::uint32_t kMtu = 1024;

class DuplicateScenario : public ScenarioTest {
 protected:
  using Fields = std::vector<std::pair<std::string_view, std::string>>;

  DuplicateScenario() { pair_.network.keep_trace(Tap::sent); }

  /// Returns B's answers to a request.
  std::vector<TraceFrame> answers_to(Opcode opcode, std::uint32_t psn, Forger::Edits edits) {
    pair_.network.clear_trace();
    forger_.send(opcode, psn, edits);
    EXPECT_TRUE(pair_.network.run_until_idle());
    EXPECT_EQ(pair_.b.state(), QpState::rts);
    std::vector<TraceFrame> frames;
    for (const TraceFrame& frame : pair_.network.trace()) {
      if (frame.from == pair_.b_host.node()) frames.push_back(frame);
    }
    return frames;
  }
  std::vector<TraceFrame> flush(std::uint32_t psn) {
    return answers_to(rc_flush, psn,
                      {{"feth.visibility", "true"},
                       {"reth.va", forger_.address(0)},
                       {"reth.r_key", forger_.key()},
                       {"reth.dma_length", "64"}});
  }
  std::vector<TraceFrame> write(std::uint32_t psn) {
    return answers_to(rc_write_only, psn,
                      {{"reth.va", forger_.address(0)},
                       {"reth.r_key", forger_.key()},
                       {"reth.dma_length", "4"},
                       {"payload_length", "4"}});
  }
  std::vector<TraceFrame> read(std::uint32_t psn, std::uint64_t offset, std::uint32_t length) {
    return answers_to(rc_read_request, psn,
                      {{"reth.va", forger_.address(offset)},
                       {"reth.r_key", forger_.key()},
                       {"reth.dma_length", std::to_string(length)}});
  }
  std::vector<TraceFrame> atomic(Opcode opcode, std::uint32_t psn, std::uint64_t offset) {
    return answers_to(opcode, psn,
                      {{"atomiceth.va", forger_.address(offset)},
                       {"atomiceth.r_key", forger_.key()},
                       {"atomiceth.swap_or_add", "5"}});
  }
  std::vector<TraceFrame> atomic_write(std::uint32_t psn, std::uint64_t offset) {
    return answers_to(rc_atomic_write, psn,
                      {{"reth.va", forger_.address(offset)}, {"reth.r_key", forger_.key()}, {"reth.dma_length", "8"}});
  }

  Pair pair_{Pair::with(profile())};
  Forger forger_{pair_.a, pair_.b};
};

TEST_P(DuplicateScenario, OfAFlushIsAnsweredOnlyWhereOneWas) {
  write(kPsn);
  EXPECT_THAT(flush(kPsn), IsEmpty()) << "it was a WRITE";
  EXPECT_THAT(flush(kPsn - 5), IsEmpty()) << "it was nothing";
  ASSERT_THAT(flush(kPsn + 1), ElementsAre(IsBth(rc_read_response_only, kPsn + 1)));
  EXPECT_THAT(flush(kPsn + 1), ElementsAre(IsBth(rc_read_response_only, kPsn + 1)));
  EXPECT_THAT(flush(kPsn), IsEmpty());
}

TEST_P(DuplicateScenario, OfManyFlushesIsAnsweredForEach) {
  constexpr std::uint32_t many = 300;
  for (std::uint32_t i = 0; i < many; ++i)
    ASSERT_THAT(flush(kPsn + i), ElementsAre(IsBth(rc_read_response_only, kPsn + i)));
  for (const std::uint32_t i : {0U, 100U, many - 1}) {
    EXPECT_THAT(flush(kPsn + i), ElementsAre(IsBth(rc_read_response_only, kPsn + i)));
  }
  write(kPsn + many);
  EXPECT_THAT(flush(kPsn + many), IsEmpty());
}

TEST_P(DuplicateScenario, OfAReadIsAnsweredOnlyForTheSameToItsEnd) {
  constexpr std::uint32_t length = 3 * kMtu;
  ASSERT_EQ(read(kPsn, 0, length).size(), 3U);
  EXPECT_EQ(read(kPsn, 0, length).size(), 3U);
  EXPECT_EQ(read(kPsn + 1, kMtu, length - kMtu).size(), 2U);
  EXPECT_THAT(read(kPsn, 0, length - kMtu), IsEmpty()) << "less";
  EXPECT_THAT(read(kPsn, 0, 0), IsEmpty()) << "nothing";
  EXPECT_THAT(read(kPsn, 0, length + 1), IsEmpty()) << "more";
  EXPECT_THAT(read(kPsn + 1, 0, length - kMtu), IsEmpty()) << "from another place";
  EXPECT_THAT(read(kPsn + 1, kMtu, length), IsEmpty()) << "beyond its end";
  EXPECT_THAT(read(kPsn - 1, 0, length), IsEmpty()) << "before it";
  EXPECT_THAT(flush(kPsn + 1), IsEmpty()) << "inside of it";
}

TEST_P(DuplicateScenario, OfAnAtomicIsAnsweredOnlyForTheSame) {
  ASSERT_THAT(atomic(rc_fetch_add, kPsn, 0), ElementsAre(IsBth(rc_atomic_acknowledge, kPsn)));
  EXPECT_THAT(atomic(rc_fetch_add, kPsn, 0), ElementsAre(IsBth(rc_atomic_acknowledge, kPsn)));
  EXPECT_EQ(pair_.b.counters().atomic_requests, 1U);
  EXPECT_THAT(atomic(rc_compare_swap, kPsn, 0), IsEmpty()) << "another operation";
  EXPECT_THAT(atomic(rc_fetch_add, kPsn, 8), IsEmpty()) << "another place";
  EXPECT_THAT(atomic_write(kPsn, 0), IsEmpty()) << "an ATOMIC WRITE";
  ASSERT_THAT(atomic_write(kPsn + 1, 0), ElementsAre(IsBth(rc_read_response_only, kPsn + 1)));
  EXPECT_THAT(atomic_write(kPsn + 1, 0), ElementsAre(IsBth(rc_read_response_only, kPsn + 1)));
  EXPECT_THAT(atomic_write(kPsn + 1, 8), IsEmpty()) << "another place";
}

ROCE_UNDER_EACH_PROFILE(DuplicateScenario);

}  // namespace
}  // namespace roce::sim
